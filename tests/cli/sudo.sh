#!/bin/bash
# SPDX-License-Identifier: MIT
# Under sudo only the recorder is root: the command has the identity, groups,
# environment and umask of who typed sudo. User and sudo rule exist in a mount
# namespace only.
. "$(dirname "$0")/../lib/tap.sh"
need_root
command -v sudo >/dev/null || skip_all "sudo is not installed"
export BIN T

mkdir -m 700 etc
mkdir -m 755 home ledger
chown 4242:4242 home
{ cat /etc/passwd; echo "deedtest:x:4242:4242::$T/home:/bin/dash"; } >etc/passwd
{ cat /etc/group; echo "deedtest:x:4242:"; echo "deedextra:x:4243:deedtest"; } >etc/group
{ cat /etc/shadow; echo "deedtest:*:19000:0:99999:7:::"; } >etc/shadow
echo 'deedtest ALL=(ALL) NOPASSWD: ALL' >etc/rule
chmod 440 etc/rule

# As the user: no inherited environment but what is named here.
cat >as_user <<'S'
mount --bind "$T/etc/passwd" /etc/passwd
mount --bind "$T/etc/group" /etc/group
mount --bind "$T/etc/shadow" /etc/shadow
mount -t tmpfs -o mode=755 none /etc/sudoers.d
cp "$T/etc/rule" /etc/sudoers.d/deedtest
chmod 440 /etc/sudoers.d/deedtest
cd "$T/home"
umask 027
exec setpriv --reuid 4242 --regid 4242 --groups 4242,4243 \
	env -i HOME="$T/home" USER=deedtest PATH="$PATH" MY_VALUE='a b' BIN="$BIN" T="$T" sh -c "$1"
S
as_user() {
	unshare -m sh as_user "$1" 2>&1
}
run="sudo -n \"\$BIN\" run -q --dir \"\$T/ledger\" --"

like "sudo works here" "^0$" "$(as_user 'sudo -n id -u')"
is "user and groups" "$(as_user id)" "$(as_user "$run id")"
is "environment" "$(as_user 'env | grep -v ^_= | sort')" "$(as_user "$run env | grep -v ^_= | sort")"
is "umask" 0027 "$(as_user "$run sh -c umask")"
is "working folder" "$T/home" "$(as_user "$run pwd")"
is "real, effective, saved, file system" "$(printf 'Uid:\t4242\t4242\t4242\t4242')" \
	"$(as_user "$run grep Uid: /proc/self/status")"
is "no capability" "$(printf 'CapEff:\t0000000000000000')" "$(as_user "$run grep CapEff: /proc/self/status")"
is "files are the user's" 4242 "$(as_user "$run sh -c 'echo x >made; stat -c %u made'")"
as_user "sudo -n \"\$BIN\" run --dir \"\$T/ledger\" -o sum.txt -- true" >/dev/null
is "so is the summary's" 4242 "$(stat -c %u home/sum.txt)"
like "-o has no more rights than the user" "cannot write /etc/deedlog-test: Permission denied" \
	"$(as_user "sudo -n \"\$BIN\" run --dir \"\$T/ledger\" -o /etc/deedlog-test -- true")"
is "the ledger is root's" 0 "$(stat -Lc %u ledger/current)"
is "the record names the user" 4242 \
	"$(zcat "$(find ledger -path '*/runs/*' -name '*.gz' | head -n 1)" | jq -r 'select(.t=="begin").uid')"
is "status" 5 "$(as_user "$run sh -c 'exit 5'; echo \$?")"
is "through another program, sudo's environment with the user's home" "4242 $T/home deedtest /bin/dash" \
	"$(as_user "sudo -n sh -c '\"\$0\" run -q --dir \"\$1\" -- sh -c \"echo \\\$(id -u) \\\$HOME \\\$USER \\\$SHELL\"' \"\$BIN\" \"\$T/ledger\"")"
is "root without sudo stays root" 0 "$(env -u SUDO_UID "$BIN" run -q --dir ledger -- id -u)"
is "--user" "65534 65534" "$(env -u SUDO_UID "$BIN" run -q --dir ledger --user nobody -- sh -c 'echo $(id -u) $(id -G)')"
is "--user that is none" 125 "$("$BIN" run -q --dir ledger --user no-such -- true 2>/dev/null; echo $?)"
like "... is said" "no such user" "$("$BIN" run -q --dir ledger --user no-such -- true 2>&1)"
tap_done
