#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks what `deedlog prove` wrote, with bash, openssl, coreutils and sed alone:
#
#   audit_event.sh VKEY EVENT.json EVENT.tlog-proof    one record against one key
#   audit_event.sh IDENTITY-VKEY DIR                   the whole folder: the identity's index
#                                                      head, the run that it names, the record
#
# VKEY is name+id+base64; a log's own key must have signed under its own name, an
# identity's key (type 4) co-signs heads of any log. Exit 0 and a line that begins
# with OK, or 1 and the reason.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
	echo "BAD $1"
	exit 1
}

# openssl's form of the key in a vkey; sets name and type
load_key() {
	local typed=$work/typed
	name=${1%%+*}
	base64 -d <<<"${1#*+*+}" >"$typed" 2>/dev/null || die "vkey: no base64"
	[ "$(stat -c %s "$typed")" = 33 ] || die "vkey: not 33 bytes"
	type=$(od -An -tu1 -N1 "$typed" | tr -d ' ')
	{ printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'; tail -c 32 "$typed"; } >"$work/der"
	openssl pkey -pubin -inform DER -in "$work/der" -out "$work/pem"
}

# The signature of the key on the checkpoint of a proof: leaves its text in $work/body, sets stamp
check_signature() {
	sed '1,/^$/d' "$1" >"$work/checkpoint"
	sed '/^$/,$d' "$work/checkpoint" >"$work/body"
	sed -n "s|^— $name ||p" "$work/checkpoint" | head -n 1 | base64 -d >"$work/blob" 2>/dev/null ||
		die "$1: signature is no base64"
	[ "$(stat -c %s "$work/blob")" = $((type == 4 ? 76 : 68)) ] || die "$1: no signature by $name"
	tail -c 64 "$work/blob" >"$work/sig"
	stamp=
	if [ "$type" = 4 ]; then
		stamp=$((16#$(od -An -tx1 -j4 -N8 "$work/blob" | tr -d ' \n')))
		{ printf 'cosignature/v1\ntime %d\n' "$stamp"; cat "$work/body"; } >"$work/message"
	else
		[ "$(sed -n 1p "$work/body")" = "$name" ] || die "$1: of another log"
		cp "$work/body" "$work/message"
	fi
	openssl pkeyutl -verify -pubin -inkey "$work/pem" -rawin -in "$work/message" \
		-sigfile "$work/sig" >/dev/null 2>&1 || die "$1: no signature by $name"
}

hash() {
	openssl dgst -sha256 -binary >"$work/next"
	mv "$work/next" "$work/hash"
}

# RFC 6962: from the leaf in $1 along the path of proof $2 to the root in $work/body
check_inclusion() {
	local index size fn sn line
	index=$(sed -n 's/^index //p' "$2" | head -n 1)
	size=$(sed -n 2p "$work/body")
	[[ $index =~ ^[0-9]+$ && $size =~ ^[0-9]+$ ]] && ((index < size)) || die "$2: index or size"
	fn=$index sn=$((size - 1))
	{ printf '\0'; cat "$1"; } | hash
	while IFS= read -r line; do
		base64 -d <<<"$line" >"$work/sibling" 2>/dev/null || die "$2: hash is no base64"
		((sn)) || die "$2: a hash too many"
		if ((fn & 1 || fn == sn)); then
			{ printf '\1'; cat "$work/sibling" "$work/hash"; } | hash
			while ((!(fn & 1) && fn)); do fn=$((fn >> 1)) sn=$((sn >> 1)); done
		else
			{ printf '\1'; cat "$work/hash" "$work/sibling"; } | hash
		fi
		fn=$((fn >> 1)) sn=$((sn >> 1))
	done < <(sed '1,/^index /d;/^$/,$d' "$2")
	((sn == 0)) && [ "$(base64 <"$work/hash")" = "$(sed -n 3p "$work/body")" ] ||
		die "$1 is not record $index of $(sed -n 1p "$work/body")"
	said="record $index of $size in $(sed -n 1p "$work/body")"
}

check_one() { # LEAF PROOF
	[ "$(sed -n 1p "$2")" = c2sp.org/tlog-proof@v1 ] || die "$2: no proof"
	check_signature "$2"
	check_inclusion "$1" "$2"
}

field() { # NAME FILE: a string or number at top level of a line of ours
	sed -n "s/^.*\"$1\":\"\{0,1\}\([^\",}]*\)[\",}].*\$/\1/p" "$2"
}

check_folder() {
	local dir=$1 index run vkey head
	check_one "$dir/run-start.json" "$dir/run-start.tlog-proof"
	index=$(sed -n 1p "$work/body") head="$(sed -n 2p "$work/body") records, $(date -u -d "@$stamp" '+%F %T') UTC"
	grep -q '^{"s":"[^"]*","t":"run-start",' "$dir/run-start.json" || die "run-start.json announces no run"
	run=$(field run "$dir/run-start.json") vkey=$(field vkey "$dir/run-start.json")
	[ "${vkey%%+*}" = "$index/run/$run" ] || die "run-start.json: key of another run"
	if [ -e "$dir/run-end.json" ]; then
		check_one "$dir/run-end.json" "$dir/run-end.tlog-proof"
		[ "$(sed -n 1p "$work/body")" = "$index" ] || die "run-end.json: of another index"
		grep -q '^{"s":"[^"]*","t":"run-\(end\|orphan\)",' "$dir/run-end.json" || die "run-end.json ends no run"
		[ "$(field run "$dir/run-end.json")" = "$run" ] || die "run-end.json: of another run"
	fi
	load_key "$vkey"
	check_one "$dir/event.json" "$dir/event.tlog-proof"
	[ ! -e "$dir/run-end.json" ] ||
		[ "$(field size "$dir/run-end.json") $(field root "$dir/run-end.json")" = \
			"$(sed -n 2p "$work/body") $(sed -n 3p "$work/body")" ] ||
		die "event.tlog-proof: not of the log that run-end.json names"
	said+="; index head of $head"
}

case $# in
2) load_key "$1"; [ "$type" = 4 ] || die "vkey: a folder needs the identity's"; check_folder "$2" ;;
3) load_key "$1"; check_one "$2" "$3" ;;
*) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
echo "OK $said"
