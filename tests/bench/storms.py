# SPDX-License-Identifier: MIT
"""Everyday work in storms: what tells tracers apart, and what shows that nobody notices.

Data(top) makes the same bytes everywhere, once; lay_out() before and the
command inside of the clock. All of it belongs into a tmpfs.
"""
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../oracle'))
import workloads as oracle  # the tools, their environment, the JavaScript project

WORDS = 'alpha beta gamma delta value index count total user item node path name list'.split()
HEADERS = 'stdio stdlib string unistd fcntl errno sys/types sys/stat sys/socket signal time'.split()


class Data:
    """Input below `top`: many small files, a tar of them, a git repository, C sources."""

    def __init__(self, top):
        self.top, self.random = top, random.Random(42)
        os.makedirs(f'{top}/home')
        os.makedirs(f'{top}/tmp')
        self.many()
        self.c()
        self.repository()
        self.has_node = not oracle.WORKLOADS['prettier'].absent()

    def many(self):
        for i in range(4000):
            words = (self.random.choice(WORDS) for _ in range(self.random.randint(20, 400)))
            oracle.put(f'{self.top}/many/d{i // 100:02}/f{i:04}.txt', ' '.join(words) + '\n')
        oracle.do(self.top, 'tar', 'cf', 'many.tar', '-C', 'many', '.')

    def c(self):
        for i in range(60):
            lines = [f'#include <{h}.h>\n' for h in HEADERS] + [
                f'int fn_{i}_{j}(int a, int b) {{ int s = 0; for (int k = 0; k < a; k++) '
                f's += (k * {self.random.randint(3, 99)}) ^ b; return s; }}\n' for j in range(6)]
            oracle.put(f'{self.top}/c/f{i:02}.c', ''.join(lines))
        oracle.put(f'{self.top}/c/Makefile',
                   'lib.a: $(patsubst %.c,%.o,$(wildcard *.c))\n\t$(AR) rc $@ $^\n'
                   '%.o: %.c\n\t$(CC) -O1 -c -o $@ $<\n')

    def repository(self):
        repo = f'{self.top}/repo'
        shutil.copytree(f'{self.top}/many', f'{repo}/many')
        shutil.copytree(f'{self.top}/c', f'{repo}/c')
        oracle.commit_all(self.top, repo)
        for k in range(20):
            for i in self.random.sample(range(4000), 40):
                with open(f'{repo}/many/d{i // 100:02}/f{i:04}.txt', 'a') as f:
                    f.write(f'{k}\n')
            oracle.do(self.top, 'git', 'commit', '-qam', f'change {k}', cwd=repo)
        oracle.do(self.top, 'git', 'gc', '-q', cwd=repo)

    def lay_out(self, name):
        """An empty folder for one run; returns where the command starts."""
        work = f'{self.top}/work'
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        WORKLOADS[name][0](self, work)
        return work

    def environment(self):
        return dict(oracle.environment(self.top), DATA=self.top)


def nothing(_data, _work):
    pass


def copy_c(data, work):
    shutil.copytree(f'{data.top}/c', f'{work}/c')


def javascript(data, work):
    for folder in ('home', 'tmp'):
        os.mkdir(f'{work}/{folder}')
    oracle.project(work, 'prettier')


# name: what is laid out, the command
WORKLOADS = {
    'tar': (nothing, 'for i in 1 2 3; do mkdir t$i && tar xf "$DATA/many.tar" -C t$i; done'),
    'hash': (nothing, 'for i in 1 2 3; do find "$DATA/many" -type f -print0 | '
             'xargs -0 sha256sum; done'),
    'git': (nothing, 'git clone -q --no-local "$DATA/repo" r && cd r && echo x >> c/f00.c && '
            'git status -s && git diff && git log --stat -5'),
    'make': (copy_c, 'make -s -j2 -C c'),
    'prettier': (javascript, 'cd js && npx prettier --write .'),
}


def command(name):
    return ['sh', '-c', WORKLOADS[name][1]]


def names(data):
    return [n for n in WORKLOADS if n != 'prettier' or data.has_node]


def describe_machine():
    """One line: processor, cores, kernel, load."""
    with open('/proc/cpuinfo') as f:
        model = next((line.split(':', 1)[1].strip() for line in f if line.startswith('model name')),
                     'unknown processor')
    return (f'{os.cpu_count()} x {model}, Linux {os.uname().release}, '
            f'load {os.getloadavg()[0]:.1f}')


def version_of(*argv):
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    except OSError:
        return f'{argv[0]}: absent'
    return done.stdout.decode(errors='replace').split('\n')[0].strip()
