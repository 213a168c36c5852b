#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""audit_run.py VKEY SEGMENT...

Verifies a whole run log with the vkey from its run-start record: framing, salted
leaves, tree, and the Ed25519 signature of every seal. It needs the standard library
and openssl, and no code of deedlog: a second opinion, written from
docs/ledger-format.md.
"""
import base64
import hashlib
import struct
import subprocess
import sys
import tempfile
import zlib

HEADER = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff"
DER = bytes.fromhex("302a300506032b6570032100")


def sha(data):
    return hashlib.sha256(data).digest()


def in_file(data):
    f = tempfile.NamedTemporaryFile()
    f.write(data)
    f.flush()
    return f


class Tree:
    """RFC 6962, as its frontier: level[i] counts while bit i of n is set."""

    def __init__(self):
        self.n, self.level = 0, []

    def add(self, h):
        i = 0
        while self.n >> i & 1:
            h = sha(b"\1" + self.level[i] + h)
            i += 1
        self.level[i : i + 1] = [h]
        self.n += 1

    def root(self):
        r = None
        for i, h in enumerate(self.level):
            if self.n >> i & 1:
                r = h if r is None else sha(b"\1" + h + r)
        return sha(b"") if r is None else r


class Auditor:
    def __init__(self, vkey):
        self.origin, key_id, key = vkey.split("+", 2)
        self.key_id = bytes.fromhex(key_id)
        der = DER + base64.b64decode(key)[1:]
        self.pem = in_file(
            b"-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(der) + b"\n-----END PUBLIC KEY-----\n"
        )
        self.tree, self.seals = Tree(), 0

    def signed(self, body, sig):
        b, s = in_file(body), in_file(sig)
        cmd = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin", "-inkey", self.pem.name]
        cmd += ["-in", b.name, "-sigfile", s.name]
        return subprocess.run(cmd, capture_output=True, check=False).returncode == 0

    def leaf(self, key, line):
        salt = hashlib.blake2b(self.tree.n.to_bytes(8, "big"), key=key, digest_size=16).digest()
        text = base64.urlsafe_b64encode(salt)[:22]
        self.tree.add(sha(b'\0{"s":"' + text + b'",' + line[1:]))

    def data(self, extra, plain, length, at):
        first, lines, claimed = struct.unpack("<QII", extra[32:])
        assert (first, lines, claimed) == (self.tree.n, plain.count(b"\n"), length), f"hints at {at}"
        for line in plain.split(b"\n")[:-1]:
            self.leaf(extra[:32], line)

    def seal(self, note):
        text, sigs = note.rsplit(b"\n\n", 1)
        text += b"\n"
        origin, size, root = text.decode().split("\n")[:3]
        assert origin == self.origin, f"origin {origin} does not belong here"
        good = int(size) == self.tree.n and base64.b64decode(root) == self.tree.root()
        assert good, f"root mismatch at record {self.tree.n}"
        rows = [line.split() for line in sigs.decode().splitlines()]
        blobs = [base64.b64decode(r[2]) for r in rows if r[1] == self.origin]
        ours = [b[4:] for b in blobs if b[:4] == self.key_id]
        ok = ours and all(self.signed(text, s) for s in ours)
        assert ok, f"no signature by this key at record {self.tree.n}"
        self.seals += 1

    def member(self, data, at):
        """Checks the member at `at`, returns where the next one begins."""
        assert data[at : at + 10] == HEADER, f"not a member header at {at}"
        (xlen,) = struct.unpack_from("<H", data, at + 10)
        kind = data[at + 12 : at + 14]
        assert struct.unpack_from("<H", data, at + 14)[0] == xlen - 4, f"extra field at {at}"
        extra = data[at + 16 : at + 12 + xlen]
        z = zlib.decompressobj(31)
        plain = z.decompress(data[at:], 1 << 20)
        assert z.eof, f"torn member at {at}"
        end = len(data) - len(z.unused_data)
        if kind == b"TL":
            self.data(extra, plain, end - at, at)
        else:
            assert kind == b"TS" and not plain, f"unknown member at {at}"
            self.seal(extra)
        return end

    def segment(self, data):
        at = 0
        while at < len(data):
            at = self.member(data, at)


def main():
    auditor = Auditor(sys.argv[1])
    for name in sys.argv[2:]:
        with open(name, "rb") as f:
            auditor.segment(f.read())
    print("OK", auditor.tree.n, "records", auditor.seals, "seals", auditor.origin)


if __name__ == "__main__":
    main()
