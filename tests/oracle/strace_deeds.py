# SPDX-License-Identifier: MIT
"""Deeds from the output of strace -ff -ttt -y -s 0, one file a thread.

The calls of all threads are taken in the order of their time, so that the
current folder of each process and what existed before a call are known. One
row of CALLS says what a call means; calls that are not in it do nothing that
is compared.
"""
import glob
import os
import re

from deeds import Deeds, follow

OPTIONS = ['-ff', '-ttt', '-y', '-s', '0', '--seccomp-bpf', '-qq', '-e', 'signal=none',
           '-e', 'trace=%file,%desc,%process,%network']

LINE = re.compile(rb'^(\d+\.\d+) (\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)(.*)$', re.S)
FD = re.compile(r'^(?:-?\d+|AT_FDCWD)<(.*)>(\(deleted\))?$', re.S)
ESCAPE = re.compile(rb'\\([0-7]{1,3}|x[0-9a-f]{2}|.)', re.S)
LETTERS = {b'n': b'\n', b't': b'\t', b'r': b'\r', b'v': b'\v', b'f': b'\f', b'e': b'\x1b'}


def unescape(text):
    """C escapes as strace writes them; bytes to str by surrogateescape."""
    def one(m):
        c = m.group(1)
        if c[:1].isdigit():
            return bytes([int(c, 8)])
        if c[:1] == b'x':
            return bytes([int(c[1:], 16)])
        return LETTERS.get(c, c)
    return os.fsdecode(ESCAPE.sub(one, text))


def split_arguments(text):
    """At commas outside of quotes, brackets and the <path> behind a descriptor."""
    out, depth, at, start = [], 0, 0, 0
    while at < len(text):
        c = text[at:at + 1]
        if c == b'"':
            at = text.index(b'"', at + 1)
            while text[:at].endswith(b'\\') and odd_backslashes(text, at):
                at = text.index(b'"', at + 1)
        elif c == b'<' and at and (text[at - 1:at].isdigit() or text[at - 1:at] == b'D'):
            at = text.index(b'>', at)
        elif c in (b'{', b'[', b'('):
            depth += 1
        elif c in (b'}', b']', b')'):
            depth -= 1
        elif c == b',' and not depth:
            out.append(text[start:at].strip())
            start = at + 1
        at += 1
    out.append(text[start:].strip())
    return out


def odd_backslashes(text, at):
    n = 0
    while text[at - 1 - n:at - n] == b'\\':
        n += 1
    return n % 2 == 1


class Call:
    def __init__(self, pid, match, line):
        self.pid, self.line = pid, line
        self.time = float(match.group(1))
        self.name = match.group(2).decode()
        self.args = split_arguments(match.group(3))
        self.ret = int(match.group(4), 0)
        self.tail = match.group(5)

    def text(self, i):
        """A quoted argument, unescaped."""
        arg = self.args[i]
        return unescape(arg[1:arg.rindex(b'"')]) if arg.startswith(b'"') else ''

    def flags(self, i):
        return set(self.args[i].decode(errors='replace').split('|'))

    def fd_path(self, i):
        return fd_path(self.args[i])


def fd_path(arg):
    m = FD.match(os.fsdecode(arg))
    return unescape(os.fsencode(m.group(1))) if m else ''


def calls_of(prefix):
    """All finished calls of all threads, in the order of their time."""
    out = []
    for name in glob.glob(glob.escape(prefix) + '.*'):
        pid = int(name.rsplit('.', 1)[1])
        with open(name, 'rb') as f:
            for line in f.read().split(b'\n'):
                m = LINE.match(line)
                if m:
                    out.append(Call(pid, m, line))
    return sorted(out, key=lambda c: c.time)


class World:
    """Who is where, and which names exist."""

    def __init__(self, top, start, existing):
        self.deeds = Deeds(top)
        self.start = start
        self.cwd = {}
        self.names = {self.deeds.resolve(n) for n in existing}

    def where(self, pid):
        return self.cwd.setdefault(pid, [self.start])

    def path(self, call, i, dirfd=None):
        """Argument i as an absolute path, from a folder's descriptor or the current folder."""
        name = call.text(i)
        if dirfd is None or call.args[dirfd].startswith(b'AT_FDCWD'):
            base = self.where(call.pid)[0]
        else:
            base = call.fd_path(dirfd)
        return os.path.join(base, name)

    def exists(self, path):
        path = self.deeds.resolve(path)
        if path.startswith(self.deeds.top + '/'):
            return path in self.names
        return os.path.lexists(path)

    def appear(self, path):
        self.names.add(self.deeds.resolve(path))

    def vanish(self, path):
        self.names.discard(self.deeds.resolve(path))

    def move(self, old, new):
        old, new = self.deeds.resolve(old), self.deeds.resolve(new)
        moved = {n for n in self.names if n == old or n.startswith(old + '/')}
        self.names -= moved
        self.names |= {new + n[len(old):] for n in moved}


# What calls mean: each takes the world and a call that succeeded.

def opened(flags_at):
    def act(w, c):
        flags = c.flags(flags_at) if flags_at is not None else {'O_CREAT', 'O_TRUNC', 'O_WRONLY'}
        path = fd_path(str(c.ret).encode() + c.tail)
        if not path or any(f.startswith('O_TMPFILE') for f in flags):
            return
        if 'O_CREAT' in flags and not w.exists(path):
            w.appear(path)
            w.deeds.add(c.line, 'create', path)
        elif 'O_TRUNC' in flags and not 'O_RDONLY' in flags:
            w.deeds.add(c.line, 'write', path)
    return act


