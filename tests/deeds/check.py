#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
check.py [--label TEXT] [--plain FILE] TIER DID LOG - compares what the driver
did with what the log says.

DID holds the driver's lines of the recorded run, LOG is a ledger folder or a
file of JSON lines, --plain the driver's lines of a run without a tracer: every
answer must be the same. Prints TAP, one point per deed:

  ok       the log holds the records of deeds.tsv and no others
  not ok   "missing": a demanded record is not there; "invented": a record that
           nothing of the deed explains; "answer": the tracer changed the answer
  SKIP     the kernel has no such act, or the tier does not show it

and last how many records are not yet demanded. Exit status 1 if a point failed.
Relies on times: the kernel stamps each event, the driver prints when its act
began and ended, both by CLOCK_BOOTTIME.
"""
import argparse
import base64
import glob
import gzip
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DID = re.compile(r"# did: \d+ (\S+) pid=(\d+) from=(\d+) until=(\d+) "
                 r"a=(\d+):(\d+) b=(\d+):(\d+) .*-> (\S+)")
SKIP = re.compile(r"# skip: \d+ (\S+): (.*)")

# Answers that mean "this kernel or file system has no such act".
ABSENT = {"ENOSYS", "EINVAL", "EOPNOTSUPP", "EAFNOSUPPORT", "EBADF", "ENOTTY",
          "EPERM", "EACCES", "ENOENT", "ETIMEDOUT"}
MANY = {"read", "write", "send"}

# A kernel that may preempt a program (7.x) skips it for other tasks meanwhile, except LSM
# programs. What is lost then is counted as "busy", so up to this many deeds may miss some.
MAX_BUSY_DEEDS = 5
CAN_BE_SKIPPED = ("fmod", "trace")
EXEC_BACKGROUND = {"open", "read"}  # loader, libraries, locale


def text(e, key):
    """A string field; bytes that are not UTF-8 stand in <key>_b64."""
    if key + "_b64" in e:
        return os.fsdecode(base64.b64decode(e[key + "_b64"]))
    return e.get(key)


class Deed:
    """One "# did:" line, and what its names stand for."""

    def __init__(self, m, place):
        self.name, self.answer = m.group(1), m.group(9)
        self.pid, self.start, self.end = (int(m.group(i)) for i in (2, 3, 4))
        self.identity = {"a": (int(m.group(5)), int(m.group(6))),
                         "b": (int(m.group(7)), int(m.group(8)))}
        self.place = dict(place, self=m.group(2))

    def path(self, name):
        """None: anything goes; '': no name."""
        if name == "*":
            return None
        if name == "-":
            return ""
        for word in ("hello", "sh", "loader", "module", "top", "outsider", "self"):
            name = re.sub(rf"\b{word.upper()}\b", self.place.get(word, "?"), name)
        if name.startswith("/"):
            return name
        folder = os.path.join(self.place["work"], "d")
        return folder if name == "." else os.path.join(folder, name)


# ---- one record against one event --------------------------------------------

def has_path(e, deed, name, key="path"):
    want = deed.path(name)
    return want is None or (text(e, key) or "") == want


def has_identity(e, deed, name, prefix=""):
    if name not in deed.identity or e.get("unproven"):
        return True
    return (e.get(prefix + "dev"), e.get(prefix + "ino")) == deed.identity[name]


def on_name(e, deed, args):
    return has_path(e, deed, args[0]) and has_identity(e, deed, args[0])


def on_two(e, deed, args):  # A -> B [over C]
    if not on_name(e, deed, args) or not has_path(e, deed, args[2], "to"):
        return False
    return len(args) < 5 or has_identity(e, deed, args[4], "over_")


def on_symlink(e, deed, args):
    return has_path(e, deed, args[0]) and text(e, "target") == args[2]


def on_open(access):
    return lambda e, deed, args: e.get("access") == access and on_name(e, deed, args)


def on_chmod(e, deed, args):
    return on_name(e, deed, args) and e.get("mode", -1) & 0o7777 == int(args[1], 8)


def on_chown(e, deed, args):
    owner = f"{e.get('owner')}:{e.get('group')}"
    return on_name(e, deed, args) and owner == args[1]


def on_peer(e, _, args):
    seen = [e.get("proto", "").replace(" ", "_"), text(e, "addr"), str(e.get("port"))]
    return all(w == "*" or s in w.split("|") for w, s in zip(args, seen))


def on_exec(e, deed, args):
    if not has_path(e, deed, args[0]):
        return False
    for extra in args[1:]:
        key, _, value = extra.partition("=")
        if key == "fileless" and not e.get("fileless"):
            return False
        if key == "uid" and e.get("uid") != int(value):
            return False
        if key == "scripts" and e.get("scripts") != [deed.path(s) for s in value.split(",")]:
            return False
    return "scripts" not in e or any(a.startswith("scripts=") for a in args)


def on_exit(e, _, args):
    return e.get("code") == int(args[0])


def on_escape(e, deed, args):
    return e.get("cgroup") in (deed.path(args[0]), deed.place[args[0].lower() + "id"])


# word of the table -> (kind in the log, test)
WORDS = {
    "open-r": ("open", on_open("r")), "open-w": ("open", on_open("w")),
    "open-rw": ("open", on_open("rw")),
    "symlink": ("symlink", on_symlink), "link": ("link", on_two),
    "rename": ("rename", lambda e, d, a: not e.get("exchange") and on_two(e, d, a)),
    "exchange": ("rename", lambda e, d, a: e.get("exchange") and on_two(e, d, a)),
    "chmod": ("chmod", on_chmod), "chown": ("chown", on_chown),
    "connect": ("connect", on_peer), "bind": ("bind", on_peer), "send": ("send", on_peer),
    "exec": ("exec", on_exec), "exit": ("exit", on_exit), "escape": ("escape", on_escape),
    "fork": ("fork", lambda e, d, a: True),
}
for word in "read write truncate create unlink mkdir rmdir mknod".split():
    WORDS[word] = (word, on_name)
KINDS = {kind for kind, _ in WORDS.values()}


class Record:
    """One entry of a list in the table."""

    def __init__(self, source, unproven):
        self.source = source
        self.demanded = not source.startswith("(")
        body = source.strip("()")
        self.unproven = unproven or body.startswith("~")
        word, *self.args = body.lstrip("~").split()
        self.kind, self.test = WORDS[word]
        self.many = self.kind in MANY
        self.hits = 0

    def takes(self, e, deed):
        if e["t"] != self.kind or (self.hits and not self.many):
            return False
        if bool(e.get("unproven")) != self.unproven or not self.test(e, deed, self.args):
            return False
        self.hits += 1
        return True


class Row:
    def __init__(self, fields):
        (self.group, self.name, self.record, self.later,
         self.refused_at, self.answer, self.trace) = fields

    def expected(self, tier):
        if tier != "trace" or self.trace in ("=", "~"):
            source, unproven = self.record, tier == "trace" and self.trace == "~"
        elif self.trace in ("blind", "counted"):
            source, unproven = "-", False
        else:
            source, unproven = self.trace, False
        if source == "-":
            return []
        return [Record(s, unproven) for s in source.split("; ")]

    def is_unseen(self, tier):
        return tier == "trace" and self.trace in ("blind", "counted")


def table():
    with open(os.path.join(HERE, "deeds.tsv"), encoding="utf-8") as f:
        rows = [Row(line.rstrip("\n").split("\t")) for line in f
                if line.strip() and not line.startswith("#")]
    return {r.name: r for r in rows}


# ---- reading -------------------------------------------------------------------

def deeds_of(name):
    """Deeds and skipped names of the driver's lines."""
    place, deeds, skipped, ended = {}, [], {}, False
    with open(name, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            if line.startswith("# place: "):
                place = dict(w.split("=", 1) for w in line[9:].split())
            elif m := DID.match(line):
                deeds.append(Deed(m, place))
            elif m := SKIP.match(line):
                skipped[m.group(1)] = m.group(2)
            ended |= line.startswith("# end: ") and "sandbox" not in line
    if not ended:
        sys.exit(f"check.py: {name}: the driver did not come to its end")
    return deeds, skipped


def events_of(log):
    names = [log]
    if os.path.isdir(log):
        pattern = os.path.join(glob.escape(log), "**", "runs", "**", "*.gz")
        names = sorted({os.path.realpath(n) for n in glob.glob(pattern, recursive=True)})
    for name in names:
        opener = gzip.open if name.endswith(".gz") else open
        with opener(name, "rb") as f:
            for line in f.read().splitlines():
                e = json.loads(line)
                if isinstance(e, dict) and "t" in e:
                    yield e


class Log:
    def __init__(self, events):
        self.by_pid, self.children, self.lost = {}, {}, {}
        for e in events:
            if e["t"] in KINDS:
                self.by_pid.setdefault(e.get("pid"), []).append(e)
            if e["t"] == "fork":
                self.children.setdefault(e["pid"], []).append(e["child"])
            if e["t"] == "end":
                self.lost = e.get("lost", {})

    def family(self, pid):
        found = [pid]
        for p in found:
            for child in self.children.get(p, []):
                if child not in found:
                    found.append(child)
        return found

    def of(self, deed):
        """Events of the act, in order of time."""
        events = [e for p in self.family(deed.pid) for e in self.by_pid.get(p, [])
                  if deed.start <= e["b"] <= deed.end]
        return sorted(events, key=lambda e: e["b"])


# ---- judging -------------------------------------------------------------------

def is_background(e, deed, executed):
    """What a new program reads to get going is not listed."""
    return (e["pid"] in executed and e["t"] in EXEC_BACKGROUND
            and e.get("access", "r") == "r" and e["pid"] != deed.pid)


def compare(deed, records, events):
    """Sentences about what is wrong."""
    executed = {e["pid"] for e in events if e["t"] == "exec"}
    wrong = []
    for e in events:
        if any(r.takes(e, deed) for r in records) or is_background(e, deed, executed):
            continue
        wrong.append("invented: " + json.dumps(e))
    wrong += ["missing: " + r.source for r in records if r.demanded and not r.hits
              and deed.answer == "ok"]
    return wrong


def is_counted_loss(wrong, log, tier):
    """Only missing records, and the run says that programs were skipped."""
    return (tier in CAN_BE_SKIPPED and log.lost.get("busy") and wrong
            and all(w.startswith("missing: ") for w in wrong))


class Tap:
    def __init__(self, label):
        self.label, self.n, self.failed = label, 0, 0

    def point(self, name, wrong=(), skip=None):
        self.n += 1
        self.failed += bool(wrong)
        tail = f" # SKIP {skip}" if skip and not wrong else ""
        print(f"{'not ok' if wrong else 'ok'} {self.n} - {self.label} {name}{tail}")
        for sentence in wrong:
            print(f"#   {sentence}")


def check_losses(tap, log, tier, counted):
    lost = {cause: n for cause, n in log.lost.items() if n}
    wrong = []
    if tier == "trace" and counted and not lost.pop("abi", None):
        wrong.append(f"{counted} acts were not decoded, but none was counted")
    if tier == "trace":
        lost.pop("abi", None)
    if tier in CAN_BE_SKIPPED:
        lost.pop("busy", None)
    wrong += [f"lost: {cause} {n}" for cause, n in lost.items()]
    tap.point("nothing is lost but what this tier may lose", wrong)


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--label", default="")
    p.add_argument("--plain")
    p.add_argument("tier", choices=["lsm", "fmod", "trace"])
    p.add_argument("did")
    p.add_argument("log")
    o = p.parse_args(argv)

    rows, log = table(), Log(events_of(o.log))
    deeds, skipped = deeds_of(o.did)
    plain = {d.name: d.answer for d in deeds_of(o.plain)[0]} if o.plain else {}
    tap = Tap((o.label + " " + o.tier).strip())
    counted = busy = 0
    for deed in deeds:
        row = rows.get(deed.name)
        if not row:
            tap.point(deed.name, ["no row in deeds.tsv"])
            continue
        wrong = compare(deed, row.expected(o.tier), log.of(deed))
        if plain.get(deed.name, deed.answer) != deed.answer:
            wrong.append(f"answer: {deed.answer}, without a tracer {plain[deed.name]}")
        elif deed.answer != "ok" and deed.answer not in ABSENT:
            wrong.append(f"answer: {deed.answer}")
        skip = None
        if deed.answer != "ok":
            skip = f"not on this kernel: {deed.answer}"
        elif row.is_unseen(o.tier):
            skip = f"tier trace: {row.trace}"
            counted += row.trace == "counted"
        elif busy < MAX_BUSY_DEEDS and is_counted_loss(wrong, log, o.tier):
            busy += 1
            wrong, skip = [], "lost, and counted as busy"
        tap.point(deed.name, wrong, skip)
    for name, why in skipped.items():
        tap.point(name, skip=why)
    check_losses(tap, log, o.tier, counted)
    later = sum(rows[d.name].later != "-" for d in deeds if d.name in rows)
    print(f"1..{tap.n}\n# not yet demanded: a record of {later} deeds")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
