# SPDX-License-Identifier: MIT
"""Members of a ledger's segments, made and taken apart for attacks. Relies on sound input: it checks nothing."""
import zlib

import verifier


def members(data):
    """The members of a sound segment; what stands behind them is the last element."""
    parts, at = [], 0
    while at < len(data):
        head = at + 16 + int.from_bytes(data[at + 14:at + 16], "little")
        inflate = zlib.decompressobj(-15)
        try:
            inflate.decompress(data[head:])
        except zlib.error:
            break
        if data[at:at + 10] != verifier.HEADER or not inflate.eof or len(inflate.unused_data) < 8:
            break
        end = len(data) - len(inflate.unused_data) + 8
        parts.append(data[at:end])
        at = end
    return parts + [data[at:]]


def frame(kind, field, payload, level=6, stream=None):
    if stream is None:
        deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
        stream = deflate.compress(payload) + deflate.flush()
    return (verifier.HEADER + (len(field) + 4).to_bytes(2, "little") + kind + len(field).to_bytes(2, "little") + field + stream
            + zlib.crc32(payload).to_bytes(4, "little") + len(payload).to_bytes(4, "little"))


def data_member(salt_key, first, payload, level=6, size=None):
    field = salt_key + first.to_bytes(8, "little") + payload.count(b"\n").to_bytes(4, "little")
    if size is None:
        size = len(frame(b"TL", field + b"0000", payload, level))
    return frame(b"TL", field + size.to_bytes(4, "little"), payload, level)


def open_data(member):
    """(salt key, first leaf, payload) of a data member."""
    return member[16:48], int.from_bytes(member[48:56], "little"), zlib.decompressobj(-15).decompress(member[64:])


def note_of(seal):
    return seal[16:16 + int.from_bytes(seal[14:16], "little")]


def reseal(note):
    return frame(b"TS", note, b"", stream=b"\3\0")
