# shellcheck shell=bash
# What the other scripts share; sourced, never run.

set -euo pipefail

# Where servers such as nginx are, which is not in everybody's.
PATH=$PATH:/usr/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }

fail() {
	printf 'drover: %s\n' "$*" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif have sudo; then
		sudo "$@"
	else
		fail "needs root for: $* (there is no sudo here; run it as root once, then try again)"
	fi
}

# install_packages PACKAGE...: by apt-get; those who have another package
# manager are told what to install.
install_packages() {
	[ $# -gt 0 ] || return 0
	have apt-get || fail "please install these first (named as in Debian): $*"
	say "installing $* (apt-get)"
	local options=(-o DPkg::Lock::Timeout=400 -q)
	as_root apt-get "${options[@]}" update >/dev/null
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get "${options[@]}" install -y --no-install-recommends "$@" >/dev/null
}

# wait_until SECONDS COMMAND...: runs the command again and again until it
# succeeds; fails when it never did.
wait_until() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.2
	done
}
