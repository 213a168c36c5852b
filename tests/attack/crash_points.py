#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash_points.py VERIFY MKLOG CRASH_AT.so [birth | crash | half | EIO | ENOSPC]...

Ends a writer at each of its steps to the disk, one after the other: at birth of a ledger; in a ledger that has a run,
while a run is recorded and ended and both keys are replaced. Then the same with half of a write done, and with the
step failing (EIO, ENOSPC) instead of the writer. Wanted after each: the verifier says INTACT (exit 0 or 3; before a
ledger is complete at birth, 2); the next writer goes on; then INTACT again, keys/ holds index.key and identity.key
and nothing else, and they are the keys that the last `rotate` (or `genesis`) and the last `identity` leaf name.
"""
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import kit

CRASHED = 99
MAX_STEPS = 200
# R1: before the file, before its syncs; R3: before the rename; R4: before the old bytes go. R2 is the pwrite between.
WANTED = {"openat index.next", "renameat index.next", "openat identity.next", "renameat identity.next", "pwrite ", "fsync "}


def run(cmd, **env):
    return subprocess.run(cmd, capture_output=True, text=True, check=False, env={**os.environ, **env})


def index_lines(log):
    for path in sorted(glob.glob(f"{log}/index/0*.gz")):
        for pair in kit.read_pairs(path):
            yield from map(json.loads, pair.lines)


def judge_keys(root):
    log = os.path.join(root, "current")
    index = identity = None
    for line in index_lines(log):
        if line["t"] in ("genesis", "rotate"):
            index = line["vkey"]
        if line["t"] in ("genesis", "identity"):
            identity = line["id"] if line["t"] == "genesis" else line["vkey"]
    names = sorted(os.listdir(f"{log}/keys"))
    assert names == ["identity.key", "index.key"], names
    origin = "deedlog.invalid/" + os.path.basename(os.path.realpath(log))
    assert kit.key_file(f"{log}/keys/index.key", origin).vkey == index, "index.key is not the key in force"
    assert kit.key_file(f"{log}/keys/identity.key", None, 4, "id/").vkey == identity, "another identity is named"


def one_point(programs, base, how, at):
    """Returns what was reached: the call, or None when the writer got through."""
    verify, mklog, preload = programs
    with tempfile.TemporaryDirectory() as dir:
        root = os.path.join(dir, "ledger")
        if base:
            shutil.copytree(base, root, symlinks=True)
        p = run([mklog, root, "-n", "4", "-b", "2", "-i"], LD_PRELOAD=preload, CRASH_AT=str(at), CRASH_HOW=how)
        reached = p.stderr.split("\n")[0].removeprefix("at ") if p.stderr.startswith("at ") else None
        where = f"{how or 'crash'} {at} ({reached})"
        v = run([verify, root])
        assert v.returncode in ((0, 3) if base else (0, 2, 3)), f"{where}: exit {v.returncode}\n{v.stdout}{p.stderr}"
        p = run([mklog, root, "-n", "2"])
        assert p.returncode == 0, f"{where}: the next writer gave up: {p.stderr}"
        v = run([verify, root])
        assert v.returncode in (0, 3) and "FAIL" not in v.stdout, f"{where}: then exit {v.returncode}\n{v.stdout}"
        try:
            judge_keys(root)
        except AssertionError as e:
            raise AssertionError(f"{where}: {e}") from None
        return reached


def all_points(programs, base, how):
    seen, at = [], 1
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        while at < MAX_STEPS:
            some = list(pool.map(lambda n: one_point(programs, base, how, n), range(at, at + 4)))
            seen += [s for s in some if s]
            if None in some:
                break
            at += 4
    assert at < MAX_STEPS, "the writer never gets through"
    return seen


def main():
    programs = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3])
    with tempfile.TemporaryDirectory() as dir:
        base = os.path.join(dir, "base")
        subprocess.run([programs[1], base, "-n", "4", "-b", "2"], check=True, stdout=subprocess.DEVNULL)
        for how in sys.argv[4:] or ("birth", "crash", "half", "EIO", "ENOSPC"):
            birth = how == "birth"
            seen = all_points(programs, None if birth else base, "" if how in ("birth", "crash") else how)
            missed = WANTED - set(seen)
            assert not missed, f"{how}: never at {missed}"
            print("ok", how, "at each of", len(seen), "steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
