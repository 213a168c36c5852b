#!/bin/bash
# SPDX-License-Identifier: MIT
# Keys on the command line: shown, exported to other tools, replaced, pinned; and a log that goes on as a new one.
. "$(dirname "$0")/../lib/tap.sh"
need_root

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
log=$dir/ledger
key() {
	"$BIN" key "$@" --dir "$log"
}
word() { # WORD: its vkey in `key show`
	key show | awk -v w="$1" '$1 == w { print $2 }'
}

is "no ledger, no keys" 2 "$(key show 2>/dev/null; echo $?)"
is "a rotation makes no ledger" "2 no" "$(key rotate 2>/dev/null; echo $? "$([ -e "$log" ] && echo made || echo no)")"
"$BIN" init --dir "$log"
id=$(readlink "$log/current")
like "the genesis key has the name of the log" "^deedlog.invalid/$id+" "$(word genesis)"
is "it is the first index key" "$(word genesis)" "$(word index)"
is "what is exported is what is pinned" "$(word genesis)" "$(key export)"
is "nothing secret is shown" 0 "$(key show | grep -c "$(head -c 32 "$log/current/keys/index.key" | base64 -w 0)")"

key export --format pem >"$dir/pem"
ok "openssl reads the PEM" openssl pkey -pubin -in "$dir/pem" -noout
is "with the identity's key in it" "$(word identity | sed 's/^[^+]*+[^+]*+//' | base64 -d | tail -c 32 | base64)" \
	"$(openssl pkey -pubin -in "$dir/pem" -outform DER | tail -c 32 | base64)"
like "a line for ssh-keygen" '^deedlog.invalid/id/[0-9a-f]* namespaces="checkpoint@deedlog" ssh-ed25519 AAAA' \
	"$(key export --format allowed_signers)"
is "minisign: algorithm, key number, key" 42 "$(key export --format minisign | tail -n 1 | base64 -d | wc -c)"
is "the same key for signify" "$(key export --format minisign | tail -n 1)" "$(key export --format signify | tail -n 1)"

first=$(word genesis) old=$(word index) identity=$(word identity)
key rotate
is "rotate: the index key is another" yes "$([ "$(word index)" != "$old" ] && echo yes)"
is "the genesis key stays" "$first" "$(word genesis)"
key rotate --identity
is "rotate --identity: the identity key is another" yes "$([ "$(word identity)" != "$identity" ] && echo yes)"
is "the ledger is sound" 0 "$("$BIN" verify --dir "$log" >/dev/null; echo $?)"
is "the genesis key pins it" 0 "$("$BIN" verify --dir "$log" --key "$first" >/dev/null; echo $?)"
is "the new identity does" 0 "$("$BIN" verify --dir "$log" --key "$(word identity)" >/dev/null; echo $?)"
is "the old identity does" 0 "$("$BIN" verify --dir "$log" --key "$identity" >/dev/null; echo $?)"
is "an index key does not" 1 "$("$BIN" verify --dir "$log" --key "$(word index)" >/dev/null; echo $?)"

rm "$log/current/keys/index.key"
said=$("$BIN" init --dir "$log" 2>&1)
is "without its key the log is refused" 2 $?
like "and the way out is named" 'deedlog init --continue' "$said"
is "the way out" 0 "$("$BIN" init --continue --dir "$log"; echo $?)"
is "another log is in use" yes "$([ "$(readlink "$log/current")" != "$id" ] && echo yes)"
like "it names the old one" "continues log $id after its record" "$("$BIN" verify --dir "$log")"
is "the old one still verifies" 0 "$("$BIN" verify --log "$id" --dir "$log" --key "$first" >/dev/null; echo $?)"
is "nothing to continue" 2 "$("$BIN" init --continue --dir "$dir/none" 2>/dev/null; echo $?)"
tap_done
