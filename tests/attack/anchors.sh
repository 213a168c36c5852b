#!/bin/bash
# SPDX-License-Identifier: MIT
# anchors.sh MKLOG: heads in commits against logs that were cut, rolled back and
# written anew; forged heads; squash, rebase, amend, shallow clones; hostile
# messages and repositories.
mklog=$(realpath "$1")
. "$(dirname "$0")/../lib/tap.sh"
need_root
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 PATH=${BIN%/*}:$PATH
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.invalid GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.invalid

verify() { # LEDGER REPO [OPTION...]: what is said, then "status N"
	local ledger=$1 repo=$2
	shift 2
	"$BIN" verify --dir "$ledger" --repo "$repo" --key "$KEY" "$@" 2>&1
	echo "status $?"
}
size_of() { # LEDGER: records of its newest head
	sed -n 2p "$1/head"
}
commit() { # REPO LEDGER MESSAGE
	DEEDLOG_DIR=$T/$2 git -C "$1" commit -q --allow-empty -m "$3"
	git -C "$1" rev-parse --short=12 HEAD
}

# Three runs of 120, 230 and 60 records; heads after the first and the second.
"$mklog" "$T/genesis" -r 0
cp -a genesis ledger
KEY=$(sed -n 's/^genesis //p' ledger/current/origin)
IDENTITY=$(sed -n 's/^identity //p' ledger/current/origin)
git init -q -b main repo
"$BIN" hook print plain >hook.txt
ok "the hook installs" sh -c "cd repo && '$BIN' hook install"
"$mklog" ledger -n 120 -b 50 >/dev/null
cp -a ledger after1
a=$(commit repo ledger "first") n1=$(size_of ledger)
"$mklog" ledger -n 230 -b 50 >/dev/null
cp -a ledger after2
b=$(commit repo ledger "second") n2=$(size_of ledger)
"$mklog" ledger -n 60 -b 50 >/dev/null
n3=$(size_of ledger)

# ---- nothing happened
out=$(verify ledger repo --require-anchor)
like "A1: both anchors are seen" "index: $n3 records, 3 runs, 2 anchors, unanchored tail $((n3 - n2)) records since commit $b " "$out"
like "A1: verdict" "^INTACT, COMPLETE, ANCHORED " "$out"
like "A1: status" "^status 0" "$out"
like "without a pinned key nothing is anchored" "^INTACT, COMPLETE, UNANCHORED" "$("$BIN" verify --dir ledger --repo repo)"
is "and that is status 4 where it is required" 4 "$("$BIN" verify --dir ledger --repo repo --require-anchor >/dev/null 2>&1; echo $?)"
like "an age that holds" "^status 0" "$(verify ledger repo --require-anchor=1h)"
sleep 1.1
like "an age that does not" "^status 4" "$(verify ledger repo --require-anchor=1s)"
like "an age that makes no sense" "is no age" "$(verify ledger repo --require-anchor=soon)"
git init -q empty
like "no commit, no anchor" "^status 4" "$(verify ledger empty --require-anchor)"
like "no repository is trouble" "^status 2" "$(verify ledger "$T")"
like "a file is trouble" "^status 2" "$(verify ledger "$T/hook.txt")"
is "JSON counts the tail" "2 $((n3 - n2)) $n2" "$("$BIN" verify --dir ledger --repo repo --json | jq -r '"\(.anchors) \(.unanchored_tail) \(.anchored_records)"')"

# ---- cut, rolled back, written anew
cp -a after1 cut
cp -a ledger/current/runs/. cut/current/runs/
out=$(verify cut repo)
like "A6: a dropped run" "TRUNCATED: commit $b attests $n2 index records, log has $n1" "$out"
like "A6: its file" "run file .* is not announced" "$out"
like "A6: status" "^status 1" "$out"
out=$(verify after1 repo)
like "rolled back behind an anchor" "TRUNCATED: commit $b attests $n2 index records, log has $n1 \(proved by the index key\)" "$out"
like "status 1" "^status 1" "$out"
like "further back only the identity is still known" "commit $b attests $n2 index records, log has 2 \(identity key only\)" "$(verify genesis repo)"
out=$(verify after2 repo)
like "A7: only the tail rolled back is a limit" "unanchored tail 0 records since commit $b" "$out"
like "A7: status" "^status 0" "$out"
cp -a genesis forked
"$mklog" forked -r 3 -n 40 -b 20 >/dev/null
out=$(verify forked repo)
like "A9: a second history by all keys" "FORK: commit $a attests a different history of the first $n1 index records" "$out"
like "A9: the second anchor says so too" "FORK: commit $b" "$out"
like "A9: status" "^TAMPERED, .*UNANCHORED" "$out"
"$mklog" other -n 10 >/dev/null
out=$(KEY=$(sed -n 's/^genesis //p' other/current/origin) verify other repo)
like "anchors of other logs are counted" "2 anchors are of other logs" "$out"
like "and judge nothing" "^status 0" "$out"

# ---- forged heads (B7)
head_of() { # COMMIT
	git -C repo log -1 --format=%B "$1" | sed -n 's/^Deedlog-Head: //p'
}
read -r origin size root sig cosig <<<"$(head_of "$b")"
forgeries=0
forge() { # NAME VALUE: a branch with that head, verified, gone again
	# two of one second are two commits all the same
	git -C repo commit -q --allow-empty --no-verify -m "forged $((forgeries += 1))" \
		-m "Deedlog-Head: $2"
	forged=$(git -C repo rev-parse --short=12 HEAD)
	out=$(verify ledger repo "${@:3}")
	git -C repo reset -q --hard HEAD~
	git -C repo reflog expire --expire=now --all
}
flip() { # BASE64: another byte near its end
	base64 -d <<<"$1" | python3 -c 'import sys;b=bytearray(sys.stdin.buffer.read());b[-5]^=1;sys.stdout.buffer.write(b)' | base64 -w0
}
forge size "$origin $((n3 + 100)) $root $sig $cosig"
like "B7: a larger size" "NOTE anchor ignored: commit $forged: bad signature" "$out"
like "B7: verdict unchanged" "^status 0" "$out"
like "B7: and the true anchors hold" " 2 anchors, unanchored tail $((n3 - n2)) " "$out"
forge root "$origin $size $(head -c 32 /dev/zero | base64) $sig $cosig"
like "B7: another root" "commit $forged: bad signature" "$out"
like "B7: another root, status" "^status 0" "$out"
forge cosig "$origin $size $root $sig $(flip "$cosig")"
like "B7: a wrong co-signature" "commit $forged: bad signature" "$out"
forge sig "$origin $size $root $(flip "$sig") $cosig"
like "B7: a wrong signature of a key in force" "commit $forged: bad signature" "$out"
forge short "$origin $size $root"
like "B7: fields are missing" "commit $forged: not what a head looks like" "$out"
like "B7: fields are missing, status" "^status 0" "$out"
strange=$(head -c 68 /dev/urandom | base64 -w0)
forge strange "$origin $size $root $strange"
like "an unknown key is a doubt" "WARN anchor cannot be checked: commit $forged" "$out"
like "an unknown key, status" "^status 3" "$out"
id=$forged
forge strange "$origin $size $root $strange" --ignore-commit "${id:0:8}"
like "that only its own commit silences" "^status 3" "$out"
git -C repo commit -q --allow-empty --no-verify -m "forged" -m "Deedlog-Head: $origin $size $root $strange"
out=$(verify ledger repo --ignore-commit "$(git -C repo rev-parse HEAD)")
like "and is silenced" "^status 0" "$out"
like "a prefix that is too short is refused" "is no commit" "$(verify ledger repo --ignore-commit abc)"
git -C repo reset -q --hard HEAD~
forge alone "$origin $size $root $sig"
like "the index key alone is enough" " 3 anchors" "$out"

# ---- what people do to commits (B8)
git clone -q repo squash
cp repo/.git/hooks/commit-msg squash/.git/hooks/
git -C squash checkout -q -b feature
commit squash ledger "on a branch" >/dev/null
git -C squash checkout -q main
git -C squash commit -q --allow-empty --no-verify -F - <<EOM
Squashed commit of the following:

commit $(git -C squash rev-parse feature)

    on a branch

    Deedlog-Head: $(git -C squash log -1 --format=%B feature | sed -n 's/^Deedlog-Head: //p')
EOM
git -C squash branch -q -D feature
out=$(verify ledger squash)
like "B8: squashed" "commit $(git -C squash rev-parse --short=12 HEAD): found in squashed text" "$out"
like "B8: squashed counts" " 3 anchors, unanchored tail 0 " "$out"
git clone -q repo rebase
git -C rebase checkout -q --orphan base
git -C rebase commit -q --allow-empty --no-verify -m "another base"
git -C rebase rebase -q --keep-empty --onto base --root main
is "the copies are on another base" 3 "$(git -C rebase rev-list --count main)"
out=$(verify ledger rebase)
like "B8: rebased copies are anchors too" "^INTACT, COMPLETE, ANCHORED" "$out"
like "B8: copies and originals" " 4 anchors, unanchored tail $((n3 - n2)) " "$out"
git clone -q "file://$T/repo" --depth 1 shallow
out=$(verify ledger shallow)
like "B8: shallow" "1 commits visible, 1 heads in them; it is a shallow clone" "$out"
like "B8: shallow, status" "^status 0" "$out"
git clone -q repo amend
cp repo/.git/hooks/commit-msg amend/.git/hooks/
DEEDLOG_DIR=$T/ledger git -C amend commit -q --amend --allow-empty -m "amended"
DEEDLOG_DIR=$T/ledger git -C amend commit -q --amend --allow-empty --no-edit
is "an amended commit has one head" 1 "$(git -C amend log -1 --format=%B | grep -c '^Deedlog-Head: ')"
like "and it is the newest" "^Deedlog-Head: $origin $n3 " "$(git -C amend log -1 --format=%B)"

# ---- an identity that changed
cp -a ledger rotated
if "$BIN" help | grep -q '^  key '; then
	"$BIN" key rotate --identity --dir rotated >/dev/null
	out=$(verify rotated repo)
	like "heads of the identity before still hold" " 2 anchors" "$out"
	like "and make no doubt" "^status 0" "$out"
else
	skip "heads of the identity before still hold" "this build has no command for a new identity"
fi

# ---- hostile messages and repositories
raw() { # MESSAGE FILE: a commit of exactly these bytes
	{ printf 'tree %s\nauthor a <a> 1 +0000\ncommitter c <c> 1 +0000\n\n' "$(git -C hostile mktree </dev/null)"; cat "$1"; } |
		git -C hostile hash-object -w -t commit --literally --stdin
}
git init -q hostile
value=$(head_of "$b")
{ printf '\033[2J\033]0;x\007\xff\xfe\n'; printf 'Deedlog-Head: %s\n' "$value"; } >m1
{ printf '%s commit 5\nabcde\n' "$(printf '0%.0s' {1..40})"; printf '\0\nDeedlog-Head: %s\n' "$value"; } >m2
{ for _ in {1..200}; do printf 'Deedlog-Head: %s\n' "$value"; done; head -c 1000000 /dev/zero | tr '\0' 'x'; } >m3
printf 'Deedlog-Head: \033[31m%s\n' "$value" >"m4"
for m in m1 m2 m3 m4; do git -C hostile update-ref "refs/heads/$m" "$(raw $m)"; done
out=$(verify ledger hostile)
like "hostile messages are read" "4 commits visible, 202 heads in them" "$out"
like "and judged" "^status 0" "$out"
like "one is none" "commit $(git -C hostile rev-parse --short=12 m4): not what a head looks like" "$out"
unlike "no control byte reaches the terminal" $'\033|\007' "$out"
{ for _ in {1..4097}; do echo "Deedlog-Head: x"; done; } >m5
git -C hostile update-ref refs/heads/m5 "$(raw m5)"
like "more heads than one message can have is trouble, not a verdict" "^status 2" "$(verify ledger hostile)"

cp -a repo replaced
else=$(git -C replaced commit-tree -m nothing "$(git -C replaced mktree </dev/null)")
git -C replaced replace "$(git -C replaced rev-parse "$b")" "$else"
like "a replaced commit is read as it was" " 2 anchors" "$(verify ledger replaced)"

cp -a repo trap
cat >trap.sh <<EOM
#!/bin/sh
id -u >>"$T/ran"
EOM
chmod 755 trap.sh
git -C trap config core.fsmonitor "$T/trap.sh"
git -C trap config core.pager "$T/trap.sh"
git -C trap config log.showSignature true
git -C trap config gpg.program "$T/trap.sh"
git -C trap config core.hooksPath "$T"
git -C trap config diff.external "$T/trap.sh"
git -C trap config uploadpack.packObjectsHook "$T/trap.sh"
chown -R 65534:65534 trap
like "a repository of somebody else is read" " 2 anchors" "$(verify ledger trap)"
ok "and runs nothing" test ! -e ran
chown root trap
out=$(verify ledger trap)
like "one whose inside is somebody else's is not" "^status 2" "$out"

# ---- without our code: the identity's co-signature says it all
audit_trailer() { # IDENTITY-VKEY "VALUE"
	local o n r id t d=$T/audit
	mkdir -p "$d"
	read -r o n r _ id <<<"$2"
	{ printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'; base64 -d <<<"${1#*+*+}" | tail -c 32; } |
		openssl pkey -pubin -inform DER -out "$d/pem"
	base64 -d <<<"$id" >"$d/id"
	t=$((16#$(od -An -tx1 -j4 -N8 "$d/id" | tr -d ' ')))
	printf 'cosignature/v1\ntime %d\n%s\n%s\n%s\n' "$t" "$o" "$n" "$r" >"$d/msg"
	tail -c 64 "$d/id" >"$d/sig"
	openssl pkeyutl -verify -pubin -inkey "$d/pem" -rawin -in "$d/msg" -sigfile "$d/sig"
}
ok "openssl agrees with a head" audit_trailer "$IDENTITY" "$value"
ok "and refuses another size" sh -c "! $(declare -f audit_trailer >audit.sh; echo bash -c "'T=$T; . $T/audit.sh; audit_trailer $IDENTITY \"$origin $((size + 1)) $root $sig $cosig\"'")"
tap_done
