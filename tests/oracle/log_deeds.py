# SPDX-License-Identifier: MIT
"""Deeds from the lines of a run log, read as everybody would: gzip and JSON."""
import base64
import glob
import gzip
import json
import os
import stat

from deeds import Deeds, follow


def lines_of(ledger):
    """Every line of every segment below a ledger folder that has one run."""
    for name in sorted(glob.glob(glob.escape(ledger) + '/current/runs/*/*.gz')):
        with gzip.open(name, 'rb') as f:
            for line in f.read().splitlines():
                yield json.loads(line)


def text(e, key):
    """A string field; bytes that are not UTF-8 stand in <key>_b64."""
    if key + '_b64' in e:
        return os.fsdecode(base64.b64decode(e[key + '_b64']))
    return os.fsdecode(e[key].encode()) if key in e else ''


def one(kind):
    return lambda d, e: d.add(e, kind, text(e, 'path'))


def two(kind):
    return lambda d, e: d.add(e, kind, text(e, 'path'), text(e, 'to'))


def node(d, e):
    if stat.S_ISREG(e.get('mode', stat.S_IFREG)) or stat.S_ISFIFO(e['mode']):
        d.add(e, 'create', text(e, 'path'))


def changed_mode(d, e):
    d.add(e, 'chmod', follow(text(e, 'path')))


def executed(d, e):
    """The file that was asked for: the outermost script, else the executable."""
    scripts = e.get('scripts')
    path = os.fsdecode(scripts[0].encode()) if scripts else text(e, 'path')
    d.add(e, 'exec', follow(os.path.join(text(e, 'cwd'), path)))


def connected(d, e):
    port = f" {e['port']}" if 'port' in e else ''
    d.add(e, 'connect', text(e, 'addr') + port)


KINDS = {
    'read': one('read'), 'repeat': one('read'),
    'write': one('write'), 'truncate': one('write'),
    'create': one('create'), 'mknod': node,
    'unlink': one('remove'), 'mkdir': one('mkdir'), 'rmdir': one('rmdir'),
    'rename': two('rename'), 'link': two('link'), 'symlink': one('symlink'),
    'chmod': changed_mode, 'exec': executed, 'connect': connected,
}


def deeds_of(ledger, top):
    deeds = Deeds(top)
    for e in lines_of(ledger):
        if e.get('t') in KINDS:
            KINDS[e['t']](deeds, e)
    return deeds
