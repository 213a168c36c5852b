#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py VERIFY MKLOG [ROW]...

One row, one attack: three runs of 120, 230 and 60 events in blocks of 50 are made, attacked, and verified. Each row
names the exit code and a finding code with the sentence that must appear, its numbers computed from the untouched
ledger. Prints TAP.
"""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import kit
from kit import Key, Log, dump, key_file, read_pairs, seal_line, write_pairs

OK, TAMPERED, TROUBLE, INCOMPLETE = 0, 1, 2, 3
EVENTS = 120, 230, 60
MEMORY_KIB = 8 << 10
ROWS = []


def row(fn):
    ROWS.append(fn)
    return fn


class Ledger:
    """A ledger of its own for one row."""

    def __init__(self, verify, mklog, root):
        self.verify_program, self.mklog_program, self.root, self.options = verify, mklog, root, []

    def mklog(self, *args):
        p = subprocess.run([self.mklog_program, self.root, *args], capture_output=True, text=True, check=True)
        return [line.split()[1] for line in p.stdout.splitlines() if line.startswith("run ")]

    def make(self):
        self.runs = [self.mklog("-n", str(n), "-b", "50")[0] for n in EVENTS]

    @property
    def dir(self):
        return os.path.join(self.root, "current")

    @property
    def id(self):
        return os.readlink(self.dir)

    @property
    def index(self):
        return f"{self.dir}/index/000000.gz"

    def run(self, i):
        return f"{self.dir}/runs/{self.runs[i]}/000000.gz"

    def verify(self):
        """Exit code and findings, whatever hostile bytes say, in bounded memory."""
        p = subprocess.run([self.verify_program, self.root, *self.options, "--usage"], capture_output=True, text=True,
                           check=False, errors="surrogateescape")
        text, _, usage = p.stdout.rstrip("\n").rpartition("\n")
        kib = int(usage.split()[1])
        assert 0 < kib < MEMORY_KIB, f"the verifier took {kib} KiB"
        return p.returncode, text + "\n"

    # with the keys on the disk

    def index_key(self):
        return key_file(f"{self.dir}/keys/index.key", f"deedlog.invalid/{self.id}")

    def identity(self):
        return key_file(f"{self.dir}/keys/identity.key", None, 4, "id/")

    def index_log(self):
        return Log(f"deedlog.invalid/{self.id}", read_pairs(self.index))

    def put_index(self, log, publish=False):
        write_pairs(self.index, log.pairs)
        if publish:
            with open(f"{self.dir}/checkpoint", "wb") as f:
                f.write(log.pairs[-1].note)

    def forge_run(self, blocks, stop=None):
        """A run of our own making, announced by the index key. blocks: [(lines, lost)]; stop: fields of run-end."""
        run, key = os.urandom(8).hex(), None
        key = Key(os.urandom(32), f"deedlog.invalid/{self.id}/run/{run}")
        index, identity = self.index_log(), self.identity()
        start = {"t": "run-start", "b": 1, "w": 1795959226000000000, "run": run, "vkey": key.vkey, "cmd": "forged",
                 "uid": 0, "boot": "0", "tier": "trace", "mode": "record", "policy": None, "bpf": None}
        index.add([dump(start)], self.index_key())
        log = Log(key.name)
        for i, (lines, lost) in enumerate(blocks):
            lines = ([] if i else [log.segment_line()]) + lines
            lines.append(seal_line(log.size + len(lines) + 1, [1000, 1000], lines, lost, (2000 + i, 1795959226000001000 + i)))
            last = stop is not None and i + 1 == len(blocks)
            log.add(lines, key, *([identity] if last else []))
        if stop is not None:
            end = {"t": "run-end", "b": 3000, "w": 1795959226000002000, "run": run, "size": log.size,
                   "root": kit.b64(log.tree.root()), **stop}
            index.add([dump(end)], self.index_key(), identity)
        self.put_index(index, publish=stop is not None)
        os.mkdir(f"{self.dir}/runs/{run}")
        self.runs.append(run)
        write_pairs(self.run(-1), log.pairs)
        return log, key


EVENT = b'{"t":"open","b":1000,"path":"/src/a.js"}'


def short(ledger, i):
    return ledger.runs[i][:8]


# ---- A: attacks

@row
def a1_nothing(l):
    sizes = [read_pairs(l.run(i)) for i in range(3)]
    n = [pairs[-1].first + len(pairs[-1].lines) for pairs in sizes]
    return OK, [("ok", f"index: {l.index_log().size} records, 3 runs")] + \
        [("ok", f"run {short(l, i)} make: {n[i]} records, closed, complete") for i in range(3)]


@row
def a2_an_edited_record(l):
    pairs = read_pairs(l.run(1))
    pairs[2] = pairs[2].edit(b"/file-", b"/fila-")
    write_pairs(l.run(1), pairs)
    return TAMPERED, [("root", f"records up to {pairs[2].first + len(pairs[2].lines)} do not hash to the signed root")]


@row
def a3_a_cut_run(l):
    pairs = read_pairs(l.run(1))
    whole = sum(len(p.bytes()) for p in pairs[:3])
    os.truncate(l.run(1), whole + 41)
    return TAMPERED, [("damaged", f"41 bytes after offset {whole} are not a complete sealed block (short)"),
                      ("truncated", f"TRUNCATED: {pairs[3].first} records present, "
                                    f"{pairs[-1].first + len(pairs[-1].lines)} sealed at run-end")]


@row
def a4_swapped_blocks(l):
    pairs = read_pairs(l.run(1))
    pairs[1], pairs[2] = pairs[2], pairs[1]
    write_pairs(l.run(1), pairs)
    return TAMPERED, [("order", f"claims first record {pairs[1].first}, expected {pairs[2].first}")]


@row
def a4b_a_dropped_block(l):
    pairs = read_pairs(l.run(1))
    write_pairs(l.run(1), pairs[:1] + pairs[2:])
    return TAMPERED, [("order", f"claims first record {pairs[2].first}, expected {pairs[1].first}")]


@row
def a4c_a_repeated_block(l):
    pairs = read_pairs(l.run(1))
    write_pairs(l.run(1), pairs[:2] + pairs[1:])
    return TAMPERED, [("order", f"claims first record {pairs[1].first}, expected {pairs[2].first}")]


@row
def a5_a_block_of_another_run(l):
    ours, other = read_pairs(l.run(1)), read_pairs(l.run(0))
    n = len(ours[1].lines)
    assert len(other[1].lines) >= n, "the other block is too short to renumber"
    foreign = kit.Pair(ours[1].first, other[1].lines, other[1].note, other[1].salt_key)
    write_pairs(l.run(1), ours[:1] + [foreign] + ours[2:])
    return TAMPERED, [("origin", f"origin deedlog.invalid/{l.id}/run/{l.runs[0]} does not belong here")]


@row
def a6_a_run_dropped_from_the_index(l):
    pairs = read_pairs(l.index)
    kept = [p for p in pairs if l.runs[1].encode() not in b"".join(p.lines)]
    gone = next(p for p in pairs if l.runs[1].encode() in b"".join(p.lines))
    after = next(p for p in kept if p.first > gone.first)
    write_pairs(l.index, kept)
    return TAMPERED, [("order", f"claims first record {after.first}, expected {gone.first}"),
                      ("truncated", f"TRUNCATED: checkpoint attests {pairs[-1].first + len(pairs[-1].lines)} index records, "
                                    f"log has {gone.first}"),
                      ("unannounced", f"run file {short(l, 1)} is not announced in the index")]


@row
def a8_an_old_record_sealed_by_a_newer_key(l):
    index = read_pairs(l.index)
    log = Log(f"deedlog.invalid/{l.id}", index[:1])
    changed = index[1].edit(b'"cmd":"make"', b'"cmd":"true"')
    log.add(changed.lines, l.index_key())
    write_pairs(l.index, log.pairs + index[2:])
    return TAMPERED, [("signature", f"checkpoint at record {log.size}: no signature by the key in force")]


@row
def a10_a_planted_run(l):
    shutil.copytree(os.path.dirname(l.run(0)), f"{l.dir}/runs/00112233aabbccdd")
    return TAMPERED, [("unannounced", "run file 00112233 is not announced in the index")]


@row
def a10b_a_planted_file(l):
    with open(f"{l.dir}/runs/{l.runs[0]}/000001.gz.bak", "w"):
        pass
    return TAMPERED, [("unannounced", f"file {l.runs[0]}/000001.gz.bak does not belong to the log")]


@row
def a11_a_crash_with_a_torn_tail(l):
    l.runs += l.mklog("-n", "102", "-b", "50", "-o")
    pairs = read_pairs(l.run(-1))
    with open(l.run(-1), "ab") as f:
        f.write(pairs[-1].bytes()[:77])
    n = pairs[-1].first + len(pairs[-1].lines)
    sha = kit.sha(pairs[-1].bytes()[:77]).hex()
    l.mklog("-n", "1")
    return INCOMPLETE, [("orphan", f"crashed; {n} records recovered, torn tail 77 bytes (sha256 {sha[:12]}…)")]


@row
def a11b_the_torn_bytes_are_gone(l):
    a11_a_crash_with_a_torn_tail(l)
    os.unlink(glob.glob(f"{l.dir}/runs/{l.runs[-1]}/torn-*")[0])
    return INCOMPLETE, [("orphan", "the file that kept it is gone or changed")]


@row
def a12_an_orphan_that_grew(l):
    log, key = l.forge_run([([EVENT] * 3, None)])
    l.mklog("-n", "1")
    assert "orphan" in l.verify()[1], l.verify()[1]
    log.add([EVENT, seal_line(log.size + 2, [1000, 1000], [EVENT], None, (2001, 1795959226000001001))], key)
    write_pairs(l.run(-1), log.pairs)
    return TAMPERED, [("appended", "2 records appended after run-orphan")]


@row
def a12b_a_run_that_grew_after_its_end(l):
    log, key = l.forge_run([([EVENT], None)], {"lost": {}, "exit": 0})
    assert l.verify()[0] == OK, l.verify()[1]
    log.add([EVENT, seal_line(log.size + 2, [1000, 1000], [EVENT], None, (2001, 1795959226000001001))], key)
    write_pairs(l.run(-1), log.pairs)
    return TAMPERED, [("appended", "2 records appended after run-end")]


@row
def a13_a_counter_that_fell(l):
    l.forge_run([([EVENT], {"ring": {"file": 7}}), ([EVENT], {"ring": {"file": 6}})], {"lost": {"ring": {"file": 6}}, "exit": 0})
    return TAMPERED, [("counter", "loss counter went backwards")]


@row
def a13b_a_counter_that_run_end_hides(l):
    l.forge_run([([EVENT], {"ring": {"file": 7}})], {"lost": {}, "exit": 0})
    return TAMPERED, [("counter", 'run-end says {} lost, seals say {"ring":{"file":7}}')]


@row
def a14_no_signature(l):
    pairs = read_pairs(l.run(1))
    body = pairs[1].note.split(b"\n\n")[0]
    pairs[1] = kit.Pair(pairs[1].first, pairs[1].lines, body + b"\n\n", pairs[1].salt_key)
    write_pairs(l.run(1), pairs)
    return TAMPERED, [("damaged", "is no signed note")]


@row
def a14b_only_a_stranger_signed(l):
    pairs = read_pairs(l.run(1))
    body = pairs[1].note.split(b"\n\n")[0] + b"\n"
    stranger = Key(bytes(32), f"deedlog.invalid/{l.id}/run/{l.runs[1]}")
    pairs[1] = kit.Pair(pairs[1].first, pairs[1].lines, body + b"\n" + stranger.line(body), pairs[1].salt_key)
    write_pairs(l.run(1), pairs)
    n = pairs[1].first + len(pairs[1].lines)
    return TAMPERED, [("signature", f"checkpoint at record {n}: no signature by the key in force")]


@row
def a14c_another_genesis_key_is_pinned(l):
    l.options = ["--key", Key(bytes(32), f"deedlog.invalid/{l.id}").vkey]
    return TAMPERED, [("signature", "checkpoint at record 2: no signature by the pinned key")]


@row
def a14d_the_right_key_is_pinned(l):
    genesis = json.loads(read_pairs(l.index)[0].lines[1])
    l.options = ["--key", genesis["vkey"]]
    return OK, [("ok", "index: ")]


@row
def a14e_the_identity_key_is_pinned(l):
    l.options = ["--key", l.identity().vkey]
    return OK, [("ok", "index: ")]


@row
def a14f_an_unknown_signature_besides(l):
    pairs = read_pairs(l.run(1))
    body = pairs[1].note.split(b"\n\n")[0] + b"\n"
    note = pairs[1].note + Key(bytes(32), "example.org/witness").line(body)
    pairs[1] = kit.Pair(pairs[1].first, pairs[1].lines, note, pairs[1].salt_key)
    write_pairs(l.run(1), pairs)
    return OK, [("ok", f"run {short(l, 1)} make")]


@row
def a15_an_identity_key_alone_signs_nothing(l):
    """Its thief co-signs a longer index; the key in force did not."""
    index = l.index_log()
    index.add([dump({"t": "prune", "b": 1, "w": 1, "run": l.runs[0], "why": "age"})], l.identity())
    l.put_index(index, publish=True)
    return TAMPERED, [("signature", f"checkpoint at record {index.size}: no signature by the key in force")]


@row
def a16_a_rotate_in_the_middle_of_a_block(l):
    index = l.index_log()
    mine = Key(bytes(32), index.origin)
    rotate = dump({"t": "rotate", "b": 1, "w": 1, "epoch": index.size, "vkey": mine.vkey})
    index.add([rotate, dump({"t": "gap", "b": 1, "w": 1, "why": "EIO", "from": 1, "to": 1, "lost": {}})], l.index_key())
    l.put_index(index)
    return TAMPERED, [("malformed", f"index record {index.size - 2} makes no sense where it stands")]


@row
def a17_the_log_of_another_host(l):
    other = Ledger(l.verify_program, l.mklog_program, l.root + ".other")
    other.make()
    shutil.copy(other.run(1), l.run(1))
    return TAMPERED, [("order", "segment 000000 does not continue this log at record 0 (removed, repeated or foreign)")]


@row
def a18_a_run_that_follows_no_dead_one(l):
    index, key = l.index_log(), Key(os.urandom(32), f"deedlog.invalid/{l.id}/run/00112233aabbccdd")
    start = {"t": "run-start", "b": 1, "w": 1, "run": "00112233aabbccdd", "vkey": key.vkey, "cmd": "x", "uid": 0,
             "boot": "0", "tier": "lsm", "mode": "record", "policy": None, "bpf": None, "prev_run": "ffffffffffffffff"}
    index.add([dump(start)], l.index_key())
    l.put_index(index)
    return TAMPERED, [("malformed", f"index record {index.size - 1} makes no sense where it stands")]


# ---- recovery and the ways out

@row
def c1_a_recorder_that_came_back(l):
    l.runs += l.mklog("-n", "9", "-b", "3", "-o")
    l.runs += l.mklog("-n", "3", "-p")
    lines = [json.loads(line) for p in read_pairs(l.run(-1)) for line in p.lines]
    assert lines[1]["t"] == "gap" and lines[1]["why"] == "restart" and lines[1]["lost"] is None, lines[1]
    starts = [json.loads(line) for p in read_pairs(l.index) for line in p.lines if b"run-start" in line]
    assert starts[-1]["prev_run"] == l.runs[-2] and "prev_run" not in starts[-2], starts[-2:]
    return INCOMPLETE, [("lost", f"run {short(l, -1)}: 1 gaps"), ("orphan", f"run {short(l, -2)}: crashed")]


def refused(l, words):
    p = subprocess.run([l.mklog_program, l.root, "-n", "1"], capture_output=True, text=True, check=False)
    assert p.returncode == 1 and words in p.stderr and "init --continue" in p.stderr, p.stderr


@row
def c2_another_machine(l):
    """The clone: genesis names another machine than this one. Signed anew, as this machine cannot be changed."""
    pairs = read_pairs(l.index)
    genesis = json.loads(pairs[0].lines[1])
    seed = os.urandom(32)
    key, identity = Key(seed), l.identity()
    genesis.update(vkey=key.vkey, id=identity.vkey, machine="0" * 64)
    new = f"{l.root}/{key.name[-12:]}"
    shutil.copytree(f"{l.root}/{l.id}", new)
    shutil.rmtree(f"{new}/runs")
    os.mkdir(f"{new}/runs")
    os.unlink(l.dir)
    os.symlink(os.path.basename(new), l.dir)
    log = Log(key.name)
    log.add([log.segment_line(), dump(genesis)], key, identity)
    l.put_index(log, publish=True)
    with open(f"{new}/origin", "w") as f:
        f.write(f"genesis {key.vkey}\nidentity {identity.vkey}\nmachine {'0' * 64}\ncreated {genesis['w']}\n")
    with open(f"{new}/keys/index.key", "wb") as f:
        f.write(seed + key.id)
    l.runs = []
    refused(l, "another machine")
    return OK, [("ok", "index: 2 records, 0 runs")]


@row
def c3_both_key_files_are_gone(l):
    os.unlink(f"{l.dir}/keys/index.key")
    refused(l, "cannot be continued")
    return OK, [("ok", "index: ")]


@row
def c4_a_key_of_another_log(l):
    other = Ledger(l.verify_program, l.mklog_program, l.root + ".other")
    other.make()
    shutil.copy(f"{other.dir}/keys/index.key", f"{l.dir}/keys/index.key")
    refused(l, "cannot be continued")
    return OK, [("ok", "index: ")]


@row
def c5_an_identity_of_another_log(l):
    other = Ledger(l.verify_program, l.mklog_program, l.root + ".other")
    other.make()
    shutil.copy(f"{other.dir}/keys/identity.key", f"{l.dir}/keys/identity.key")
    refused(l, "cannot be continued")
    return OK, [("ok", "index: ")]


@row
def c6_a_torn_end_of_the_index(l):
    index = read_pairs(l.index)
    with open(l.index, "ab") as f:
        f.write(index[-1].bytes()[:99])
    assert l.verify()[0] == INCOMPLETE, l.verify()
    l.mklog("-n", "1")
    return INCOMPLETE, [("torn", "index: a restart cut off a torn tail of 99 bytes")]


@row
def c7_both_keys_replaced_while_a_run_lasts(l):
    p = subprocess.Popen([l.mklog_program, l.root, "-f", "-b", "5"], stdout=subprocess.PIPE, text=True)
    run = p.stdout.readline().split()[1]
    l.mklog("-n", "1", "-i")
    p.kill()
    p.communicate()
    l.mklog("-n", "1", "-i")
    return INCOMPLETE, [("orphan", f"run {run[:8]}: crashed"), ("ok", "index: ")]


# ---- B: what goes wrong by itself, and hostile bytes

@row
def b1_writers_killed_at_random_points(l):
    """Two writers; one is killed with SIGKILL again and again, up to 200 times or a minute."""
    until, kills, busy = time.monotonic() + 60, 0, None
    while kills < 200 and time.monotonic() < until:
        if busy is None or busy.poll() is not None:
            busy = subprocess.Popen([l.mklog_program, l.root, "-n", "60", "-b", "7"], stdout=subprocess.DEVNULL)
        p = subprocess.Popen([l.mklog_program, l.root, "-f", "-b", random.choice("159"), "-l", "31"],
                             stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0, 0.15))
        p.send_signal(signal.SIGKILL)
        p.wait()
        kills += 1
        if kills % 10 == 0:
            code, text = l.verify()
            assert code in (OK, INCOMPLETE), f"after {kills} kills: exit {code}\n{text}"
    assert busy.wait() == 0, "the writer that was not killed failed"
    l.mklog("-n", "1")
    code, text = l.verify()
    open_runs = len(re.findall(r"^WARN \[open\]", text, re.M))
    assert not open_runs, f"{open_runs} runs stayed open"
    print(f"# {kills} kills")
    assert kills >= 20, "too slow to mean anything"
    return INCOMPLETE, [("ok", "index: ")]


@row
def b5_a_bomb(l):
    pairs = read_pairs(l.run(1))
    bomb = pairs[1].data(plain=b'{"t":"open","b":1000,"path":"' + b"a" * (64 << 20) + b'"}\n')
    with open(l.run(1), "wb") as f:
        f.write(pairs[0].bytes() + bomb + pairs[1].seal())
    return TAMPERED, [("damaged", "(larger than 1 MiB)")]


@row
def b5b_a_count_of_all_ones(l):
    pairs = read_pairs(l.run(1))
    with open(l.run(1), "wb") as f:
        f.write(pairs[0].bytes() + pairs[1].data(count=0xffffffff) + pairs[1].seal())
    return TAMPERED, [("damaged", f"claims 4294967295 records in {len(pairs[1].data())} bytes, it has {len(pairs[1].lines)}")]


@row
def b5c_a_key_twice(l):
    l.forge_run([([b'{"t":"open","b":1000,"path":"/a","path":"/b"}'], None)], {"lost": {}, "exit": 0})
    return TAMPERED, [("malformed", "record 1 in the block at offset 0 is no line of a ledger (not canonical)")]


@row
def b5d_control_bytes_in_a_line(l):
    l.forge_run([([b'{"t":"open","b":1000,"path":"/\x1b[31m"}'], None)], {"lost": {}, "exit": 0})
    return TAMPERED, [("malformed", "record 1 in the block at offset 0")]


@row
def b5e_hostile_names_that_were_escaped(l):
    l.runs += l.mklog("-n", "40", "-b", "10", "-l", "3")
    plain = b"".join(line + b"\n" for p in read_pairs(l.run(-1)) for line in p.lines)
    assert b"\\u001b" in plain and not re.search(rb"[\0-\x09\x0b-\x1f\x7f]", plain), "a control byte is in the log"
    return OK, [("ok", f"run {short(l, -1)} make")]


@row
def b6_verified_while_it_is_written(l):
    ps = [subprocess.Popen([l.mklog_program, l.root, "-n", "3000", "-b", "9"], stdout=subprocess.DEVNULL) for _ in range(2)]
    looks = 0
    while any(p.poll() is None for p in ps):
        code, text = l.verify()
        assert code in (OK, INCOMPLETE), f"look {looks}: exit {code}\n{text}"
        looks += 1
    assert looks and not any(p.returncode for p in ps)
    return OK, [("ok", "index: ")]


# ---- running

def one(fn, verify, mklog):
    with tempfile.TemporaryDirectory() as base:
        l = Ledger(verify, mklog, os.path.join(base, "ledger"))
        l.make()
        want, findings = fn(l)
        code, text = l.verify()
        assert code == want, f"exit {code}, wanted {want}\n{text}"
        for finding, words in findings:
            hit = [s for s in text.splitlines() if f"[{finding}]" in s and words in s]
            assert hit, f"no finding [{finding}] with: {words}\n{text}"
        assert not re.search(r"[\0-\x09\x0b-\x1f\x7f]", text), "a control byte is in what the verifier says"


def main():
    verify, mklog = map(os.path.abspath, sys.argv[1:3])
    rows = [f for f in ROWS if not sys.argv[3:] or any(f.__name__.startswith(a) for a in sys.argv[3:])]
    failed = 0
    for i, fn in enumerate(rows, 1):
        name = fn.__name__.replace("_", " ")
        try:
            one(fn, verify, mklog)
            print(f"ok {i} {name}", flush=True)
        except (AssertionError, subprocess.CalledProcessError) as e:
            failed += 1
            print(f"not ok {i} {name}\n# " + str(e).replace("\n", "\n# "), flush=True)
    print(f"1..{len(rows)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
