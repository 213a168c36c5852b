#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verifier.py DIR [--key VKEY] [--run ID] [--closed-only] [--json]

A second verifier of a ledger, written from docs/ledger-format.md alone, in the standard library of Python and the
openssl command. It recomputes all that the page says a verifier checks and prints one finding a line, its code first.
Exit: 0 intact and complete, 1 tampered, 2 could not look, 3 incomplete; the first of 1, 2, 3 that applies. Every byte
is hostile: what is inflated or allocated is bounded by the limits of the page, and no error of its own ends in 0.
"""
import argparse
import base64
import functools
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import zlib

LINE, INFLATED, LINES, MEMBER = 8192, 1 << 20, 32768, (1 << 20) + (128 << 10)
NOTE, SIGNATURES, NESTING, KEYS, RECORD, CUTS = 4096, 16, 4, 64, 256 << 10, 4
PAIR = 2 * MEMBER
HEADER = bytes.fromhex("1f8b08040000000000ff")
EMPTY = hashlib.sha256(b"").digest()
INCOMPLETE = {"absent", "open", "orphan", "torn", "lost", "clock"}
JUMP = 100 * 10 ** 6
REMARKS = {"unpinned"}
VKEY = re.compile(r"([a-z0-9./-]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)")
SIGNATURE = re.compile("— ".encode() + rb"([^\0- +]+) ([A-Za-z0-9+/=]+)")
UNSAFE = "\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
STRING = re.compile(r'"((?:[^"\\%s]|\\["\\]|\\u[0-9a-f]{4})*)"' % UNSAFE)
ESCAPE = re.compile(r'\\(?:u(....)|(.))')
MUST_ESCAPE = re.compile("[%s]" % UNSAFE)
WORD = re.compile(r"-?(?:0|[1-9][0-9]{0,18})|true|false|null")


class Trouble(Exception):
    """The log cannot be looked at: exit 2."""


class Bad(Exception):
    """What contradicts the page: (code, text)."""


class Torn(Exception):
    """No whole pair stands here: unfinished, torn or damaged, by what stands behind."""


def need(true, code, text):
    if not true:
        raise Bad(code, text)


def b64(text, code="malformed"):
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        raise Bad(code, "bad base64") from None
    need(base64.b64encode(raw).decode() == text, code, "base64 that is not spelled the one way")
    return raw


def is_int(value):
    return type(value) is int


# ---- §5: keys, signatures, notes

class Key:
    """A vkey of a type; `name` is what it must be called, None where the key itself gives the name."""

    def __init__(self, text, kind, name=None):
        match = VKEY.fullmatch(text) if isinstance(text, str) else None
        need(match, "malformed", "a bad vkey")
        raw = b64(match[3])
        need(len(raw) == 33 and raw[0] == kind, "malformed", "a vkey of another type")
        self.text, self.name, self.kind, self.public = text, match[1], kind, raw[1:]
        self.id = hashlib.sha256(self.name.encode() + b"\n" + raw).digest()[:4]
        self.hash = hashlib.sha256(self.public).hexdigest()[:12]
        need(match[2] == self.id.hex(), "malformed", "a vkey with a wrong key id")
        need(name is None or name == self.name, "origin", f"a vkey named {self.name}")

    def signed(self, note):
        """Whether the note has signatures of this key. A wrong one is an error."""
        blobs = [blob[4:] for name, blob in note.lines if name == self.name.encode() and blob[:4] == self.id]
        for blob in blobs:
            text, when = note.text, b""
            if self.kind == 4:
                when, blob = blob[:8], blob[8:]
                text = b"cosignature/v1\ntime %d\n" % int.from_bytes(when, "big") + text
            need(len(blob) == 64 and ed25519(self.public, text, blob), "signature", f"wrong signature of {self.name}")
        return bool(blobs)


@functools.lru_cache(maxsize=None)
def scratch():
    return tempfile.TemporaryDirectory(prefix="verifier.")


@functools.lru_cache(maxsize=65536)
def ed25519(public, text, signature):
    names = {"key": bytes.fromhex("302a300506032b6570032100") + public, "text": text, "sig": signature}
    for name, data in names.items():
        names[name] = os.path.join(scratch().name, name)
        with open(names[name], "wb") as out:
            out.write(data)
    return subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", names["key"], "-rawin",
                           "-in", names["text"], "-sigfile", names["sig"]], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


class Note:
    def __init__(self, raw):
        need(len(raw) <= NOTE, "damaged", "a note that is too long")
        head, blank, tail = raw.partition(b"\n\n")
        rows, marks = head.decode("ascii", "replace").split("\n"), tail.split(b"\n")
        need(blank and len(rows) == 3 and marks.pop() == b"", "damaged", "a note of another form")
        need(1 <= len(marks) <= SIGNATURES, "damaged", "a note with no or too many signatures")
        need(re.fullmatch("[a-z0-9./-]+", rows[0]), "damaged", "a bad origin")
        need(re.fullmatch("0|[1-9][0-9]{0,18}", rows[1]), "damaged", "a bad size")
        marks = [SIGNATURE.fullmatch(mark) for mark in marks]
        need(all(marks), "damaged", "a bad signature line")
        self.text = head + b"\n"
        self.origin, self.size, self.root = rows[0], int(rows[1]), b64(rows[2], "damaged")
        need(len(self.root) == 32, "damaged", "a root that is no hash")
        self.lines = [(mark[1], b64(mark[2].decode(), "damaged")) for mark in marks]
        need(all(len(blob) > 4 for _, blob in self.lines), "damaged", "a signature without a key id")


# ---- §3: lines

class Json:
    """One canonical line. `spans` holds the raw text of each value at top level."""

    def __init__(self, line):
        try:
            self.s = line.decode()
        except UnicodeDecodeError:
            raise Bad("malformed", "a line that is not UTF-8") from None
        self.spans = {}
        need(self.s[:1] == "{", "malformed", "a line that is no object")
        self.top, end = self.value(0, 1)
        need(end == len(self.s), "malformed", "bytes behind an object")

    def value(self, i, depth):
        first = self.s[i:i + 1]
        if first == '"':
            return self.string(i)
        if first in ("{", "["):
            need(depth <= NESTING, "malformed", "nested too deep")
            return self.object(i + 1, depth) if first == "{" else self.array(i + 1, depth)
        match = WORD.match(self.s, i)
        need(match and match[0] != "-0", "malformed", "a bad value")
        if match[0][0] in "tfn":
            return {"t": True, "f": False, "n": None}[match[0][0]], match.end()
        need(abs(int(match[0])) < 1 << 63, "malformed", "an integer that is too large")
        return int(match[0]), match.end()

    def string(self, i):
        match = STRING.match(self.s, i)
        need(match, "malformed", "a bad string")
        return ESCAPE.sub(self.escape, match[1]), match.end()

    @staticmethod
    def escape(match):
        char = chr(int(match[1], 16)) if match[1] else match[2]
        need(not match[1] or (char != "\0" and MUST_ESCAPE.match(char)), "malformed", "a needless escape")
        return char

    def object(self, i, depth):
        result = {}
        if depth > 1 and self.s[i:i + 1] == "}":
            return result, i + 1
        while True:
            need(self.s[i:i + 1] == '"', "malformed", "no key")
            key, i = self.string(i)
            need(key and key not in result and self.s[i:i + 1] == ":", "malformed", "an empty or double key")
            result[key], end = self.value(i + 1, depth + 1)
            if depth == 1:
                self.spans[key] = self.s[i + 1:end]
            need(len(result) <= KEYS and self.s[end:end + 1] in (",", "}"), "malformed", "a bad object")
            i = end + 1
            if self.s[end] == "}":
                return result, i

    def array(self, i, depth):
        result = []
        if self.s[i:i + 1] == "]":
            return result, i + 1
        while True:
            value, end = self.value(i, depth + 1)
            result.append(value)
            need(self.s[end:end + 1] in (",", "]"), "malformed", "a bad array")
            i = end + 1
            if self.s[end] == "]":
                return result, i


def parse_line(line):
    """The record of a line with its newline, and the raw text of its values."""
    need(len(line) <= LINE, "malformed", "a line that is too long")
    json_line = Json(line[:-1])
    record, keys = json_line.top, list(json_line.top)
    need(keys[0] == "t" and isinstance(record["t"], str), "malformed", "a line that does not begin with t")
    need("s" not in record and "h" not in record, "malformed", "a key that leaves use")
    need(not is_int(record.get("b")) or keys[1] == "b" and record["b"] >= 0, "malformed", "b stands too late or is negative")
    return record, json_line.spans


class Joined:
    """A head line and the `more` lines that it waits for."""

    def __init__(self, leaf, record, spans, line):
        self.leaf, self.count, self.seen, self.size = leaf, record["more"], 0, len(line) - 1
        self.spans, self.cut = dict(spans), set()
        need(self.count <= RECORD, "malformed", "a record of too many lines")

    def add(self, record, spans):
        self.seen += 1
        keys = ["t", "r", "k", "i", "of"] + ["c"] * ("c" in record) + ["v"]
        need(list(record) == keys and record["r"] == self.leaf and record["i"] == self.seen
             and record["of"] == self.count and record.get("c", 1) == 1, "malformed", "a more line of another record")
        key, part = record["k"], spans["v"]
        whole = self.spans.get(key) if isinstance(key, str) else None
        need(whole and key not in ("t", "more") and whole[0] == part[0] and part[0] in '"[', "malformed",
             "a more line for no string or list")
        if part[0] == '"' or whole == "[]" or part == "[]":
            need("c" not in record, "malformed", "c where no element goes on")
            glue = "" if part[0] == '"' or part == "[]" or whole == "[]" else ","
        elif "c" in record:
            need(whole[-2:] == '"]' and part[1] == '"', "malformed", "c where no string goes on")
            whole, part, glue = whole[:-1], part[1:], ""
        else:
            glue = ","
        self.spans[key] = whole[:-1] + glue + part[1:]
        self.cut.add(key)
        self.size += len(part.encode())
        need(len(self.cut) <= CUTS and self.size <= RECORD, "malformed", "a record that is cut too often or too long")
        return self.seen == self.count


# ---- §2: members

def member(raw, kind):
    """(subfield, payload, end) of the member that raw begins with."""
    if len(raw) < 16:
        raise Torn("not a whole header")
    length = int.from_bytes(raw[14:16], "little")
    if raw[:10] != HEADER or raw[12:14] != kind or int.from_bytes(raw[10:12], "little") != length + 4:
        raise Torn("no member of the right kind")
    body = raw[16 + length:MEMBER]
    inflate = zlib.decompressobj(-15)
    try:
        payload = inflate.decompress(body, INFLATED + 1)
    except zlib.error:
        raise Torn("not a deflate stream") from None
    if len(payload) > INFLATED or not inflate.eof or len(inflate.unused_data) < 8:
        raise Torn("a member that is cut or too long")
    used = len(body) - len(inflate.unused_data)
    trailer = zlib.crc32(payload).to_bytes(4, "little") + len(payload).to_bytes(4, "little")
    if body[used:used + 8] != trailer or free_bit(body[:used], payload):
        raise Torn("a member with a wrong check sum or free bits")
    return raw[16:16 + length], payload, 16 + length + used + 8


def free_bit(stream, payload):
    """Whether an unused bit of the last byte is set: clearing the highest set one changes nothing then."""
    last = stream[-1]
    if last == 0:
        return False
    inflate = zlib.decompressobj(-15)
    try:
        again = inflate.decompress(stream[:-1] + bytes([last ^ 1 << last.bit_length() - 1]), INFLATED + 1)
    except zlib.error:
        return False
    return inflate.eof and not inflate.unused_data and again == payload


def pair(raw):
    """(salt key, first leaf, lines, note, bytes used) of the pair that raw begins with."""
    hints, plain, used = member(raw, b"TL")
    if len(hints) != 48 or plain[-1:] not in (b"", b"\n") or plain.count(b"\n") > LINES:
        raise Torn("a data member of another form")
    lines = plain.split(b"\n")[:-1]
    first, count, size = (int.from_bytes(hints[a:b], "little") for a, b in ((32, 40), (40, 44), (44, 48)))
    if count != len(lines) or size != used:
        raise Torn("wrong hints")
    note, empty, end = member(raw[used:], b"TS")
    if empty or raw[used + 16 + len(note):used + 18 + len(note)] != b"\3\0":
        raise Torn("a seal that is not empty")
    try:
        return hints[:32], first, [line + b"\n" for line in lines], Note(note), used + end
    except Bad as bad:
        raise Torn(bad.args[1]) from None


# ---- §4: the tree

def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    def __init__(self):
        self.size, self.stack = 0, []

    def add(self, salt_key, line):
        salt = hashlib.blake2b(self.size.to_bytes(8, "big"), digest_size=16, key=salt_key).digest()
        salt = base64.urlsafe_b64encode(salt).rstrip(b"=")
        top, height = hashlib.sha256(b'\0{"s":"' + salt + b'",' + line[1:-1]).digest(), self.size
        while height & 1:
            top, height = node(self.stack.pop(), top), height >> 1
        self.stack.append(top)
        self.size += 1

    def root(self):
        return functools.reduce(lambda right, left: node(left, right), reversed(self.stack)) if self.stack else EMPTY


# ---- logs

def listing(path):
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}") from None


def load(path, limit=None):
    """The bytes of a regular file (an opened one when there is no limit), or None when there is none."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Trouble(f"{path}: not a regular file")
    opened = os.fdopen(file, "rb")
    if limit is None:
        return opened
    with opened:
        return opened.read(limit)


