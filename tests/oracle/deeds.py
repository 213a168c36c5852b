# SPDX-License-Identifier: MIT
"""What two tracers are compared by: a set of deeds.

A deed is a tuple (kind, name) or (kind, name, second name). Names are absolute
paths as bytes decoded with surrogateescape, resolved and made comparable by
normal(): a process id, a temporary name or the folder of the test must not
tell two runs of one command apart.
"""
import os
import re

KINDS = ('read', 'write', 'create', 'remove', 'rename', 'mkdir', 'rmdir',
         'link', 'symlink', 'chmod', 'exec', 'connect')

# Names that programs draw by lot or by the clock: pattern, what stands for it.
DRAWN = [(re.compile(pattern), to) for pattern, to in (
    (r'/proc/(\d+|self|thread-self)(/task/\d+)?', '/proc/PID'),
    (r'^/sys/fs/cgroup/.*/', '/sys/fs/cgroup/GROUP/'),
    (r'/tmp_obj_\w{6}$', '/tmp_obj_X'),
    (r'/tmp_(pack|idx|rev|mtimes)_\w{6}$', r'/tmp_\1_X'),
    (r'/\.git/t\w{6}$', '/.git/tX'),
    (r'/cc\w{6}((\.\w+)*)$', r'/ccX\1'),
    (r'\.pyc\.\d+$', '.pyc.X'),
    (r'/_logs/[^/]+-debug-(\d)\.log$', r'/_logs/X-debug-\1.log'),
    (r'/_cacache/tmp/[0-9a-zA-Z-]+', '/_cacache/tmp/X'),
    (r'/\.([\w.-]+)-\w{8}(?=/|$)', r'/.\1-X'),
)]

# Not compared: streams and devices have no content of their own.
SKIP = re.compile(r'^/dev/|^/memfd:|^anon_inode:|^(pipe|socket):')


class Deeds:
    """A set of deeds, each with the line that shows it."""

    def __init__(self, top):
        self.top = os.path.realpath(top)
        self.seen = {}
        self.resolved = {}

    def add(self, evidence, kind, *names):
        if any(SKIP.search(n) for n in names):
            return
        if kind != 'connect':
            names = [self.normal(n) for n in names]
        self.seen.setdefault((kind, *names), evidence)

    def normal(self, name):
        name = self.resolve(name)
        if name == self.top or name.startswith(self.top + '/'):
            name = '@' + name[len(self.top):]
        for pattern, to in DRAWN:
            name = pattern.sub(to, name)
        return name

    def resolve(self, name):
        """The folder resolved, the last component as it is: unlink means the link."""
        folder, leaf = os.path.split(os.path.normpath(name))
        if folder not in self.resolved:
            self.resolved[folder] = follow(folder)
        return os.path.join(self.resolved[folder], leaf)


def follow(name):
    """All links resolved, but those of /proc: they would lead to files of this process."""
    return name if name.startswith('/proc/') else os.path.realpath(name)
