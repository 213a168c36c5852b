# SPDX-License-Identifier: MIT
"""What an attacker with the keys could do: reads, changes and writes ledgers, in Python and openssl alone.

Written from docs/ledger-format.md. Nothing here checks anything: that is the verifier's work."""
import base64
import functools
import hashlib
import json
import os
import struct
import subprocess
import tempfile
import zlib

FIXED = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff"
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")


def sha(data):
    return hashlib.sha256(data).digest()


def b64(data):
    return base64.b64encode(data).decode()


def openssl(*args, data=b""):
    return subprocess.run(["openssl", *args], input=data, capture_output=True, check=True).stdout


class Key:
    """An Ed25519 key of which we hold the seed. kind 1 signs texts, 4 co-signs them."""

    def __init__(self, seed, name=None, kind=1, prefix=""):
        self.pem = tempfile.NamedTemporaryFile()
        der = PKCS8 + seed
        self.pem.write(b"-----BEGIN PRIVATE KEY-----\n" + base64.b64encode(der) + b"\n-----END PRIVATE KEY-----\n")
        self.pem.flush()
        self.public = openssl("pkey", "-in", self.pem.name, "-pubout", "-outform", "DER")[-32:]
        self.kind = kind
        self.name = name or "deedlog.invalid/" + prefix + sha(self.public).hex()[:12]
        typed = bytes([kind]) + self.public
        self.id = sha(self.name.encode() + b"\n" + typed)[:4]
        self.vkey = f"{self.name}+{self.id.hex()}+{b64(typed)}"

    def line(self, text):
        """A signature line below `text`."""
        head, body = b"", text
        if self.kind == 4:
            head, body = struct.pack(">Q", 1795959230), b"cosignature/v1\ntime 1795959230\n" + text
        with tempfile.NamedTemporaryFile() as f:
            f.write(body)
            f.flush()
            sig = openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.pem.name, "-in", f.name)
        return f"— {self.name} {b64(self.id + head + sig)}\n".encode()


def key_file(path, name=None, kind=1, prefix=""):
    with open(path, "rb") as f:
        data = f.read()
    key = Key(data[:32], name, kind, prefix)
    assert data[32:] == key.id, f"{path} is torn or of another name"
    return key


class Tree:
    def __init__(self):
        self.leaves = []

    def root(self):
        @functools.lru_cache(None)
        def sub(a, b):
            if b - a == 1:
                return self.leaves[a]
            k = 1 << ((b - a - 1).bit_length() - 1)
            return sha(b"\1" + sub(a, a + k) + sub(a + k, b))
        return sub(0, len(self.leaves)) if self.leaves else sha(b"")

    def frontier(self):
        out, at, n = [], 0, len(self.leaves)
        for bit in reversed(range(n.bit_length())):
            if n >> bit & 1:
                part = Tree()
                part.leaves = self.leaves[at:at + (1 << bit)]
                out.append(part.root())
                at += 1 << bit
        return out


def leaf(salt_key, index, line):
    salt = hashlib.blake2b(struct.pack(">Q", index), key=salt_key, digest_size=16).digest()
    text = b'{"s":"' + base64.urlsafe_b64encode(salt)[:22] + b'",' + line[1:]
    return sha(b"\0" + text)


class Pair:
    """One block: its lines, its salt key, and the note that seals it."""

    def __init__(self, first, lines, note=b"", salt_key=bytes(32), raw=None):
        self.first, self.lines, self.note, self.salt_key, self.raw = first, lines, note, salt_key, raw

    def data(self, count=None, plain=None):
        plain = b"".join(line + b"\n" for line in self.lines) if plain is None else plain
        z = zlib.compressobj(9, zlib.DEFLATED, -15)
        body = z.compress(plain) + z.flush()
        head = struct.pack("<QII", self.first, len(self.lines) if count is None else count, 64 + len(body) + 8)
        return (FIXED + struct.pack("<H2sH", 52, b"TL", 48) + self.salt_key + head + body +
                struct.pack("<II", zlib.crc32(plain), len(plain) & 0xffffffff))

    def seal(self):
        n = len(self.note)
        return FIXED + struct.pack("<H2sH", n + 4, b"TS", n) + self.note + b"\x03\0" + bytes(8)

    def bytes(self):
        return self.raw or self.data() + self.seal()

    def edit(self, old, new):
        """The same block with one thing changed; framing and checksums are right again."""
        plain = b"\n".join(self.lines)
        assert plain.count(old) >= 1, old
        return Pair(self.first, plain.replace(old, new, 1).split(b"\n"), self.note, self.salt_key)


def member(data, at):
    xlen, = struct.unpack_from("<H", data, at + 10)
    sub = data[at + 12:at + 14], data[at + 16:at + 12 + xlen]
    z = zlib.decompressobj(31)
    plain = z.decompress(data[at:])
    return sub, plain, len(data) - len(z.unused_data)


def read_pairs(path):
    with open(path, "rb") as f:
        data = f.read()
    at, out = 0, []
    while at < len(data):
        (_, head), plain, mid = member(data, at)
        (_, note), _, end = member(data, mid)
        first, = struct.unpack_from("<Q", head, 32)
        out.append(Pair(first, plain.split(b"\n")[:-1], note, head[:32], data[at:end]))
        at = end
    return out


def write_pairs(path, pairs):
    with open(path, "wb") as f:
        f.write(b"".join(p.bytes() for p in pairs))


class Log:
    """A log that we write on: a run of our own, or an index of which we hold the key."""

    def __init__(self, origin, pairs=()):
        self.origin, self.pairs, self.tree = origin, [], Tree()
        for p in pairs:
            self.take(p)

    def take(self, pair):
        for line in pair.lines:
            self.tree.leaves.append(leaf(pair.salt_key, len(self.tree.leaves), line))
        self.pairs.append(pair)

    def segment_line(self):
        return dump({"t": "segment", "v": 1, "origin": self.origin, "seq": 0, "size": 0, "root": b64(sha(b"")),
                     "frontier": []})

    def add(self, lines, *keys):
        pair = Pair(len(self.tree.leaves), lines, salt_key=os.urandom(32))
        self.take(pair)
        text = f"{self.origin}\n{len(self.tree.leaves)}\n{b64(self.tree.root())}\n".encode()
        pair.note = text + b"\n" + b"".join(k.line(text) for k in keys)
        return pair

    @property
    def size(self):
        return len(self.tree.leaves)


def dump(value):
    return json.dumps(value, separators=(",", ":")).encode()


def seal_line(n, b, plain, lost=None, at=(2000, 1795959226000001000)):
    """`plain`: the lines of the block before this one."""
    return dump({"t": "seal", "n": n, "b": b, "at": list(at), "lost": lost or {}, "sampled_out": {},
                 "bytes": sum(len(line) + 1 for line in plain)})


def machine_of(log_dir):
    with open(os.path.join(log_dir, "origin")) as f:
        return dict(line.split(" ", 1) for line in f.read().splitlines())