class Log:
    """Reads one log as far as it holds; subclasses judge its records. Findings go to `report`."""

    def __init__(self, folder, origin, report):
        self.folder, self.origin, self.report = folder, origin, report
        self.tree, self.seals, self.hole, self.tail = Tree(), {0: EMPTY}, (0, 0), None
        self.last, self.joined, self.files, self.stopped, self.unknown = None, None, [], False, 0

    def key(self):
        raise NotImplementedError

    def line(self, leaf, record, line, last):
        raise NotImplementedError

    def sealed(self, note):
        raise NotImplementedError

    def read(self):
        names = listing(self.folder) or []
        self.files = [name for name in names if re.fullmatch(r"[0-9]{6}\.gz", name)]
        try:
            for seq, name in enumerate(self.files):
                need(int(name[:6]) == seq, "truncated", f"segment {seq} is missing")
                self.segment(seq, os.path.join(self.folder, name))
            for name in set(names) - set(self.files):
                need(re.fullmatch(r"torn-[0-9]{6}\.bin", name), "unannounced", name)
        except Bad as bad:
            self.stopped = True
            self.report.add(bad.args[0], self.origin, f"behind leaf {self.tree.size}: {bad.args[1]}")

    def segment(self, seq, path):
        pending, self.tail = self.tail, None
        at, first = 0, True
        with load(path) as file:
            size = os.fstat(file.fileno()).st_size
            while at < size:
                file.seek(at)
                raw = file.read(min(PAIR, size - at))
                try:
                    salt_key, leaf, lines, note, used = pair(raw)
                    if note.origin != self.origin or note.size <= self.tree.size:
                        raise Torn("a seal of another place")
                except Torn as torn:
                    self.broken(file, at, torn)
                    break
                self.block(seq if first else None, salt_key, leaf, lines, note, pending)
                first, at, pending = False, at + used, None
        self.tail = self.tail or pending

    def broken(self, file, at, torn):
        size = os.fstat(file.fileno()).st_size
        self.tail = f"{size - at} bytes that are no pair: {torn}"
        need(not later_seal(file, at, self.origin, self.tree.size), "damaged", self.tail + "; a later seal follows")

    def block(self, seq, salt_key, leaf, lines, note, pending):
        need(lines, "damaged", "a block without lines")
        for nth, line in enumerate(lines):
            record, spans = parse_line(line)
            first = nth == 0 and seq is not None
            need((record["t"] == "segment") == first, "malformed", "a segment line is missing or in a wrong place")
            if first:
                self.begin(seq, record, line, lines[1:2], pending)
                need(leaf == self.tree.size, "damaged", "a wrong hint of the first leaf")
            elif nth == 0:
                need(leaf == self.tree.size, "damaged", "a wrong hint of the first leaf")
            if record["t"] != "segment":
                self.follow(record, spans, line)
                self.line(self.tree.size, record, line, nth == len(lines) - 1)
            self.tree.add(salt_key, line)
        need((note.size, note.root) == (self.tree.size, self.tree.root()), "root", "a seal of other lines")
        need(self.key().signed(note), "signature", "no signature of the log")
        if self.unknown:
            raise Trouble(f"{self.origin}: unknown format {self.unknown}")
        self.sealed(note)
        self.seals[note.size], self.last = note.root, note

    def begin(self, seq, record, line, second, pending):
        if is_int(record.get("v")) and record["v"] > 1:
            self.unknown = record["v"]
            return
        if is_int(record.get("size")) and record["size"] > self.tree.size:
            self.bridge(record, second)
        elif pending:
            raise Bad("damaged", pending)
        front = ",".join('"%s"' % base64.b64encode(hash_).decode() for hash_ in self.tree.stack)
        root = base64.b64encode(self.tree.root()).decode()
        want = f'{{"t":"segment","v":1,"origin":"{self.origin}","seq":{seq},"size":{self.tree.size},"root":"{root}",' \
               f'"frontier":[{front}]}}\n'
        need(record.get("origin") == self.origin, "origin", f"a segment of {record.get('origin')}")
        need(line == want.encode(), "order", "a segment line that does not continue the log")

    def bridge(self, record, second):
        """Leaves are missing before this segment: only its signed gap may say so. The seal is checked later."""
        gap = parse_line(second[0])[0] if second else {}
        leaves, front = gap.get("leaves"), record.get("frontier")
        need(gap.get("t") == "gap" and isinstance(leaves, list) and len(leaves) == 2 and all(map(is_int, leaves)),
             "truncated", f"leaves up to {record['size']} are missing")
        need(leaves[0] <= self.tree.size and leaves[1] == record["size"], "truncated", "more is missing than the gap says")
        need(isinstance(front, list) and len(front) == bin(record["size"]).count("1")
             and all(isinstance(hash_, str) for hash_ in front), "malformed", "a bad frontier")
        self.hole = (self.tree.size, record["size"])
        self.tree.size, self.tree.stack, self.joined = record["size"], [b64(hash_) for hash_ in front], None
        self.seals[record["size"]] = self.tree.root()
        self.report.add("lost", self.origin, f"leaves {self.hole[0]} to {self.hole[1] - 1} never reached the disk")

    def follow(self, record, spans, line):
        """§3: long records. A seal may stand between the lines of one."""
        if record["t"] == "more":
            need(self.joined, "malformed", "a more line without a head")
            if self.joined.add(record, spans):
                self.joined = None
        elif record["t"] != "seal":
            need(not self.joined or self.hole[1] == self.tree.size - 1, "malformed", "a record that is not continued")
            if list(record)[-1] == "more" and is_int(record["more"]) and record["more"] > 0:
                self.joined = Joined(self.tree.size, record, spans, line)

    def knows(self, code, size, root):
        """A size and root that the index or the checkpoint names."""
        if size in self.seals:
            need(self.seals[size] == root, "fork", f"another root at {size}")
        elif not self.hole[0] < size < self.hole[1]:
            raise Bad(code if size > self.tree.size else "fork", f"no seal of size {size}")


