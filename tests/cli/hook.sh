#!/bin/bash
# SPDX-License-Identifier: MIT
# deedlog hook: a head in each commit where that was asked for, no commit stopped by
# our own trouble, no hook written that would not run or is not ours.
. "$(dirname "$0")/../lib/tap.sh"
need_root
command -v git >/dev/null || skip_all "needs git"
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE DEEDLOG
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 PATH=${BIN%/*}:$PATH DEEDLOG_DIR=$T/ledger
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.invalid GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.invalid

new() { # NAME: a repository, the test goes there
	git init -q -b main "$T/$1"
	cd "$T/$1" || exit 2
}
heads() {
	git log -1 --format=%B | grep -c '^Deedlog-Head: deedlog\.invalid/'
}
commit() {
	git commit -q --allow-empty "$@"
}
"$BIN" init
is "everybody may read the head" 644 "$(stat -c %a "$T/ledger/head")"
is "and it is the checkpoint" "$(cat "$T/ledger/current/checkpoint")" "$(cat "$T/ledger/head")"
ok "nobody else may read the rest" sh -c "! setpriv --reuid 65534 --regid 65534 --clear-groups cat $T/ledger/current/checkpoint"

# ---- a plain repository
new plain
ok "install" "$BIN" hook install
is "as a program" 755 "$(stat -c %a .git/hooks/commit-msg)"
ok "install once more" "$BIN" hook install
commit -m "one"
is "a head" 1 "$(heads)"
commit --amend -m "one, amended

Signed-off-by: somebody"
is "one after an amend" 1 "$(heads)"
is "the newest in the place of an older one" 1 "$(git commit -q --amend --allow-empty --no-edit; heads)"
commit -m "two

---
not the end"
is "behind a line of dashes" "Deedlog-Head" "$(git log -1 --format=%B | sed -n '6s/:.*//p')"
GIT_EDITOR='sh -c ": >\$1" --' git commit -q --allow-empty 2>err
is "an empty message still aborts" 1 $?
GIT_EDITOR=true git commit -q --allow-empty -v 2>err
is "a template alone still aborts" 1 $?
echo x >f && git add f
GIT_EDITOR='sed -i "1s/^/with the change shown/"' git commit -q -v
is "a message with the change below it" "with the change shown" "$(git log -1 --format=%s)"
is "has its head above the scissors" 1 "$(heads)"
DEEDLOG=0 git commit -q --allow-empty -m "off"
is "DEEDLOG=0" 0 "$(heads)"
git worktree add -q "$T/tree" -b tree
git -C "$T/tree" commit -q --allow-empty -m "in a worktree"
is "a worktree has the hook" 1 "$(git -C "$T/tree" log -1 --format=%B | grep -c ^Deedlog-Head)"
ok "install from a worktree" sh -c "cd '$T/tree' && '$BIN' hook install"

# ---- trouble of ours
DEEDLOG_DIR=$T/nowhere git commit -q --allow-empty -m "no ledger" 2>err
is "without a ledger the commit goes on" "0 0" "$? $(heads)"
is "silently" "" "$(cat err)"
is "unless --strict" 2 "$(DEEDLOG_DIR=$T/nowhere "$BIN" hook run commit-msg --strict f 2>/dev/null; echo $?)"
mkdir "$T/broken" && echo nonsense >"$T/broken/head"
DEEDLOG_DIR=$T/broken git commit -q --allow-empty -m "broken" 2>err
is "with a broken head too" 0 $?
like "and says so" "no signed head" "$(cat err)"
mv .git/hooks/commit-msg "$T/hook"
git -c core.hooksPath="$T/none" commit -q --allow-empty -m "no hook"
is "no hook, no head" 0 "$(heads)"
mv "$T/hook" .git/hooks/commit-msg
PATH=/usr/bin:/bin git commit -q --allow-empty -m "no deedlog"
is "without the program the commit goes on" "0 0" "$? $(heads)"

# ---- hooks that others keep
new foreign
printf '#!/bin/sh\nexit 0\n' >.git/hooks/commit-msg
out=$("$BIN" hook install 2>err)
is "somebody's hook is left alone" "1 exit 0" "$? $(tail -n 1 .git/hooks/commit-msg)"
like "the line for it is printed" 'deedlog hook run commit-msg "\$1"' "$out"
like "and why" "there is a commit-msg hook already" "$(cat err)"
new path
git config core.hooksPath hooks
out=$("$BIN" hook install 2>err)
is "core.hooksPath: nothing written" "1 no" "$? $(test -e .git/hooks/commit-msg -o -e hooks && echo yes || echo no)"
like "core.hooksPath is named" "core.hooksPath" "$(cat err)"
for row in ".husky husky" "lefthook.yml lefthook" ".pre-commit-config.yaml pre-commit"; do
	read -r file name <<<"$row"
	new "with-$name"
	if [ "$name" = husky ]; then mkdir "$file"; else touch "$file"; fi
	out=$("$BIN" hook install 2>err)
	is "$name: nothing written" "1 no" "$? $(test -e .git/hooks/commit-msg && echo yes || echo no)"
	like "$name is named" "kept by $name" "$(cat err)"
	is "$name: print agrees" "$out" "$("$BIN" hook print)"
done
printf '%s\n' "$("$BIN" hook print husky)" >"$T/line"
cd "$T/plain" && printf 'by a line\n' >"$T/message"
ok "the printed line works" sh "$T/line" "$T/message"
like "and adds the head" "^Deedlog-Head: " "$(cat "$T/message")"
like "print of an unknown manager" "known are husky, lefthook" "$("$BIN" hook print grunt 2>&1)"

# ---- an ordinary user
if command -v setpriv >/dev/null; then
	chmod 755 "$T"
	cp -a "$T/plain" "$T/user" && chown -R 65534:65534 "$T/user"
	cd "$T/user" || exit 2
	is "root does not install into somebody's repository" 2 "$("$BIN" hook install 2>/dev/null; echo $?)"
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent git commit -q --allow-empty -m "by a user" 2>err
	is "a user's commit has the head of root's ledger" "0 1" "$? $(git -c safe.directory="$T/user" log -1 --format=%B | grep -c ^Deedlog-Head)"
	is "post-commit does nothing for a user" 0 "$(setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN" hook run post-commit 2>&1; echo $?)"
	before=$(sed -n 2p "$T/ledger/head")
	ok "post-commit by root" "$BIN" hook run post-commit
	cd "$T" || exit 2
	size=$(sed -n 2p "$T/ledger/head")
	ok "remembers the commits" test "$size" -gt "$before"
	like "in the index" '"t":"commit","b":[0-9]*,"w":[0-9]*,"sha":"[0-9a-f]{40}","size":2}' "$(zcat "$T/ledger/current/index/000000.gz")"
	(cd "$T/user" && "$BIN" hook run post-commit)
	is "once" "$size" "$(sed -n 2p "$T/ledger/head")"
	is "the ledger stays whole" 0 "$("$BIN" verify -q >/dev/null; echo $?)"
else
	skip "a user's commit" "needs setpriv"
fi
cd "$T" || exit 2
is "hook without a word" 2 "$("$BIN" hook 2>/dev/null; echo $?)"
is "hook run without a moment" 2 "$("$BIN" hook run 2>/dev/null; echo $?)"
is "outside of a repository" 2 "$("$BIN" hook install 2>/dev/null; echo $?)"
tap_done
