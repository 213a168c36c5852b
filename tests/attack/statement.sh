#!/bin/bash
# SPDX-License-Identifier: MIT
# statement.sh MKLOG: signed statements about commits, as git notes: what they say,
# that openssl and sigstore's own library take their signature, and that they
# live through what people do to commits.
mklog=$(realpath "$1")
. "$(dirname "$0")/../lib/tap.sh"
need_root
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 PATH=${BIN%/*}:$PATH DEEDLOG_DIR=$T/ledger
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.invalid GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.invalid

git init -q -b main repo
(cd repo && "$BIN" hook install --notes)
is "notes follow amend and rebase" refs/notes/deedlog "$(git -C repo config notes.rewriteRef)"
is "and merge by line" cat_sort_uniq "$(git -C repo config notes.deedlog.mergeStrategy)"
(cd repo && "$BIN" hook install --notes)
is "installed twice, set once" 1 "$(git -C repo config --get-all notes.rewriteRef | wc -l)"

"$mklog" ledger -r 2 -n 30 -b 20 -w "$T/repo" >runs
"$mklog" ledger -n 30 -b 20 -w "$T/elsewhere" >/dev/null
git -C repo commit -q --allow-empty -m "one"
sha=$(git -C repo rev-parse HEAD)
chown -R 65534:65534 repo
ok "post-commit writes it" sh -c "cd repo && '$BIN' hook run post-commit"
git config --file config safe.directory "$T/repo"
export GIT_CONFIG_GLOBAL=$T/config
note() {
	git -C repo notes --ref=refs/notes/deedlog show "$1" 2>/dev/null
}
note "$sha" >./note
is "one line" 1 "$(wc -l <note)"
is "written as the owner of the repository" 65534 "$(stat -c %u repo/.git/refs/notes/deedlog)"
ok "at most 102,400 bytes" test "$(wc -c <note)" -le 102400
is "its type" application/vnd.in-toto+json "$(jq -r .payloadType note)"
jq -r .payload note | base64 -d >payload
is "about the commit" "https://in-toto.io/Statement/v1 $sha https://in-toto.io/attestation/runtime-trace/v0.1" \
	"$(jq -r '"\(._type) \(.subject[0].digest.gitCommit) \(.predicateType)"' payload)"
is "with all that its type demands" "string string string array" \
	"$(jq -r '.predicate | "\(.monitor.type|type) \(.monitoredProcess.hostID|type) \(.monitoredProcess.event|type) \(.monitorLog.fileAccess|type)"' payload)"
own='.predicate["https://deedlog.invalid/runtime-trace/1"]'
is "over the runs of this repository" "2 0" "$(jq -r "$own | \"\(.runs|length) \(.left_out.runs)\"" payload)"
run=$(sed -n '1s/^run //p' runs)
index=$(zcat ledger/current/index/000000.gz | jq -c "select(.t==\"run-end\" and .run==\"$run\")")
is "named by the root that the index has" "$(jq -r .root <<<"$index" | base64 -d | od -An -tx1 | tr -d ' \n') $(jq -r .size <<<"$index")" \
	"$(jq -r "$own.runs[0] | \"\(.digest.sha256) \(.annotations.size)\"" payload)"
is "the ledger remembers it" "$(tr -d '\n' <note | sha256sum | cut -d' ' -f1)" \
	"$(zcat ledger/current/index/000000.gz | jq -r 'select(.t=="statement").sha256')"
is "and stays whole" 0 "$("$BIN" verify -q >/dev/null; echo $?)"

# ---- the signature, without our code
identity=$(sed -n 's/^identity //p' ledger/current/origin)
{ printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'; base64 -d <<<"${identity#*+*+}" | tail -c 32; } >der
openssl pkey -pubin -inform DER -in der -out pem
pae() { # PAYLOAD-FILE
	printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c <"$1")"
	cat "$1"
}
jq -r '.signatures[0].sig' note | base64 -d >sig
pae payload >signed
ok "openssl takes the signature" openssl pkeyutl -verify -pubin -inkey pem -rawin -in signed -sigfile sig
sed 's/"written":0/"written":1/' payload >changed
pae changed >signed
ok "and not that of a changed statement" sh -c "! openssl pkeyutl -verify -pubin -inkey pem -rawin -in signed -sigfile sig"
is "the key is named" "$(cut -d+ -f1,2 <<<"$identity")" "$(jq -r '.signatures[0].keyid' note)"

cat >check.cjs <<'EOM'
const { Verifier, toSignedEntity } = require('@sigstore/verify');
const { bundleFromJSON } = require('@sigstore/bundle');
const crypto = require('crypto'), fs = require('fs');
const e = JSON.parse(fs.readFileSync(process.argv[2]));
const bundle = bundleFromJSON({ mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
	verificationMaterial: { publicKey: { hint: e.signatures[0].keyid }, tlogEntries: [] },
	dsseEnvelope: e });
const publicKey = crypto.createPublicKey(fs.readFileSync(process.argv[3]));
const trust = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [],
	publicKey: () => ({ publicKey, validFor: () => true }) };
new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 }).verify(toSignedEntity(bundle));
EOM
if timeout 90 npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$T/npm" @sigstore/verify@3.1.0 @sigstore/bundle@4.0.0 >/dev/null 2>npm.err; then
	ok "sigstore takes it" env NODE_PATH="$T/npm/node_modules" node check.cjs note pem
	jq -c --arg p "$(base64 -w0 changed)" '.payload = $p' note >note.changed
	ok "sigstore refuses a changed one" sh -c "! NODE_PATH='$T/npm/node_modules' node check.cjs note.changed pem"
else
	skip "sigstore takes it" "npm cannot install @sigstore/verify here"
fi

# ---- afterwards
ok "once more" sh -c "cd repo && '$BIN' hook run post-commit"
is "adds nothing" "$(cat note)" "$(note "$sha")"
"$mklog" ledger -n 10 -w "$T/repo" >/dev/null
git -C repo commit -q --amend --allow-empty -m "one, amended"
new=$(git -C repo rev-parse HEAD)
is "the note follows an amend" "$(cat note)" "$(note "$new")"
chown -R 65534:65534 repo
(cd repo && "$BIN" hook run post-commit)
is "what came since is added" 2 "$(note "$new" | wc -l)"
is "for the commit as it is now, over all runs since the head before" "$new 3" "$(note "$new" | tail -n 1 | jq -r .payload | base64 -d | jq -r "\"\(.subject[0].digest.gitCommit) \($own.runs|length)\"")"
git -C repo config deedlog.notes false
"$mklog" ledger -n 10 -w "$T/repo" >/dev/null
git -C repo commit -q --allow-empty -m "two"
chown -R 65534:65534 repo
(cd repo && "$BIN" hook run post-commit)
is "not wanted, not written" "" "$(note HEAD)"
tap_done