def reads(fd):
    return lambda w, c: c.fd_path(fd) and w.deeds.add(c.line, 'read', c.fd_path(fd))


def writes(fd):
    """A write of nothing is one too, as a resize is."""
    return lambda w, c: c.fd_path(fd) and w.deeds.add(c.line, 'write', c.fd_path(fd))


def copies(source, target):
    def act(w, c):
        reads(source)(w, c)
        writes(target)(w, c)
    return act


def maps(w, c):
    prot, flags, path = c.flags(2), c.flags(3), c.fd_path(4)
    if not path or 'PROT_NONE' in prot:
        return
    w.deeds.add(c.line, 'read', path)
    if 'PROT_WRITE' in prot and 'MAP_SHARED' in flags:
        w.deeds.add(c.line, 'write', path)


def truncates(w, c):
    w.deeds.add(c.line, 'write', follow(w.path(c, 0)))


def appears(kind, name, dirfd=None):
    def act(w, c):
        path = w.path(c, name, dirfd)
        w.appear(path)
        w.deeds.add(c.line, kind, path)
    return act


def vanishes(kind, name, dirfd=None):
    def act(w, c):
        path = w.path(c, name, dirfd)
        w.vanish(path)
        w.deeds.add(c.line, kind, path)
    return act


def unlinks_at(w, c):
    vanishes('rmdir' if 'AT_REMOVEDIR' in c.flags(2) else 'remove', 1, 0)(w, c)


def renames(old, new, old_fd=None, new_fd=None):
    def act(w, c):
        source, target = w.path(c, old, old_fd), w.path(c, new, new_fd)
        w.deeds.add(c.line, 'rename', source, target)
        w.move(source, target)
    return act


def links(old, new, old_fd=None, new_fd=None):
    def act(w, c):
        target = w.path(c, new, new_fd)
        w.appear(target)
        w.deeds.add(c.line, 'link', w.path(c, old, old_fd), target)
    return act


def changes_mode(name, dirfd=None):
    return lambda w, c: w.deeds.add(c.line, 'chmod', follow(w.path(c, name, dirfd)))


def changes_mode_of_fd(w, c):
    if c.fd_path(0):
        w.deeds.add(c.line, 'chmod', c.fd_path(0))


def executes(name, dirfd=None):
    return lambda w, c: w.deeds.add(c.line, 'exec', follow(w.path(c, name, dirfd)))


def goes_to(w, c):
    w.where(c.pid)[0] = follow(w.path(c, 0))


def goes_to_fd(w, c):
    w.where(c.pid)[0] = c.fd_path(0)


def forks(w, c):
    if c.ret > 0:
        shared = any(b'CLONE_FS' in a for a in c.args)
        w.cwd[c.ret] = w.where(c.pid) if shared else list(w.where(c.pid))


PEERS = (
    (re.compile(r'htons\((\d+)\), sin_addr=inet_addr\("([^"]+)"\)'), r'\2 \1'),
    (re.compile(r'htons\((\d+)\),.*inet_pton\(AF_INET6, "([^"]+)"'), r'\2 \1'),
    (re.compile(r'sun_path=(@?)"([^"]+)"'), r'\1\2'),
)


def connects(w, c):
    text = os.fsdecode(c.args[1])
    for pattern, form in PEERS:
        m = pattern.search(text)
        if m:
            w.deeds.add(c.line, 'connect', m.expand(form))


CALLS = {
    'open': opened(1), 'openat': opened(2), 'creat': opened(None),
    'read': reads(0), 'pread64': reads(0), 'readv': reads(0), 'preadv': reads(0),
    'preadv2': reads(0),
    'write': writes(0), 'pwrite64': writes(0), 'writev': writes(0), 'pwritev': writes(0),
    'pwritev2': writes(0),
    'sendfile': copies(1, 0), 'copy_file_range': copies(0, 2), 'splice': copies(0, 2),
    'mmap': maps,
    'truncate': truncates, 'ftruncate': writes(0), 'fallocate': writes(0),
    'mkdir': appears('mkdir', 0), 'mkdirat': appears('mkdir', 1, 0),
    'mknod': appears('create', 0), 'mknodat': appears('create', 1, 0),
    'symlink': appears('symlink', 1), 'symlinkat': appears('symlink', 2, 1),
    'unlink': vanishes('remove', 0), 'unlinkat': unlinks_at, 'rmdir': vanishes('rmdir', 0),
    'rename': renames(0, 1), 'renameat': renames(1, 3, 0, 2), 'renameat2': renames(1, 3, 0, 2),
    'link': links(0, 1), 'linkat': links(1, 3, 0, 2),
    'chmod': changes_mode(0), 'fchmodat': changes_mode(1, 0), 'fchmod': changes_mode_of_fd,
    'execve': executes(0), 'execveat': executes(1, 0),
    'chdir': goes_to, 'fchdir': goes_to_fd,
    'fork': forks, 'vfork': forks, 'clone': forks, 'clone3': forks,
    'connect': connects,
}


def succeeded(call):
    return call.ret >= 0 or (call.name == 'connect' and b'EINPROGRESS' in call.tail)


def deeds_of(prefix, top, start, existing):
    """All deeds of a run: `existing` are the names below `top` before it, `start` its folder."""
    world = World(top, follow(start), existing)
    for call in calls_of(prefix):
        if succeeded(call) and call.name in CALLS:
            CALLS[call.name](world, call)
    return world.deeds
