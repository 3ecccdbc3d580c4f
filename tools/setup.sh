#!/bin/sh
# Installs the packages of tools/packages.txt that are missing (Debian 12; with sudo when not root).
set -eu
list=$(dirname "$0")/packages.txt

missing() {  # missing required|optional: the packages of that kind that are not installed
    sed -n "s/^$1 *//p" "$list" | while read -r package; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' ||
            echo "$package"
    done
}
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" \
        >/dev/null
}

required=$(missing required)
optional=$(missing optional)
[ -z "$required$optional" ] && exit 0
if ! command -v apt-get >/dev/null; then
    [ -z "$required" ] && exit 0
    echo "setup: this is no Debian; install these by hand:" $required >&2
    exit 1
fi
as_root apt-get update -qq || echo "setup: apt-get update failed; trying with the lists at hand" >&2
if [ -n "$required" ]; then
    echo "setup: installing" $required
    install $required
fi
for package in $optional; do
    install "$package" 2>/dev/null || echo "setup: $package cannot be had here; going on without it"
done
