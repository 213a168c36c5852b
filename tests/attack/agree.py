#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agree.py DEEDLOG LOG... [--seed N] [--flips N] [--only TEXT] [--keep DIR]

`DEEDLOG verify` and tests/attack/verifier.py must give the same exit status for each LOG (a ledger folder) and for each
attacked copy of it. Prints TAP, one point for a log and a kind of attack, and each disagreement with the name of its
attack, which --only repeats; --keep saves the copies on which they disagree. Relies on the framing of a sound log only.
"""
import argparse
import collections
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import forge
import verifier
from framing import data_member, members, note_of, open_data, reseal


def run_files(top):
    return sorted(glob.glob(f"{top}/current/runs/*/0*.gz"))


def segments(top):
    return sorted(glob.glob(f"{top}/current/index/0*.gz")) + run_files(top)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, *parts):
    with open(path, "wb") as file:
        file.write(b"".join(parts))


class Attacks:
    """Each method yields (name, change): change(copy) does it to a copy of the log."""

    def __init__(self, top, others, seed, flips):
        self.top, self.others, self.flips_wanted = top, others, flips
        self.random = random.Random(f"{seed}/{os.path.basename(top)}")

    def in_segments(self):
        for path in segments(self.top):
            yield os.path.relpath(path, self.top), members(read(path))

    def put(self, path, *parts):
        return lambda copy: write(os.path.join(copy, path), *parts)

    def none(self):
        yield "as it is", lambda copy: None

    def flip(self):
        files = [path for path in glob.glob(f"{self.top}/current/**", recursive=True) if os.path.isfile(path)]
        files = [path for path in files if os.path.getsize(path)]
        busy = [path for path in files if os.path.basename(path) not in ("reserve", "index.key", "identity.key")]
        for nth in range(self.flips_wanted):
            path = self.random.choice(files if nth % 10 == 0 else busy)
            data = bytearray(read(path))
            at, bit = self.random.randrange(len(data)), self.random.randrange(8)
            data[at] ^= 1 << bit
            name = os.path.relpath(path, self.top)
            yield f"{name} byte {at} bit {bit}", self.put(name, data)

    def cut(self):
        for path, parts in self.in_segments():
            data, at = b"".join(parts), 0
            for nth, part in enumerate(parts):
                for where, to in (("at", at), ("behind", at + 1), ("inside", at + len(part) // 2)):
                    if to < len(data):
                        yield f"{path} {where} member {nth}", self.put(path, data[:to])
                at += len(part)

    def order(self):
        for path, parts in self.in_segments():
            for nth in range(len(parts) - 1):
                rest = parts[nth + 1:]
                yield f"{path} without member {nth}", self.put(path, *parts[:nth], *rest)
                yield f"{path} twice member {nth}", self.put(path, *parts[:nth + 1], *parts[nth:])
                yield f"{path} swapped members {nth}", self.put(path, *parts[:nth], *rest[:1], parts[nth], *rest[1:])
                if nth % 2 == 0:
                    yield f"{path} without pair {nth}", self.put(path, *parts[:nth], *parts[nth + 2:])
                    yield f"{path} twice pair {nth}", self.put(path, *parts[:nth + 2], *parts[nth:])
                    yield f"{path} swapped pairs {nth}", self.put(path, *parts[:nth], *parts[nth + 2:nth + 4],
                                                                  *parts[nth:nth + 2], *parts[nth + 4:])

    def splice(self):
        foreign = [members(read(path)) for top in [self.top] + self.others for path in segments(top)]
        for path, parts in self.in_segments():
            for nth in self.random.sample(range(len(foreign)), min(4, len(foreign))):
                other = foreign[nth]
                if other == parts:
                    continue
                at = 2 * self.random.randrange(len(parts) // 2 + 1)
                take = 2 * self.random.randrange(max(len(other) // 2, 1))
                name = f"{path} at {at} from {nth} pair {take}"
                yield f"{name} put in", self.put(path, *parts[:at], *other[take:take + 2], *parts[at:])
                yield f"{name} instead", self.put(path, *parts[:at], *other[take:take + 2], *parts[at + 2:])

    def lines(self):
        for path, parts in self.in_segments():
            for nth in range(0, len(parts) - 1, 2):
                key, first, text = open_data(parts[nth])
                rows = text.splitlines(keepends=True)
                digit = re.sub(rb"[0-9]", lambda m: b"%d" % ((int(m[0]) + 1) % 10), text, count=1)
                changed = {
                    "stored": data_member(key, first, text, 0), "fast": data_member(key, first, text, 1),
                    "best": data_member(key, first, text, 9), "wrong size": data_member(key, first, text, 1, 77),
                    "wrong first": data_member(key, first + 1, text), "other salt": data_member(b"x" * 32, first, text),
                    "digit": data_member(key, first, digit), "no last line": data_member(key, first, b"".join(rows[:-1])),
                    "line twice": data_member(key, first, text + rows[-1]), "swapped": data_member(key, first, b"".join(rows[::-1])),
                    "blank": data_member(key, first, text.replace(b'":', b'": ', 1)), "no newline": data_member(key, first, text[:-1]),
                    "format 2": data_member(key, first, text.replace(b'"v":1', b'"v":2')), "no lines": data_member(key, first, b""),
                }
                for name, member in changed.items():
                    yield f"{path} member {nth} {name}", self.put(path, *parts[:nth], member, *parts[nth + 1:])
            bomb = data_member(b"b" * 32, 0, b"\n" * (64 << 20))
            yield f"{path} bomb before", self.put(path, bomb, *parts)
            yield f"{path} bomb behind", self.put(path, *parts, bomb)

    def seals(self):
        for path, parts in self.in_segments():
            for nth in range(1, len(parts) - 1, 2):
                for name, note in self.notes(note_of(parts[nth])):
                    yield f"{path} seal {nth} {name}", self.put(path, *parts[:nth], reseal(note), *parts[nth + 1:])
                empty = data_member(b"e" * 32, int(note_of(parts[nth]).split(b"\n")[1]), b"")
                yield f"{path} seal {nth} again", self.put(path, *parts[:nth + 1], empty, parts[nth], *parts[nth + 1:])

    @staticmethod
    def notes(note):
        """Changed spellings of a note."""
        text, marks = note.split(b"\n\n")
        marks = marks.splitlines(keepends=True)
        text += b"\n\n"
        for nth, _ in enumerate(marks):
            yield f"no signature {nth}", text + b"".join(marks[:nth] + marks[nth + 1:])
            yield f"signature {nth} alone", text + marks[nth]
            yield f"signature {nth} twice", text + b"".join(marks) + marks[nth]
            broken = marks[nth][:-10] + (b"A" if marks[nth][-10:-9] != b"A" else b"B") + marks[nth][-9:]
            yield f"signature {nth} wrong", text + b"".join(marks[:nth] + [broken] + marks[nth + 1:])
            yield f"signature {nth} wrong as well", text + b"".join(marks) + broken
        yield "reversed", text + b"".join(marks[::-1])
        stranger = "— example.org/w ".encode() + b"QUJDREVGR0g=\n"
        for name, count in (("a stranger", 1), ("14 strangers", 14), ("15 strangers", 15), ("16 strangers", 16)):
            yield name, text + b"".join(marks) + stranger * count
        yield "stranger with capitals", text + b"".join(marks) + "— Example.org/w ".encode() + b"QUJDREVGR0g=\n"
        yield "stranger with an underscore", text + b"".join(marks) + "— example_org ".encode() + b"QUJDREVGR0g=\n"
        yield "stranger with free bits", text + b"".join(marks) + "— example.org/w ".encode() + b"QUJDREVGR0h=\n"
        yield "stranger of four bytes", text + b"".join(marks) + "— example.org/w ".encode() + b"QUJDRA==\n"
        yield "stranger of three bytes", text + b"".join(marks) + "— example.org/w ".encode() + b"QUJD\n"
        yield "extension", text[:-1] + b"more\n\n" + b"".join(marks)
        yield "size with a zero", text.replace(b"\n", b"\n0", 1) + b"".join(marks)
        yield "two empty lines", text + b"\n" + b"".join(marks)
        yield "no last newline", text + b"".join(marks)[:-1]
        yield "4096 bytes", text + b"".join(marks) + Attacks.fill(4096 - len(note))
        yield "4097 bytes", text + b"".join(marks) + Attacks.fill(4097 - len(note))

    @staticmethod
    def fill(size):
        """One more signature line of so many bytes by nobody known."""
        tail = " QUJDREVGR0g=\n".encode()
        return "— ".encode() + b"x" * (size - len(tail) - 4) + tail

    def checkpoint(self):
        path = "current/checkpoint"
        note = read(f"{self.top}/{path}")
        for name, changed in self.notes(note):
            yield f"checkpoint {name}", self.put(path, changed)
        yield "checkpoint gone", lambda copy: os.remove(f"{copy}/{path}")
        yield "checkpoint empty", self.put(path)
        yield "checkpoint cut", self.put(path, note[:len(note) // 2])
        for nth, seal in enumerate(members(read(segments(self.top)[0]))[1:-1:2]):
            yield f"checkpoint is seal {nth}", self.put(path, note_of(seal))
        for other in self.others:
            yield f"checkpoint of {os.path.basename(other)}", self.put(path, read(f"{other}/{path}"))

    def origin(self):
        path = "current/origin"
        text = read(f"{self.top}/{path}")
        rows = text.splitlines(keepends=True)
        yield "origin gone", lambda copy: os.remove(f"{copy}/{path}")
        yield "origin empty", self.put(path)
        yield "origin with more", self.put(path, text, b"more 1\n")
        yield "origin no last newline", self.put(path, text[:-1])
        for nth, row in enumerate(rows):
            yield f"origin without line {nth}", self.put(path, *rows[:nth], *rows[nth + 1:])
            yield f"origin line {nth} twice", self.put(path, *rows[:nth + 1], *rows[nth:])
            yield f"origin line {nth} changed", self.put(path, *rows[:nth], row[:-2], b"0\n" if row[-2:-1] != b"0" else b"1\n",
                                                         *rows[nth + 1:])
        yield "origin reversed", self.put(path, *rows[::-1])
        for other in self.others:
            yield f"origin of {os.path.basename(other)}", self.put(path, read(f"{other}/{path}"))

    def files(self):
        def gone(path):
            return lambda copy: (shutil.rmtree if os.path.isdir(f"{copy}/{path}") else os.remove)(f"{copy}/{path}")

        def folder(path):
            return lambda copy: os.mkdir(f"{copy}/{path}")

        paths = [os.path.relpath(path, self.top) for path in glob.glob(f"{self.top}/current/**", recursive=True)]
        for path in paths:
            if path not in ("current", "current/"):
                yield f"{path} gone", gone(path)
        for path in ["current/runs/" + "0" * 16, "current/runs/planted", "current/new"]:
            yield f"{path} empty folder", folder(path)
            yield f"{path} file", self.put(path, b"planted")
        for place in ["current/index"] + [os.path.dirname(path) for path, _ in self.in_segments() if "/runs/" in path]:
            last = sorted(glob.glob(f"{self.top}/{place}/0*.gz"))[-1]
            after = f"{place}/{int(os.path.basename(last)[:6]) + 1:06}.gz"
            yield f"{after} empty", self.put(after)
            yield f"{after} junk", self.put(after, b"planted")
            yield f"{after} copy", self.put(after, read(last))
            yield f"{after} moved up", lambda copy, a=after, b=os.path.relpath(last, self.top): os.rename(f"{copy}/{b}", f"{copy}/{a}")
            yield f"{place}/000009.gz empty", self.put(f"{place}/000009.gz")
            for name in ("planted", "000000", "0000001.gz", "000001.gz.tmp", "torn-000000.bin", "torn-1.bin", "torn-000007.bin"):
                yield f"{place}/{name}", self.put(f"{place}/{name}", b"planted")
            yield f"{place}/folder", folder(f"{place}/folder")
        for run in glob.glob(f"{self.top}/current/runs/*"):
            name = os.path.basename(run)
            planted = name[:-1] + ("0" if name[-1] != "0" else "1")
            yield f"{name} copied to {planted}", lambda copy, a=name, b=planted: shutil.copytree(
                f"{copy}/current/runs/{a}", f"{copy}/current/runs/{b}")
        for other in self.others:
            for run in glob.glob(f"{other}/current/runs/*"):
                if os.path.exists(f"{self.top}/current/runs/{os.path.basename(run)}"):
                    continue
                yield f"{os.path.basename(run)} planted", lambda copy, a=run: shutil.copytree(
                    a, f"{copy}/current/runs/{os.path.basename(a)}")

    def tails(self):
        for path, parts in self.in_segments():
            data = b"".join(parts)
            junk = {"a byte": b"x", "zeros": bytes(4096), "half a header": verifier.HEADER[:5], "a header": verifier.HEADER,
                    "last seal": parts[-2], "first seal": parts[1], "first data": parts[0], "half a seal": parts[-2][:100],
                    "an empty gzip member": bytes.fromhex("1f8b080000000000000303000000000000000000")}
            for name, tail in junk.items():
                yield f"{path} and {name}", self.put(path, data, tail)
            yield f"{path} begins with a byte", self.put(path, b"x", data)
            yield f"{path} is empty", self.put(path)
            yield f"{path} last data and junk seal", self.put(path, data, parts[-3], b"x" * 200)

    def roots(self):
        def link(copy, to):
            os.remove(f"{copy}/current")
            if to is not None:
                os.symlink(to, f"{copy}/current")

        def moved(copy):
            os.rename(os.path.realpath(f"{copy}/current"), f"{copy}/0123456789ab")
            link(copy, "0123456789ab")

        yield "current gone", lambda copy: link(copy, None)
        yield "current to nothing", lambda copy: link(copy, "0123456789ab")
        yield "moved", moved
        for other in self.others[:2]:
            for part in ("index", "runs", "keys"):
                yield f"{part} of {os.path.basename(other)}", lambda copy, a=other, b=part: (
                    shutil.rmtree(f"{copy}/current/{b}"), shutil.copytree(f"{a}/current/{b}", f"{copy}/current/{b}"))


    def forged(self):
        if os.path.basename(self.top) == "runs":
            for name, how in forge.cases():
                yield name, lambda copy, how=how: forge.add_run(copy, **how)


KINDS = ["none", "flip", "cut", "order", "splice", "lines", "seals", "checkpoint", "origin", "files", "tails", "roots", "forged"]


def verdicts(deedlog, copy, extra):
    theirs = subprocess.run([deedlog, "verify", "--dir", copy, *extra], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            check=False)
    try:
        report = verifier.verify(copy, closed_only=bool(extra))
        return theirs.returncode, report.exit(), theirs.stdout.decode("utf-8", "replace"), report.findings
    except Exception:
        return theirs.returncode, "crash", theirs.stdout.decode("utf-8", "replace"), [traceback.format_exc()]


def compare(args, log, name, change, work, both):
    """The common verdict, or None where there is none."""
    copy, common = os.path.join(work, "copy"), None
    shutil.copytree(log, copy, symlinks=True)
    try:
        change(copy)
        for extra in ([], ["--closed-only"])[:2 if both else 1]:
            theirs, ours, said, findings = verdicts(args.deedlog, copy, extra)
            if theirs != ours:
                print(f"# {os.path.basename(log)}: {name} {' '.join(extra)}\n#   deedlog {theirs}, verifier {ours}")
                for row in [line for line in said.splitlines() if not line.startswith(("OK", "NOTE"))][:3] + findings[:3]:
                    print(f"#     {row}".replace("\n", "\n# "))
                if args.keep:
                    shutil.copytree(copy, f"{args.keep}/{os.path.basename(log)}-{len(os.listdir(args.keep))}", symlinks=True)
                return None
            common = theirs if common is None else common
    finally:
        shutil.rmtree(copy)
    return common


def main():
    parser = argparse.ArgumentParser(description="two verifiers, one verdict")
    parser.add_argument("deedlog")
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--flips", type=int, default=60)
    parser.add_argument("--most", type=int, default=40, help="attacks of one kind on one log, chosen by the seed")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    args = parser.parse_args()
    point, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="agree.") as work:
        for log in args.logs:
            attacks = Attacks(log, [other for other in args.logs if other != log], args.seed, args.flips)
            for kind in KINDS:
                chosen = [(name, change) for name, change in getattr(attacks, kind)() if args.only in f"{kind}: {name}"]
                if len(chosen) > args.most and kind != "forged":
                    chosen = attacks.random.sample(chosen, args.most)
                counts = collections.Counter(compare(args, log, f"{kind}: {name}", change, work, nth % 4 == 0)
                                             for nth, (name, change) in enumerate(chosen))
                point += 1
                failed += bool(counts[None])
                said = ", ".join(f"{counts[code]} x {code}" for code in (0, 1, 2, 3) if counts[code])
                print(f"{'not ok' if counts[None] else 'ok'} {point} - {os.path.basename(log)} {kind}: "
                      f"{counts[None]} disagreements; {said}", flush=True)
    print(f"1..{point}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
