#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flip.py VERIFY MKLOG

Makes a small ledger (two runs, closed) and flips one bit of every byte that belongs
to the record, one at a time: the verifier must not exit 0 for any of them. Prints
"ok N" and the exit codes seen, or each flip that went through.

A flip inside a deflate stream may give another encoding of the very same lines; what
is signed is the lines, so that is the same log and no fault. Such flips are counted
and must stay rare (at most SAME_MAX); the bits behind the last block are not among
them, they must be zero.

Not flipped, because no verdict depends on them: keys/ (secrets of the writer; a
changed key file is refused by the writer), reserve (random bytes that only take up
space), lock (empty). `current` is a link: it is redirected instead.
"""
import collections
import os
import subprocess
import sys
import tempfile
import zlib

SAME_MAX = 4
JUDGED = ("origin", "checkpoint", "index/", "runs/")


class Verifier:
    """One process for thousands of verdicts."""

    def __init__(self, program, root):
        cmd = [program, root, "--loop"]
        self.process = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def verdict(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def record_files(log):
    for folder, _, names in os.walk(log):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.relpath(path, log).startswith(JUDGED):
                yield path


def lines_of(data):
    """The plain lines of a segment, as zcat shows them."""
    lines = b""
    while data:
        z = zlib.decompressobj(31)
        lines += z.decompress(data)
        data = z.unused_data
    return lines


def flip_bytes(verify, path, seen):
    """Flips a bit that changes with the place, so that no bit is favoured."""
    missed = []
    with open(path, "r+b") as f:
        data = f.read()
        for at, byte in enumerate(data):
            os.pwrite(f.fileno(), bytes([byte ^ (1 << at % 8)]), at)
            code = verify.verdict()
            f.seek(0)
            changed = f.read()
            os.pwrite(f.fileno(), bytes([byte]), at)
            seen[code] += 1
            if code == 0 and path.endswith(".gz") and lines_of(changed) == lines_of(data):
                seen["same lines"] += 1
            elif code == 0:
                missed.append(f"{path} byte {at} of {len(data)}")
    return missed


def cut_ends(verify, path, seen):
    """The last byte away, and one byte more."""
    missed = []
    with open(path, "r+b") as f:
        data = f.read()
        for changed in (data[:-1], data + b"\0"):
            f.truncate(0)
            os.pwrite(f.fileno(), changed, 0)
            code = verify.verdict()
            seen[code] += 1
            if code == 0:
                missed.append(f"{path} with {len(changed)} bytes instead of {len(data)}")
        f.truncate(0)
        os.pwrite(f.fileno(), data, 0)
    return missed


def move_link(verify, root, log):
    """The log under another name is not the log that its first key names."""
    link, other = os.path.join(root, "current"), os.path.join(root, "0123456789ab")
    os.rename(log, other)
    os.unlink(link)
    os.symlink("0123456789ab", link)
    return [] if verify.verdict() else ["current led to a log under another name"]


def main():
    program, mklog = sys.argv[1:3]
    seen, missed, n = collections.Counter(), [], 0
    with tempfile.TemporaryDirectory() as base:
        root = os.path.join(base, "ledger")
        subprocess.run([mklog, root, "-r", "2", "-n", "6", "-b", "3"], check=True, stdout=subprocess.DEVNULL)
        verify = Verifier(program, root)
        assert verify.verdict() == 0, "the untouched ledger does not verify"
        log = os.path.realpath(os.path.join(root, "current"))
        for path in sorted(record_files(log)):
            n += os.path.getsize(path)
            missed += flip_bytes(verify, path, seen)
            missed += cut_ends(verify, path, seen)
        assert verify.verdict() == 0, "the restored ledger does not verify"
        missed += move_link(verify, root, log)
        verify.stop()
    if seen["same lines"] > SAME_MAX:
        missed.append(f"{seen['same lines']} flips that gave the same lines")
    for line in missed:
        print("NOT NOTICED:", line)
    print("not ok" if missed else "ok", n, "bytes flipped; exit codes", dict(seen))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
