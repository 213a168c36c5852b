#!/bin/bash
# SPDX-License-Identifier: MIT
# `make install` brings the program, its pages and its licence, and nothing else.
. "$(dirname "$0")/../lib/tap.sh"
command -v scdoc >/dev/null || skip_all "no scdoc"

ok "it installs" make -C "$TOP" --no-print-directory "O=$(dirname "$BIN")" DESTDIR="$T/root" PREFIX=/usr install
is "all files" "/usr/bin/deedlog 755
/usr/share/doc/deedlog/CHANGES.md 644
/usr/share/doc/deedlog/LICENSE 644
/usr/share/doc/deedlog/audit.md 644
/usr/share/doc/deedlog/audit/audit_event.sh 755
/usr/share/doc/deedlog/audit/audit_run.py 755
/usr/share/doc/deedlog/audit/audit_trailer.sh 755
/usr/share/doc/deedlog/ledger-format.md 644
$(cd "$TOP/docs/man" && printf '/usr/share/man/man1/%s\n' *.scd | sed 's/\.scd$/ 644/')" \
	"$(cd root && find . -type f -printf '/%P %m\n' | LC_ALL=C sort)"
ok "the page is one" grep -qF 'record what a command does' root/usr/share/man/man1/deedlog.1
ok "the program runs from there" root/usr/bin/deedlog --version
tap_done
