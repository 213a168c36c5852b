# SPDX-License-Identifier: MIT
"""Everyday work in an empty folder: prepare(top) makes the input, command is run in cwd.

What is prepared is the same bytes each time, so that two runs of one workload
do the same deeds.
"""
import json
import os
import shutil
import subprocess
import sys

STAMP = '2024-01-01T00:00:00Z'
CACHE = os.environ.get('DEEDLOG_CACHE') or os.path.expanduser('~/.cache/deedlog')
NPM = os.path.join(CACHE, 'npm', 'node_modules')
BAD_FILES = 12
FILES = 200


def environment(top):
    """Nothing of the caller's home or settings gets in."""
    node = shutil.which('node')
    path = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'] + ([os.path.dirname(node)] if node else [])
    return {
        'PATH': ':'.join(path), 'HOME': f'{top}/home', 'TMPDIR': f'{top}/tmp', 'LC_ALL': 'C.UTF-8',
        'TZ': 'UTC', 'SHELL': '/bin/sh', 'USER': 'root', 'LOGNAME': 'root',
        'GIT_AUTHOR_NAME': 'a', 'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_AUTHOR_DATE': STAMP,
        'GIT_COMMITTER_NAME': 'a', 'GIT_COMMITTER_EMAIL': 'a@b', 'GIT_COMMITTER_DATE': STAMP,
        'GIT_CONFIG_GLOBAL': '/dev/null', 'npm_config_update_notifier': 'false',
        'npm_config_audit': 'false', 'npm_config_fund': 'false', 'npm_config_offline': 'true',
    }