def later_seal(file, at, origin, size):
    """Whether a seal of the log beyond `size` stands behind `at`, whatever else does."""
    start, step = at, 4 << 20
    while True:
        file.seek(start)
        raw = file.read(step + NOTE + 64)
        found = raw.find(HEADER)
        while 0 <= found < step:
            end = found + 16 + int.from_bytes(raw[found + 14:found + 16], "little")
            if raw[found + 12:found + 14] == b"TS":
                try:
                    note = Note(raw[found + 16:end])
                    if note.origin == origin and note.size > size:
                        return True
                except Bad:
                    pass
            found = raw.find(HEADER, found + 1)
        if len(raw) < step:
            return False
        start += step


class Index(Log):
    def __init__(self, folder, name, report):
        super().__init__(folder, name, report)
        self.genesis, self.identity, self.keys, self.runs = None, None, [], {}
        self.ended, self.rotated, self.notes, self.created = False, False, {}, None

    def key(self):
        need(self.keys, "malformed", "no genesis")
        return [key for leaf, key in self.keys if leaf <= max(self.tree.size - 2, 1)][-1]

    def line(self, leaf, record, line, last):
        kind = record["t"]
        need(not self.rotated, "order", "a line behind rotate")
        need((leaf == 1) == (kind == "genesis"), "order", "genesis is not the second line")
        judge = {"genesis": self.at_genesis, "rotate": self.at_rotate, "run-start": self.at_start, "head": self.at_size,
                 "run-end": self.at_end, "run-orphan": self.at_end, "restart": self.at_restart}.get(kind)
        if judge:
            need(list(record)[1:3] == ["b", "w"] and is_int(record["b"]) and is_int(record["w"]), "malformed", "no b and w")
            judge(leaf, record)

    def at_genesis(self, leaf, record):
        self.genesis, self.created = Key(record.get("vkey"), 1), record
        need(self.genesis.name == self.origin == "deedlog.invalid/" + self.genesis.hash, "origin", "genesis of another log")
        if record.get("id", 0) is not None:
            self.identity = Key(record.get("id"), 4)
            need(self.identity.name == "deedlog.invalid/id/" + self.identity.hash, "origin", "a wrong name of the identity")
        self.keys.append((leaf, self.genesis))
        self.ended = True

    def at_rotate(self, leaf, record):
        need(is_int(record.get("epoch")), "malformed", "no epoch")
        self.keys.append((leaf, Key(record.get("vkey"), 1, self.origin)))
        self.rotated = True

    def at_restart(self, leaf, record):
        self.torn_file(record)
        if record["torn"]:
            self.report.add("torn", self.origin, f"a restart cut off {record['torn']} bytes")

    def torn_file(self, record):
        size, digest = record.get("torn"), record.get("torn_sha256")
        need(is_int(size) and size >= 0 and isinstance(digest, str), "malformed", "a bad torn tail")
        need(re.fullmatch("[0-9a-f]{64}", digest) if size else digest == "", "malformed", "a bad hash of a torn tail")

    def at_start(self, leaf, record):
        name = record.get("run")
        need(isinstance(name, str) and re.fullmatch("[0-9a-f]{16}", name), "malformed", "a bad name of a run")
        need(name not in self.runs, "order", f"{name} starts twice")
        need(isinstance(record.get("cmd"), str) and len(record["cmd"].encode()) <= 64, "malformed", "a bad cmd")
        key = Key(record.get("vkey"), 1, f"{self.origin}/run/{name}")
        self.runs[name] = {"key": key, "sizes": [], "end": None}

    def at_size(self, leaf, record):
        run = self.runs.get(record["run"]) if isinstance(record.get("run"), str) else None
        need(run, "order", "a run that never started")
        need(not run["end"], "order", "a line about a run that ended")
        need(is_int(record.get("size")) and record["size"] >= 0 and isinstance(record.get("root"), str),
             "malformed", "a bad size or root")
        run["sizes"].append((record["size"], b64(record["root"])))

    def at_end(self, leaf, record):
        self.at_size(leaf, record)
        if record["t"] == "run-orphan":
            self.torn_file(record)
        else:
            counters(record.get("lost"), 2)
        self.runs[record["run"]]["end"] = record
        self.ended = True

    def sealed(self, note):
        if self.identity:
            signed = self.identity.signed(note)
            need(signed or not self.ended, "signature", "no signature of the identity")
        self.notes[note.size], self.ended, self.rotated = note, False, False


