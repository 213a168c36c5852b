# SPDX-License-Identifier: MIT
"""A recorder that lies: adds a run with every signature right to a ledger, by the keys that lie in it, and bends one thing
in it. What a stranger's changes never reach (the rules behind a valid signature) is tested so. Relies on a log whose
last block is a rotation, and on the page of the format only."""
import base64
import functools
import hashlib
import json
import os
import subprocess

import verifier
from framing import data_member, reseal

B, W = 10 ** 15, 1 << 60
RUN = "00000000000000aa"


@functools.lru_cache(maxsize=None)
def openssl(*args, data=b""):
    return subprocess.run(["openssl", *args], input=data, stdout=subprocess.PIPE, check=True).stdout


class Signer:
    def __init__(self, name, seed, kind=1):
        self.kind = kind
        self.file = os.path.join(verifier.scratch().name, "sign." + hashlib.sha256(seed).hexdigest()[:8])
        with open(self.file, "wb") as out:
            out.write(bytes.fromhex("302e020100300506032b657004220420") + seed)
        public = openssl("pkey", "-inform", "DER", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        self.name = name or "deedlog.invalid/id/" + hashlib.sha256(public).hexdigest()[:12]
        raw = bytes([kind]) + public
        self.id = hashlib.sha256(self.name.encode() + b"\n" + raw).digest()[:4]
        self.vkey = f"{self.name}+{self.id.hex()}+{base64.b64encode(raw).decode()}"

    def line(self, text):
        when = b""
        if self.kind == 4:
            when = (W // 10 ** 9).to_bytes(8, "big")
            text = b"cosignature/v1\ntime %d\n" % (W // 10 ** 9) + text
        path = self.file + ".text"
        with open(path, "wb") as out:
            out.write(text)
        signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-keyform", "DER", "-inkey", self.file, "-rawin", "-in", path],
                                   stdout=subprocess.PIPE, check=True).stdout
        return "— ".encode() + self.name.encode() + b" " + base64.b64encode(self.id + when + signature) + b"\n"


def dump(record):
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def block(tree, origin, lines, signers):
    """One sealed pair over the lines; the tree grows."""
    first, salt_key = tree.size, b"f" * 32
    for line in lines:
        tree.add(salt_key, line)
    text = f"{origin}\n{tree.size}\n{base64.b64encode(tree.root()).decode()}\n".encode()
    note = text + b"\n" + b"".join(signer.line(text) for signer in signers)
    return data_member(salt_key, first, b"".join(lines)) + reseal(note)


def segment_line(tree, origin, seq=0):
    return dump({"t": "segment", "v": 1, "origin": origin, "seq": seq, "size": tree.size,
                 "root": base64.b64encode(tree.root()).decode(), "frontier": [base64.b64encode(h).decode() for h in tree.stack]})


def numbered(record):
    return isinstance(record, bytes) and record or dump(record)


def add_run(top, events=(), late=(), seal=None, second=None, index=None, segment=None, tail=(), cosign=True):
    """events: lines behind `begin`; late: lines of the second block before `end`; seal, second, segment: change the seals (dict) and the segment line (bytes);
    index: changes the list of blocks (lists of records) that announce the run; tail: lines behind `end`."""
    with open(f"{top}/current/keys/index.key", "rb") as file:
        seed = file.read(32)
    with open(f"{top}/current/keys/identity.key", "rb") as file:
        identity = Signer(None, file.read(32), 4)
    log_id = os.readlink(f"{top}/current")
    origin = "deedlog.invalid/" + log_id
    log = verifier.Index(f"{top}/current/index", origin, verifier.Report())
    log.read()
    key, run_key = Signer(origin, seed), Signer(f"{origin}/run/{RUN}", b"r" * 32)
    tree, out, ranges = verifier.Tree(), b"", []
    lines = [(segment or (lambda line: line))(segment_line(tree, run_key.name)), dump({"t": "begin", "b": B, "argv": ["x"]})]
    lines += [numbered(event) for event in events]
    end = [numbered(line) for line in late] + [dump({"t": "end", "b": B + 100, "exit": 0})] + [numbered(line) for line in tail]
    for nth, more in enumerate((lines, end)):
        ranges = []
        for line in more:
            try:
                at = verifier.parse_line(line)[0].get("b")
                ranges += [at] if verifier.is_int(at) else []
            except verifier.Bad:
                pass
        record = {"t": "seal", "n": tree.size + len(more) + 1, "b": [min(ranges), max(ranges)] if ranges else None,
                  "at": [B + 200 + nth, W + 200 + nth], "lost": {}, "sampled_out": {}, "bytes": sum(map(len, more))}
        change = second if nth else seal
        record = change(record) if change else record
        more = more + ([numbered(record)] if record else [])
        out += block(tree, run_key.name, more, [run_key] + [identity] * (nth == 1 and cosign))
    about = {"run": RUN, "size": tree.size, "root": base64.b64encode(tree.root()).decode()}
    blocks = [[{"t": "run-start", "b": B, "w": W, "run": RUN, "vkey": run_key.vkey, "cmd": "x", "uid": 0, "boot": "x",
                "tier": "trace", "mode": "record", "policy": None, "bpf": None}],
              [{"t": "run-end", "b": B + 300, "w": W + 300, **about, "lost": {}, "exit": 0}]]
    if index:
        blocks = index(json.loads(json.dumps(blocks)))
    with open(f"{top}/current/index/000000.gz", "ab") as file:
        for lines in blocks:
            ends = any(isinstance(row, dict) and row["t"] in ("run-end", "run-orphan") for row in lines)
            file.write(block(log.tree, origin, [numbered(row) for row in lines], [key] + [identity] * ends))
    os.mkdir(f"{top}/current/runs/{RUN}")
    with open(f"{top}/current/runs/{RUN}/000000.gz", "wb") as file:
        file.write(out)


def event(text):
    return b'{"t":"open","b":%d,%s}\n' % (B + 1, text if isinstance(text, bytes) else text.encode())


def changed(**keys):
    return lambda record: {**record, **keys}


def both(one, **keys):
    """A change of the announcement: keys of the block's first record."""
    def change(blocks):
        blocks[one][0].update(keys)
        return blocks
    return change


LINES = {
    "nothing": b'"path":"/x"', "nothing else": b'"n":0', "empty object": b'"x":{}', "empty list": b'"x":[]', "empty string": b'"x":""',
    "true, false, null": b'"x":[true,false,null]', "blank": b'"x": 1', "blank before the comma": b'"x":1 ', "tab": b'"x":\t1',
    "key twice": b'"x":1,"x":1', "inner key twice": b'"x":{"a":1,"a":1}', "key twice, once escaped": b'"x\\\\":1,"x\\\\":1',
    "empty key": b'"":1', "inner empty key": b'"x":{"":1}', "comma at the end": b'"x":1,', "no value": b'"x":', "no colon": b'"x"',
    "depth 2": b'"x":[1]', "depth 3": b'"x":[[1]]', "depth 4": b'"x":[[[1]]]', "depth 5": b'"x":[[[[1]]]]', "depth 4 empty": b'"x":[[[]]]',
    "depth 5 empty": b'"x":[[[[]]]]', "depth 4 objects": b'"x":{"x":{"x":{}}}', "depth 5 objects": b'"x":{"x":{"x":{"x":1}}}',
    "64 keys": ",".join(f'"k{n}":1' for n in range(62)), "65 keys": ",".join(f'"k{n}":1' for n in range(63)),
    "64 inner keys": '"x":{%s}' % ",".join(f'"k{n}":1' for n in range(64)),
    "65 inner keys": '"x":{%s}' % ",".join(f'"k{n}":1' for n in range(65)),
    "2^63-1": '"x":%d' % (2 ** 63 - 1), "2^63": '"x":%d' % 2 ** 63, "-2^63+1": '"x":%d' % (1 - 2 ** 63), "-2^63": '"x":%d' % -2 ** 63,
    "2^64": '"x":%d' % 2 ** 64, "-0": b'"x":-0', "00": b'"x":00', "01": b'"x":01', "-1": b'"x":-1', "+1": b'"x":+1', "fraction": b'"x":1.5',
    "exponent": b'"x":1e3', "minus alone": b'"x":-', "word": b'"x":True', "NaN": b'"x":NaN',
    "escaped slash": b'"x":"\\/"', "escaped n": b'"x":"\\n"', "escaped newline": b'"x":"\\u000a"', "upper case": b'"x":"\\u000A"',
    "escaped quote": b'"x":"\\"\\\\"', "escaped quote as u": b'"x":"\\u0022"', "escaped letter": b'"x":"\\u0041"', "NUL": b'"x":"\\u0000"',
    "raw control": b'"x":"\x01"', "raw DEL": b'"x":"\x7f"', "escaped DEL": b'"x":"\\u007f"', "raw C1": '"x":"\x85"', "escaped C1": b'"x":"\\u0085"',
    "raw soft hyphen": '"x":"\xad"', "raw U+061C": '"x":"\u061c"', "raw U+180E": '"x":"\u180e"', "raw U+200B": '"x":"\u200b"', "raw U+200F": '"x":"\u200f"',
    "escaped U+200B": b'"x":"\\u200b"', "raw U+2028": '"x":"\u2028"', "raw U+202E": '"x":"\u202e"', "raw U+202F": '"x":"\u202f"',
    "escaped U+202F": b'"x":"\\u202f"', "raw U+2060": '"x":"\u2060"', "raw U+206F": '"x":"\u206f"', "raw U+2070": '"x":"\u2070"', "raw BOM": '"x":"\ufeff"',
    "U+FFFF": '"x":"\uffff"', "U+10FFFF": '"x":"\U0010ffff"', "U+FFFE": '"x":"\ufffe"', "raw U+E0001": '"x":"\U000e0001"', "bad UTF-8": b'"x":"\xff"',
    "overlong": b'"x":"\xc0\xaf"', "surrogate": b'"x":"\xed\xa0\x80"', "escaped surrogates": b'"x":"\\ud83d\\ude00"', "beyond Unicode": b'"x":"\xf4\x90\x80\x80"',
    "cut UTF-8": b'"x":"\xe2\x80"', "escape in a key": b'"\\u001b":1', "letter escaped in a key": b'"\\u0041":1', "raw control in a key": b'"\x01":1',
    "s": b'"s":1', "h": b'"h":1', "inner s": b'"x":{"s":1,"h":2}', "second t": b'"t":"x"', "second b": b'"b":1',
    "b64": b'"x_b64":"/w=="', "b64 of text": b'"x_b64":"QQ=="', "b64 not base64": b'"x_b64":"?"', "b64 free bits": b'"x_b64":"/x=="',
    "b64 no padding": b'"x_b64":"/w"', "b64 number": b'"x_b64":1', "b64 list": b'"x_b64":["/w==","QQ=="]', "b64 and plain": b'"x":"a","x_b64":"/w=="',
    "unterminated": b'"x":"', "8192 bytes": b'"x":"' + b"y" * (8192 - 44) + b'"', "8193 bytes": b'"x":"' + b"y" * (8193 - 44) + b'"',
    "more last, not continued": b'"x":"a","more":1', "more 0": b'"x":"a","more":0', "more -1": b'"x":"a","more":-1', "more first": b'"more":1,"x":"a"',
    "more a string": b'"x":"a","more":"1"',
}
WHOLE = {
    "empty line": b"\n", "empty object": b"{}\n", "list": b"[]\n", "no t": b'{"b":1}\n', "t second": b'{"b":1,"t":"open"}\n', "t number": b'{"t":1,"b":1}\n',
    "t empty": b'{"t":"","b":1}\n', "t alone": b'{"t":"x"}\n', "b string": b'{"t":"open","b":"1"}\n', "b null": b'{"t":"open","b":null}\n',
    "b third": b'{"t":"open","x":1,"b":1}\n', "b negative": b'{"t":"open","b":-1}\n', "unknown kind": b'{"t":"nobody-knows","b":1}\n',
    "carriage return": b'{"t":"open","b":1}\r\n', "two objects": b'{"t":"open","b":1}{}\n', "blank first": b' {"t":"open","b":1}\n',
    "begin again": {"t": "begin", "b": B}, "end early": {"t": "end", "b": B}, "run-end": {"t": "run-end", "b": B}, "genesis": {"t": "genesis", "b": B},
    "seal": {"t": "seal", "n": 3, "b": None, "at": [0, 0], "lost": {}, "sampled_out": {}, "bytes": 0}, "segment": {"t": "segment", "v": 1},
    "stray more": {"t": "more", "r": 1, "k": "argv", "i": 1, "of": 1, "v": ["y"]}, "clock": {"t": "clock", "b": B, "old": 1, "new": 2, "delta": 10 ** 9},
    "clock, empty": {"t": "clock", "b": B}, "gap": {"t": "gap", "b": B, "why": "ENOSPC", "from": 1, "to": 2, "lost": {}},
    "gap, EIO": {"t": "gap", "b": B, "why": "EIO", "from": 1, "to": 2, "lost": {}, "leaves": [1, 2]}, "gap, empty": {"t": "gap", "b": B},
    "gap, bad why": {"t": "gap", "b": B, "why": "x", "from": 1, "to": 2, "lost": {}},
}
HEAD = {"t": "exec", "b": B + 1, "argv": ["a"], "name": "n", "more": 2}
MORE = [{"t": "more", "r": 2, "k": "argv", "i": 1, "of": 2, "v": ["b"]}, {"t": "more", "r": 2, "k": "argv", "i": 2, "of": 2, "c": 1, "v": ["c", "d"]}]
JOINED = {
    "whole": [HEAD] + MORE, "one missing": [HEAD] + MORE[:1], "other order": [HEAD] + MORE[::-1], "a line between": [HEAD, MORE[0], event(b'"x":1'), MORE[1]],
    "one too many": [HEAD] + MORE + MORE[1:], "wrong r": [HEAD, {**MORE[0], "r": 1}, MORE[1]], "wrong k": [HEAD, {**MORE[0], "k": "zz"}, MORE[1]],
    "k of a number": [HEAD, {**MORE[0], "k": "b"}, MORE[1]], "wrong of": [HEAD, {**MORE[0], "of": 3}, MORE[1]], "v a string": [HEAD, {**MORE[0], "v": "b"}, MORE[1]],
    "v a number": [HEAD, {**MORE[0], "v": 1}, MORE[1]], "c 0": [HEAD, MORE[0], {**MORE[1], "c": 0, "v": MORE[1]["v"]}],
    "c 2": [HEAD, MORE[0], {"t": "more", "r": 2, "k": "argv", "i": 2, "of": 2, "c": 2, "v": ["c"]}], "more keys": [HEAD, MORE[0], {**MORE[1], "x": 1}],
    "two keys": [HEAD, MORE[0], {**MORE[0], "i": 2, "k": "name", "v": "b"}], "name first": [HEAD, {**MORE[0], "k": "name", "v": "b"}, {**MORE[0], "i": 2}],
    "k is t": [HEAD, {**MORE[0], "k": "t", "v": "b"}, MORE[1]], "c on a string": [HEAD, MORE[0], {"t": "more", "r": 2, "k": "name", "i": 2, "of": 2, "c": 1, "v": "b"}],
    "v empty": [HEAD, {**MORE[0], "v": []}, MORE[1]],
    "256 KiB": [{**HEAD, "more": 40}] + [{**MORE[0], "i": n + 1, "of": 40, "v": ["y" * 8000]} for n in range(40)],
}


def cases():
    for name, text in LINES.items():
        yield "line " + name, {"events": [event(text)]}
    for name, line in WHOLE.items():
        yield "line " + name, {"events": [line]}
        yield "behind end " + name, {"tail": [line]}
    for name, lines in JOINED.items():
        yield "record " + name, {"events": lines}
        yield "record over a seal " + name, {"events": lines[:1], "late": lines[1:]}
    for name, keys in {"n": {"n": 4}, "bytes": {"bytes": 1}, "b": {"b": [B, B + 1]}, "b null": {"b": None}, "at short": {"at": [1]}, "at null": {"at": None},
                       "lost null": {"lost": None}, "sampled null": {"sampled_out": None}, "lost list": {"lost": []}, "more keys": {"x": 1},
                       "lost": {"lost": {"ring": {"file": 1}}}, "lost zero": {"lost": {"ring": {"file": 0}}}, "lost negative": {"lost": {"ring": {"file": -1}}},
                       "lost flat": {"lost": {"ring": 1}}, "sampled": {"sampled_out": {"file": 1}}, "sampled zero": {"sampled_out": {"file": 0}},
                       "boot later": {"at": [B + 999, W]}, "wall later": {"at": [B, W + 999]}, "wall much later": {"at": [B, W + 10 ** 9]}, "at before its events": {"at": [1, 1]}}.items():
        yield "first seal " + name, {"seal": changed(**keys)}
        yield "last seal " + name, {"second": changed(**keys)}
        yield "last seal and end " + name, {"second": changed(**keys), "index": both(1, lost=keys.get("lost", {}))}
    yield "wall later, clock", {"seal": changed(at=[B, W + 999]), "late": [{"t": "clock", "b": B + 1, "old": 2, "new": 1, "delta": -999}]}
    yield "wall much later, clock", {"seal": changed(at=[B, W + 10 ** 9]), "late": [{"t": "clock", "b": B + 1, "old": 2, "new": 1, "delta": -999}]}
    yield "lost, then null", {"seal": changed(lost={"ring": {"file": 1}}), "second": changed(lost=None), "index": both(1, lost=None)}
    yield "no seal line", {"seal": lambda record: None}
    yield "no last seal line", {"second": lambda record: None}
    yield "end not signed by the identity", {"cosign": False}
    for name, edit in {"format 2": (b'"v":1', b'"v":2'), "format 0": (b'"v":1', b'"v":0'), "other origin": (b"/run/", b"/rum/"), "seq 1": (b'"seq":0', b'"seq":1'),
                       "size 1": (b'"size":0', b'"size":1'), "more keys": (b"}\n", b',"x":1}\n'), "frontier": (b"[]", b'["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]'),
                       "root": (b"47D", b"48D"), "blank": (b'"v":', b'"v": ')}.items():
        yield "segment " + name, {"segment": lambda line, edit=edit: line.replace(*edit)}
    start, end = {"b": B, "w": W}, {"b": B + 300, "w": W + 300}
    changes = {
        "start twice": lambda blocks: [blocks[0]] + blocks, "end twice": lambda blocks: blocks + [blocks[1]], "end first": lambda blocks: blocks[::-1],
        "in one block": lambda blocks: [blocks[0] + blocks[1]], "no end": lambda blocks: blocks[:1], "no start": lambda blocks: blocks[1:],
        "end and orphan": lambda blocks: blocks + [[{**blocks[1][0], "t": "run-orphan", "torn": 0, "torn_sha256": "", "lost": None}]],
        "orphan": lambda blocks: [blocks[0], [{"t": "run-orphan", **end, "run": RUN, "size": blocks[1][0]["size"], "root": blocks[1][0]["root"], "torn": 0,
                                             "torn_sha256": "", "boot_then": "x", "boot_now": "x", "lost": None}]],
        "head after": lambda blocks: blocks + [[{**blocks[1][0], "t": "head"}]], "head at the end": lambda blocks: [blocks[0], [{**blocks[1][0], "t": "head"}], blocks[1]],
        "head too far": lambda blocks: [blocks[0], [{**blocks[1][0], "t": "head", "size": 99}], blocks[1]],
        "head no seal": lambda blocks: [blocks[0], [{**blocks[1][0], "t": "head", "size": 2}], blocks[1]],
        "head too far, no end": lambda blocks: [blocks[0], [{**blocks[1][0], "t": "head", "size": 99}]],
        "head of nobody": lambda blocks: blocks + [[{**blocks[1][0], "t": "head", "run": "0" * 16}]],
        "unknown kind": lambda blocks: blocks + [[{"t": "nobody-knows", **start}]], "unknown kind without b": lambda blocks: blocks + [[{"t": "nobody-knows"}]],
        "without w": lambda blocks: blocks + [[{"t": "nobody-knows", "b": B}]], "w first": lambda blocks: blocks + [[{"t": "nobody-knows", "w": W, "b": B}]],
        "seal line": lambda blocks: blocks + [[{"t": "seal", **start}]], "segment line": lambda blocks: blocks + [[{"t": "segment", **start}]],
        "genesis again": lambda blocks: blocks + [[{"t": "genesis", **start}]], "rotate without key": lambda blocks: blocks + [[{"t": "rotate", **start, "epoch": 1}]],
        "restart": lambda blocks: blocks + [[{"t": "restart", **start, "boot": "x", "version": "x", "config": None, "torn": 0, "torn_sha256": ""}]],
        "restart, torn": lambda blocks: blocks + [[{"t": "restart", **start, "boot": "x", "version": "x", "config": None, "torn": 7, "torn_sha256": "0" * 64}]],
        "restart, empty": lambda blocks: blocks + [[{"t": "restart", **start}]],
        "line not canonical": lambda blocks: blocks + [[b'{"t":"x","b":1,"w":1,"x": 1}\n']], "time falls": lambda blocks: blocks + [[{"t": "x", "b": 1, "w": 1}]],
        "end size": both(1, size=3), "end root": both(1, root="48DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="), "end root short": both(1, root="48DE"),
        "end lost": both(1, lost={"ring": {"file": 1}}), "end lost null": both(1, lost=None), "end size a string": both(1, size="3"),
        "end signal": both(1, exit=None, signal=9), "start other key": both(0, vkey="x+00000000+AA=="), "start no key": both(0, vkey=None),
        "start name": both(0, run="00000000000000AA"), "start short name": both(0, run="aa"), "start without cmd": both(0, cmd=None),
        "rotate to a stranger": lambda blocks: blocks + [[{"t": "rotate", **start, "epoch": 1, "vkey": blocks[0][0]["vkey"]}]],
        "rotate in the middle": lambda blocks: blocks + [[{"t": "rotate", **start, "epoch": 1, "vkey": Signer("deedlog.invalid/x", b"x" * 32).vkey}, {"t": "x", **start}]],
    }
    for name, change in changes.items():
        yield "index " + name, {"index": change}