def put(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(content)


def do(top, *command, cwd=None):
    subprocess.run(command, cwd=cwd or top, env=environment(top), check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def commit_all(top, repo):
    do(top, 'git', 'init', '-q', '-b', 'main', cwd=repo)
    do(top, 'git', 'config', 'gc.auto', '0', cwd=repo)
    do(top, 'git', 'add', '-A', cwd=repo)
    do(top, 'git', 'commit', '-q', '-m', 'first', cwd=repo)


def git(top):
    for i in range(40):
        put(f'{top}/src/d{i % 4}/f{i}.txt', f'line {i}\n' * (i + 1))
    commit_all(top, f'{top}/src')


def make(top):
    objects = ' '.join(f'f{i}.o' for i in range(6))
    put(f'{top}/c/Makefile', f'app: main.o {objects}\n\t$(CC) -o $@ $^\n'
        '%.o: %.c all.h\n\t$(CC) -O1 -c -o $@ $<\n')
    put(f'{top}/c/all.h', ''.join(f'int f{i}(int);\n' for i in range(6)))
    for i in range(6):
        put(f'{top}/c/f{i}.c', '#include <string.h>\n#include "all.h"\n'
            f'int f{i}(int n) {{ return n * {i} + (int)strlen("x"); }}\n')
    put(f'{top}/c/main.c', '#include <stdio.h>\n#include "all.h"\n'
        'int main(void) { printf("%d\\n", f0(1) + f5(2)); return 0; }\n')


def npm(top):
    put(f'{top}/pkg/package.json', json.dumps({'name': 'leaf', 'version': '1.2.3', 'main': 'i.js',
                                               'bin': {'leaf': 'i.js'}}))
    put(f'{top}/pkg/i.js', '#!/usr/bin/env node\nmodule.exports = 1;\n')
    for i in range(10):
        put(f'{top}/pkg/lib/m{i}.js', f'module.exports = {i};\n')
    do(top, 'npm', 'pack', '-s', '--pack-destination', top, cwd=f'{top}/pkg')
    put(f'{top}/app/package.json', json.dumps({'name': 'app', 'version': '1.0.0'}))
    shutil.rmtree(f'{top}/home')
    os.mkdir(f'{top}/home')


def script(i):
    """A module as prettier would write it, and with `bad`, as it would not."""
    good = (f'export function add{i}(left, right) {{\n  const sum = left + right;\n'
            f'  return sum * {i};\n}}\n\n'
            f'export const table{i} = {{\n  first: [1, 2, {i}],\n  second: "{i}",\n}};\n')
    if i % (FILES // BAD_FILES) or i // (FILES // BAD_FILES) >= BAD_FILES:
        return good
    return good.replace('  const sum = left + right;', ' const sum=left+right').replace('"', "'")


def project(top, package):
    """FILES modules of which BAD_FILES want a change, the tool installed beside them."""
    for i in range(FILES):
        put(f'{top}/js/src/m{i:03}.js', script(i))
    put(f'{top}/js/package.json', '{\n  "name": "p",\n  "version": "1.0.0",\n'
        '  "type": "module"\n}\n')
    put(f'{top}/js/eslint.config.js', 'export default [{ rules: { semi: "error", '
        'quotes: ["error", "double"] } }];\n')
    put(f'{top}/js/.gitignore', 'node_modules/\n')
    if package == 'prettier':
        shutil.copytree(f'{NPM}/prettier', f'{top}/js/node_modules/prettier', symlinks=True)
        os.mkdir(f'{top}/js/node_modules/.bin')
        os.symlink('../prettier/bin/prettier.cjs', f'{top}/js/node_modules/.bin/prettier')
    else:
        shutil.copytree(NPM, f'{top}/js/node_modules', symlinks=True,
                        ignore=shutil.ignore_patterns('@duckdb', 'typescript', 'prettier'))
    commit_all(top, f'{top}/js')


def python(top):
    for i in range(60):
        put(f'{top}/py/p{i % 5}/m{i}.py', f'def f{i}(a):\n    return [a, {i}]\n')


def tar(top):
    for i in range(80):
        put(f'{top}/d/s{i % 8}/f{i}.txt', f'{i}\n' * 50)
    os.symlink('s0/f0.txt', f'{top}/d/link')
    os.link(f'{top}/d/s1/f1.txt', f'{top}/d/s2/hard')
    os.mkdir(f'{top}/x')


class Workload:
    def __init__(self, prepare, cwd, *command, needs=()):
        self.prepare, self.cwd, self.command, self.needs = prepare, cwd, command, needs

    def absent(self):
        """What keeps it from running here, or nothing."""
        return [n for n in self.needs if not (shutil.which(n) or os.path.exists(n))]


WORKLOADS = {
    'git': Workload(git, '.', 'sh', '-c',
                    # files younger than the index would be read again, or not, by the clock
                    'git clone -q src r && cd r && touch -d 2024-01-01 d?/*.txt && '
                    'git update-index -q --refresh && echo more >> d0/f0.txt && '
                    'echo new > new.txt && git status -s && git add -A && '
                    'git commit -q -m second', needs=['git']),
    'make': Workload(make, 'c', 'make', '-s', '-j2', needs=['make', 'gcc']),
    'npm': Workload(npm, 'app', 'npm', 'install', '--ignore-scripts', '../leaf-1.2.3.tgz',
                    needs=['npm']),
    'prettier': Workload(lambda top: project(top, 'prettier'), 'js', 'npx', 'prettier', '--write',
                         '.', needs=['npx', NPM]),
    'eslint': Workload(lambda top: project(top, 'eslint'), 'js', 'npx', 'eslint', '--fix', 'src',
                       needs=['npx', NPM]),
    'python': Workload(python, '.', '/usr/bin/python3', '-m', 'compileall', '-q', 'py',
                       needs=['/usr/bin/python3']),
    'tar': Workload(tar, '.', 'sh', '-c', 'tar cf a.tar d && tar xf a.tar -C x', needs=['tar']),
}


def lay_out(name, top):
    """An empty `top` with the input of a workload; returns the folder to run it in."""
    shutil.rmtree(top, ignore_errors=True)
    for folder in ('home', 'tmp'):
        os.makedirs(f'{top}/{folder}')
    WORKLOADS[name].prepare(top)
    return os.path.normpath(f'{top}/{WORKLOADS[name].cwd}')


if __name__ == '__main__':
    print(lay_out(sys.argv[1], sys.argv[2]))
