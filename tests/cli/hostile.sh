#!/bin/bash
# SPDX-License-Identifier: MIT
# What a hostile tool hides from a look at the end of a call, by a second thread
# or a late permission, and what it makes too long to keep, is recorded or
# counted; never is such a run called complete.
. "$(dirname "$0")/../lib/tap.sh"
need_root
export DEEDLOG_DIR=$T/ledger

# shellcheck disable=SC2012
newest() {
	zcat "$(ls -td "$T"/ledger/current/runs/*/ | head -n 1)"*.gz
}

cat >closed.py <<'P'
import os, threading, time
fd = os.open("big", os.O_RDONLY)
buf = bytearray(256 << 20)
reader = threading.Thread(target=os.preadv, args=(fd, [buf], 0))
reader.start()
time.sleep(0.01)
os.close(fd)
reader.join()
P
truncate -s 256M big
"$BIN" run -q -- python3 closed.py 2>/dev/null
if [ "$(newest | jq -r 'select(.t=="begin").tier')" = trace ]; then
	is "a read whose descriptor was closed meanwhile is counted" 1 \
		"$(newest | jq 'select(.t=="end").lost.fault.file')"
else
	is "a read whose descriptor was closed meanwhile is recorded" 1 \
		"$(newest | jq -r --arg p "$T/big" 'select(.t=="read" and .path==$p).t' | wc -l)"
fi

cat >protect.py <<'P'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
fd = os.open("shared", os.O_RDWR)
at = libc.mmap(None, 4096, 1, 1, fd, 0)
assert libc.mprotect(at, 4096, 3) == 0
ctypes.memset(at, 65, 10)
P
truncate -s 4096 shared
"$BIN" run -q -- python3 protect.py
is "a shared mapping that becomes writable is a write" 1 \
	"$(newest | jq --arg p "$T/shared" 'select(.t=="write" and .path==$p).mapped')"
# 60 kB of control bytes are 360 kB once escaped: more than a record may have.
ctl=$(head -c 60000 /dev/zero | tr '\0' '\1')
is "arguments that outgrow a record" "0" "$("$BIN" run -q -- true "$ctl"; echo $?)"
is "... are cut, the exec is there" "1 true" \
	"$(newest | jq -r 'select(.t=="exec") | "\(.cut) \(.argv[0])"' | tail -n 1)"
is "... and counted, in begin and exec" 2 "$(newest | jq 'select(.t=="end").lost.cut.task')"

tap_done
