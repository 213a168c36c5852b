#!/bin/bash
# SPDX-License-Identifier: MIT
# tools/bootstrap asks for exactly what is missing, and for nothing when nothing is.
. "$(dirname "$0")/../lib/tap.sh"
need_root

# Stand-ins that know a list of packages and write down how they were called.
mkdir bin
cat >bin/dpkg-query <<'END'
#!/bin/sh
sed 's/^/installed /' "$FAKE/installed"
END
cat >bin/apt-get <<'END'
#!/bin/sh
echo "$*" | sed 's/.*Timeout=[0-9]* //' >>"$FAKE/calls"
[ ! -e "$FAKE/fail" ] || { rm "$FAKE/fail"; exit 100; }
END
cat >bin/apt-cache <<'END'
#!/bin/sh
[ -e "$FAKE/lists" ]
END
chmod +x bin/*

bootstrap() {
	: >calls
	FAKE=$T PATH=$T/bin:$PATH "$TOP/tools/bootstrap" "$@" 2>said
}

all=$(sed -n 's/^\t[a-z ]*| \([a-z0-9.-]*\) .*| .*/\1/p' "$TOP/tools/bootstrap")
echo "$all" >installed
touch lists
like "the table is read" '^libbpf-dev$' "$all"

bootstrap build
is "with everything there it succeeds" 0 $?
is "... without calling apt-get" "" "$(cat calls)"
is "... and without a word" "" "$(cat said)"

grep -vx libbpf-dev installed >less && mv less installed
bootstrap build
is "what is missing is installed, and nothing else" \
	"install -y --no-install-recommends libbpf-dev" "$(cat calls)"

echo "$all" | grep -vxF -e libbpf-dev -e libcmocka-dev >installed
bootstrap check
is "a purpose includes what building needs" \
	"install -y --no-install-recommends libbpf-dev libcmocka-dev" "$(cat calls)"

rm lists
bootstrap build
is "lists are fetched only when a package is unknown" \
	"update
install -y --no-install-recommends libbpf-dev" "$(cat calls)"

touch lists fail
bootstrap build
is "stale lists are fetched once, then it is tried again" \
	"install -y --no-install-recommends libbpf-dev
update
install -y --no-install-recommends libbpf-dev" "$(cat calls)"

DEEDLOG_NO_BOOTSTRAP=1 bootstrap build
is "it can be turned off" "" "$(cat calls)"

bootstrap everything
is "an unknown purpose is refused" 2 $?
tap_done
