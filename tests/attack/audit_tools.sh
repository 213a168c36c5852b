#!/bin/bash
# SPDX-License-Identifier: MIT
# audit_tools.sh: what `deedlog export` writes is taken by the tools that it is made for, and refused
# by them once a byte is another one.
. "$(dirname "$0")/../lib/tap.sh"
mklog=$(dirname "$BIN")/tests/attack/mklog
have() { command -v "$1" >/dev/null; }

"$mklog" L -r 2 -n 700 -b 300 -l 200 >runs
run=$(sed -n '1s/run //p' runs)
ok "export --audit" "$BIN" export --dir L --audit a "$run"
cd a || exit
principal=$(cut -d' ' -f1 allowed_signers)
sed 's/^5$/6/' checkpoint >changed
cmp -s checkpoint changed && sed 's/^8$/9/' checkpoint >changed

ok "gzip" gzip -t run/000000.gz
is "jq reads every record" "$(zcat run/000000.gz | grep -c .)" "$(zcat run/000000.gz | jq -c . | grep -c .)"

openssl_says() { # KEY BODY
	openssl pkeyutl -verify -pubin -inkey "$1" -rawin -in "$2" -sigfile "$3"
}
ok "openssl: the index key's signature" openssl_says index.pem checkpoint.body checkpoint.body.rawsig
ok "openssl: the identity's co-signature" openssl_says identity.pem cosignature.body cosignature.body.rawsig
is "openssl: not the other way round" 1 "$(openssl_says index.pem cosignature.body cosignature.body.rawsig >/dev/null 2>&1; echo $?)"

if have minisign; then
	like "minisign" 'Trusted comment: origin:deedlog.invalid/.* size:8 time:' \
		"$(minisign -V -p minisign.pub -m checkpoint -x checkpoint.minisig 2>&1)"
	is "minisign refuses another file" 1 "$(minisign -V -p minisign.pub -m changed -x checkpoint.minisig >/dev/null 2>&1; echo $?)"
else
	skip minisign "not installed"
fi
if have signify-openbsd; then
	like signify 'Signature Verified' "$(signify-openbsd -V -p signify.pub -m checkpoint -x checkpoint.sig 2>&1)"
	is "signify refuses another file" 1 "$(signify-openbsd -V -p signify.pub -m changed -x checkpoint.sig >/dev/null 2>&1; echo $?)"
else
	skip signify "not installed"
fi
ssh_says() { ssh-keygen -Y verify -f allowed_signers -I "$principal" -n "$1" -s checkpoint.sshsig <"$2"; }
if have ssh-keygen; then
	ok "ssh-keygen" ssh_says checkpoint@deedlog checkpoint
	is "ssh-keygen refuses another file" 255 "$(ssh_says checkpoint@deedlog changed >/dev/null 2>&1; echo $?)"
	is "ssh-keygen refuses another purpose" 255 "$(ssh_says file checkpoint >/dev/null 2>&1; echo $?)"
else
	skip ssh-keygen "not installed"
fi
cd .. || exit

ok "python and openssl: the whole run" python3 "$TOP/tests/attack/audit_run.py" "$(cat a/run.vkey)" a/run/000000.gz

# Go's module in Debian's place, without a network
gopath=/usr/share/gocode
build_gocheck() {
	mkdir -p go/src/gocheck && cp "$TOP/tests/attack/gocheck/main.go" go/src/gocheck/ &&
		GO111MODULE=off GOFLAGS="" GOPATH=$T/go:$gopath GOCACHE=$T/cache go build -o gocheck gocheck
}
tiles() { # LEAVES wanted, OPTIONS of mklog: tiles of a run of that size
	rm -rf S t
	"$mklog" S -n "$1" -b 1000 >log
	"$BIN" export --dir S --tlog-tiles t "$(sed 's/run //' log)" &&
		"$BIN" export --dir S --audit b "$(sed 's/run //' log)" && ./gocheck "$(cat b/run.vkey)" t
}
if have go && [ -d "$gopath/src/golang.org/x/mod/sumdb" ]; then
	ok "Go's note and tlog are built" build_gocheck
	"$BIN" prove --dir L -o p "$run" 77 >/dev/null
	"$BIN" export --dir L --tlog-tiles t "$run"
	like "Go: tiles, and a proof in their tree" '^OK 7' \
		"$(./gocheck "$(cat a/run.vkey)" t p/event.json p/event.tlog-proof 2>&1)"
	printf x | dd of=t/tile/0/001 bs=1 seek=99 conv=notrunc 2>/dev/null
	like "Go: a changed tile is refused" '^BAD' "$(./gocheck "$(cat a/run.vkey)" t 2>&1)"
	for n in 1 250 251 252 253 506 507 508 509 5000; do
		like "Go: a run of $n events" '^OK ' "$(tiles "$n" 2>&1)"
	done
	"$BIN" export --dir L --tlog-tiles i
	like "Go: tiles of the index" '^OK 8$' "$(./gocheck "$(cat a/index.vkey)" i 2>&1)"
else
	skip "Go's note and tlog" "no golang-go and golang-golang-x-mod-dev"
fi

"$BIN" redact --dir L "$run" 5 >/dev/null
like "tiles of a redacted run are refused" 'was redacted' "$("$BIN" export --dir L --tlog-tiles r "$run" 2>&1)"

duckdb=${DEEDLOG_CACHE:-$HOME/.cache/deedlog}/npm/node_modules/@duckdb/node-api
if [ -d "$duckdb" ]; then
	is "DuckDB reads a run as a table" "$(zcat a/run/000000.gz | jq -r .t | sort | uniq -c | awk '{print $2, $1}')" \
		"$(node "$TOP/tests/attack/duckdb.mjs" "$duckdb" "$PWD/a/run/*.gz")"
else
	skip DuckDB "@duckdb/node-api is not installed"
fi
tap_done
