#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks the value of a commit's trailer Deedlog-Head with bash and openssl alone:
#
#   audit_trailer.sh IDENTITY-VKEY "ORIGIN SIZE ROOT SIGNATURE COSIGNATURE"
#
# The identity's co-signature binds the index of ORIGIN to this size and root. Exit 0
# and a line that begins with OK, or 1 and the reason.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
	echo "BAD $1"
	exit 1
}

[ $# = 2 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
read -r origin size root _ cosignature rest <<<"$2"
[ -n "${cosignature:-}" ] && [ -z "$rest" ] || die "trailer: five fields are needed, the last is the identity's"
base64 -d <<<"${1#*+*+}" >"$work/typed" 2>/dev/null || die "vkey: no base64"
[ "$(od -An -tu1 -N1 "$work/typed" | tr -d ' ')" = 4 ] || die "vkey: not an identity's"
{ printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'; tail -c 32 "$work/typed"; } >"$work/der"
openssl pkey -pubin -inform DER -in "$work/der" -out "$work/pem"
base64 -d <<<"$cosignature" >"$work/blob" 2>/dev/null || die "trailer: co-signature is no base64"
[ "$(stat -c %s "$work/blob")" = 76 ] || die "trailer: co-signature is not 76 bytes"
stamp=$((16#$(od -An -tx1 -j4 -N8 "$work/blob" | tr -d ' \n')))
printf 'cosignature/v1\ntime %d\n%s\n%s\n%s\n' "$stamp" "$origin" "$size" "$root" >"$work/message"
tail -c 64 "$work/blob" >"$work/sig"
openssl pkeyutl -verify -pubin -inkey "$work/pem" -rawin -in "$work/message" -sigfile "$work/sig" \
	>/dev/null 2>&1 || die "trailer: no co-signature by ${1%%+*}"
echo "OK $origin had $size records at $(date -u -d "@$stamp" '+%F %T') UTC"