def counters(value, depth):
    """{cause:{class:n}} flat, None for null."""
    if value is None:
        return None
    need(isinstance(value, dict), "malformed", "bad counters")
    flat = {}
    for key, inner in value.items():
        if depth == 1:
            need(is_int(inner) and inner >= 1, "malformed", "a bad counter")  # zeros are left out
            flat[key] = inner
        else:
            need(isinstance(inner, dict), "malformed", "bad counters")
            flat.update({(key,) + (name,): n for name, n in counters(inner, depth - 1).items()})
    return flat


class Run(Log):
    def __init__(self, folder, name, report, run, identity):
        super().__init__(folder, name, report)
        self.run, self.identity, self.signed, self.clock = run, identity, False, False
        self.range, self.bytes, self.at, self.lost, self.sampled = [], 0, None, {}, {}
        self.last_lost = {}

    def key(self):
        return self.run["key"]

    def line(self, leaf, record, line, last):
        kind = record["t"]
        need((kind == "seal") == last, "malformed", "a seal line is missing or in a wrong place")
        if kind == "seal":
            return self.seal(leaf, record)
        if is_int(record.get("b")):
            self.range.append(record["b"])
        self.clock = self.clock or kind == "clock"
        if kind == "gap":
            self.lost = self.grown(self.lost, counters(record.get("lost"), 2), "lost")
            self.report.add("lost", self.origin, f"a gap at leaf {leaf}")
        return None

    def block(self, seq, salt_key, leaf, lines, note, pending):
        self.bytes, self.range, self.clock = sum(map(len, lines[:-1])), [], False
        super().block(seq, salt_key, leaf, lines, note, pending)

    def seal(self, leaf, record):
        need({"n", "b", "at", "lost", "sampled_out", "bytes"} <= set(record), "malformed", "a bad seal line")
        need(is_int(record["n"]) and record["n"] == leaf + 1, "counter", "a wrong n")
        need(is_int(record["bytes"]) and record["bytes"] == self.bytes, "counter", "wrong bytes")
        span = [min(self.range), max(self.range)] if self.range else None
        need(record["b"] == span, "time-range", "a wrong range of b")
        at = record["at"]
        need(isinstance(at, list) and len(at) == 2 and all(map(is_int, at)), "malformed", "a bad at")
        before, self.at = self.at or at, at
        need(at[0] >= before[0], "order", "at falls")
        if abs(at[1] - at[0] - before[1] + before[0]) > JUMP and not self.clock:
            self.report.add("clock", self.origin, f"the time of day jumped before leaf {leaf}, and no record says so")
        self.lost = self.grown(self.lost, counters(record["lost"], 2), "lost")
        self.sampled = self.grown(self.sampled, counters(record["sampled_out"], 1), "sampled_out")
        self.last_lost = record["lost"]

    @staticmethod
    def grown(old, new, name):
        if new is None:
            return old
        need(all(new.get(key, 0) >= n for key, n in old.items()), "counter", f"{name} falls")
        return new

    def sealed(self, note):
        self.signed = bool(self.identity and self.identity.signed(note))

    def judge(self):
        """The run against what the index says of it."""
        end = self.run["end"]
        for size, root in self.run["sizes"]:
            self.knows("truncated", size, root)
        if self.last_lost != {}:
            self.report.add("lost", self.origin, "records were lost")
        if not end:
            self.report.add("open", self.origin, f"open, {self.tree.size} records" + (f", {self.tail}" if self.tail else ""))
            return
        need(not self.tail, "damaged", str(self.tail))
        need(self.tree.size == end["size"], "appended", "more than the index says")
        if end["t"] == "run-orphan":
            self.report.add("orphan", self.origin, "crashed")
            return
        need(not self.joined, "malformed", "a record that is not continued")
        need(end.get("lost") == self.last_lost, "counter", "run-end names other losses")
        need(self.signed or not self.identity, "signature", "the end is not signed by the identity")


