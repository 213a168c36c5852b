#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash.py VERIFY MKLOG [LEDGERS]

Kills a writer with SIGKILL at random moments, and verifies before and after the next
start recovered its log. Wanted each time: while it writes and after the kill the
verdict is INCOMPLETE (3), never TAMPERED; the run becomes an orphan; no record whose
seal the writer had reported is missing; a second writer of the same ledger, which
was not killed, ends as complete. Then the bytes of a torn pair are put behind the
last seal, as a power cut would leave them.
"""
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import time

INCOMPLETE = 3
ROUNDS = 3


def verify(program, root):
    p = subprocess.run([program, root], capture_output=True, text=True, check=False)
    return p.returncode, p.stdout


def start_writer(mklog, root, block):
    cmd = [mklog, root, "-f", "-b", str(block), "-l", "37"]
    p = subprocess.Popen(cmd, stdout=subprocess.PIPE, text=True)
    return p, p.stdout.readline().split()[1]


def kill_writer(p, wait):
    """Returns the last record that the writer reported as sealed."""
    time.sleep(wait)
    p.kill()
    sealed = [int(line) for line in p.stdout.read().splitlines() if line.isdigit()]
    p.wait()
    return max(sealed, default=0)


def events_of(root, run):
    text = b""
    for name in sorted(glob.glob(f"{root}/current/runs/{run}/*.gz")):
        zcat = subprocess.run(["zcat", name], capture_output=True, check=False)
        text += zcat.stdout
    return len(re.findall(rb'^\{"t":"(?:open|exec)"', text, re.M))


def tear(root, run, cut):
    """Repeats the last pair of a run without its last bytes, as a torn write."""
    path = sorted(glob.glob(f"{root}/current/runs/{run}/0*.gz"))[-1]
    with open(path, "rb") as f:
        data = f.read()
    last = data.rfind(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x34\x00TL")
    with open(path, "ab") as f:
        f.write(data[last : len(data) - cut])


def one_round(program, mklog, root, number):
    other = subprocess.Popen([mklog, root, "-n", "400", "-b", "20"], stdout=subprocess.DEVNULL)
    p, run = start_writer(mklog, root, random.choice([1, 5, 50]))
    time.sleep(random.uniform(0, 0.05))
    code, text = verify(program, root)
    assert code == INCOMPLETE, f"while writing: exit {code}\n{text}"
    sealed = kill_writer(p, random.uniform(0, 0.2))
    assert other.wait() == 0, "the other writer failed"
    code, text = verify(program, root)
    assert code == INCOMPLETE and "open" in text, f"after the kill: exit {code}\n{text}"
    torn = number % 2 == 1 and sealed > 0
    if torn:
        tear(root, run, random.randint(1, 300))
        code, text = verify(program, root)
        assert code == INCOMPLETE, f"with a torn tail: exit {code}\n{text}"
    subprocess.run([mklog, root, "-n", "3"], check=True, stdout=subprocess.DEVNULL)
    code, text = verify(program, root)
    line = next((s for s in text.splitlines() if run[:8] in s), "")
    assert code == INCOMPLETE and "FAIL" not in text, f"after recovery: exit {code}\n{text}"
    assert "crashed" in line and ("torn tail" in line if torn else True), line
    assert events_of(root, run) >= sealed, f"{run}: {events_of(root, run)} events, {sealed} were sealed"
    return torn


def several_rounds(program, mklog, root, rounds):
    """In one ledger, so that later writers meet earlier orphans."""
    torn = sum(one_round(program, mklog, root, i) for i in range(rounds))
    _, text = verify(program, root)
    complete = text.count("closed, complete")
    assert complete == 2 * rounds, f"{complete} complete runs, wanted {2 * rounds}\n{text}"
    assert "gone or changed" not in text, text
    return torn


def main():
    program, mklog = sys.argv[1:3]
    ledgers = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    with tempfile.TemporaryDirectory() as base:
        roots = [os.path.join(base, str(i)) for i in range(ledgers)]
        torn = sum(several_rounds(program, mklog, root, ROUNDS) for root in roots)
    print("ok", ledgers * ROUNDS, "kills,", torn, "torn tails, no record lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