# ---- §10

class Report:
    def __init__(self):
        self.findings = []

    def add(self, code, where, text):
        self.findings.append((code, where, text))

    def exit(self):
        codes = {code for code, _, _ in self.findings} - REMARKS
        if codes - INCOMPLETE - {"trouble"}:
            return 1
        return 2 if "trouble" in codes else 3 if codes else 0


def verify(folder, key=None, only=None, closed_only=False):
    report = Report()
    try:
        walk(report, folder, key, only, closed_only)
    except (Trouble, OSError) as error:
        report.add("trouble", folder, str(error))
    except Bad as bad:
        report.add(bad.args[0], folder, bad.args[1])
    return report


def walk(report, folder, key, only, closed_only):
    try:
        log_id = os.path.basename(os.readlink(os.path.join(folder, "current")))
    except OSError as error:
        raise Trouble(f"{folder}/current: {error.strerror}") from None
    top = os.path.join(folder, log_id)
    if listing(top) is None:
        raise Trouble(f"{top}: nothing there")
    if key:
        try:
            key = Key(key, 1).text
        except Bad as bad:
            raise Trouble(f"--key: {bad.args[1]}") from None
    else:
        trusted = load(f"/etc/deedlog/trusted/{log_id}.vkey", 1024)
        key = trusted.decode("ascii", "replace").strip() if trusted is not None else None
    claim = load(os.path.join(top, "checkpoint"), NOTE + 1)
    names = listing(os.path.join(top, "runs")) or []
    index = Index(os.path.join(top, "index"), "deedlog.invalid/" + log_id, report)
    index.read()
    if index.tail and not index.stopped:
        report.add("torn", index.origin, index.tail)
    need(index.genesis, "truncated", "an index without genesis")
    if key is None:
        report.add("unpinned", index.origin, "checked against its own first key " + index.genesis.text)
    else:
        need(key == index.genesis.text, "signature", "the genesis key is not the trusted one")
    check_checkpoint(report, index, claim)
    check_origin(report, index, load(os.path.join(top, "origin"), 4096))
    if only and sum(name.startswith(only) for name in index.runs) != 1:
        raise Trouble(f"no such run: {only}")
    for name in names:
        if not only and name not in index.runs:
            report.add("unannounced", index.origin, f"runs/{name}")
    for name, run in index.runs.items():
        if name.startswith(only or "") and (run["end"] or not closed_only):
            check_run(report, index, os.path.join(top, "runs", name), run)


def check_checkpoint(report, index, claim):
    try:
        need(claim is not None, "truncated", "no checkpoint")
        note = Note(claim)
        need(note.origin == index.origin, "origin", "the checkpoint of another log")
        need(index.stopped or note.size in index.notes, "truncated" if note.size > index.tree.size else "fork",
             f"no seal of size {note.size}, which the checkpoint promises")
        sealed = index.notes.get(note.size)
        if sealed:
            need(sealed.text == note.text, "fork", "the checkpoint is no seal of the index")
            signer = [key for leaf, key in index.keys if leaf <= max(note.size - 2, 1)][-1]
            need(signer.signed(note), "signature", "the checkpoint is not signed by the log")
            need(not index.identity or index.identity.signed(note), "signature", "the checkpoint lacks the identity")
    except Bad as bad:
        report.add(bad.args[0], index.origin + " checkpoint", bad.args[1])


def check_origin(report, index, text):
    genesis = index.created
    want = f"genesis {index.genesis.text}\n"
    want += f"identity {index.identity.text}\n" if index.identity else ""
    want += f"machine {genesis.get('machine')}\ncreated {genesis['w']}\n"
    if text != want.encode():
        report.add("origin", index.origin, "the file origin is not what genesis says")


def check_run(report, index, folder, run):
    log = Run(folder, run["key"].name, report, run, index.identity)
    try:
        log.read()
        if log.stopped:
            return
        if listing(folder) is None:
            report.add("absent", log.origin, "announced, but not there")
            return
        log.judge()
    except Bad as bad:
        report.add(bad.args[0], log.origin, bad.args[1])
    except (Trouble, OSError) as error:
        report.add("trouble", log.origin, str(error))


def main():
    parser = argparse.ArgumentParser(description="a second verifier of a ledger")
    parser.add_argument("dir")
    parser.add_argument("--key", metavar="VKEY")
    parser.add_argument("--run", metavar="ID")
    parser.add_argument("--closed-only", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        report = verify(args.dir, args.key, args.run, args.closed_only)
    except Exception as error:  # a fault of this program must never pass for a verdict
        print(f"trouble {args.dir}: {error!r}", file=sys.stderr)
        return 2
    if args.json:
        rows = [dict(zip(("code", "where", "text"), row)) for row in report.findings]
        print(json.dumps({"exit": report.exit(), "findings": rows}))
    else:
        for row in report.findings:
            print(*row)
    return report.exit()


if __name__ == "__main__":
    sys.exit(main())
