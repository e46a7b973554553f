#!/usr/bin/env bash
# Finding: in the first second of the system's clock ping sends without its interval.
# Versions: Debian 12's iputils-ping 3:20221126-1+deb12u1, on any Linux with time namespaces (5.6).
# Input: `ping -c 3` of the loopback, with CLOCK_MONOTONIC below 1 s, and well after it.
# Seen: three pings take less than a second, and not the two that their interval of 1 s asks for. ping takes a time of
# 0 s in its own variable for one that it has not read yet (ping_common.c, pinger). After the first second it waits.
# Needs root (or a user namespace) and six seconds. Fails if this changes. docs/decisions/030-a-link-in-virtual-time.md.
set -euo pipefail

fail() { echo "ping-first-second: $1" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User=root download iputils-ping=3:20221126-1+deb12u1 || fail "apt-get got no iputils-ping"
dpkg-deb -x ./*.deb unpacked

# Prints how many milliseconds three pings took, with the clock set back to $1 seconds after the system's start.
took() {
    up=$(cut -d. -f1 /proc/uptime)
    unshare --time --monotonic "$(($1 - up))" --fork unpacked/bin/ping -n -c 3 127.0.0.1 |
        sed -n 's/.*, time \([0-9]*\)ms/\1/p'
}
early=$(took 0) late=$(took 100)
echo "three pings in the first second: $early ms; after 100 s: $late ms"
[ "$early" -lt 1000 ] || fail "they took $early ms in the first second; expected: less than 1000"
[ "$late" -ge 2000 ] || fail "they took $late ms after 100 s; expected: 2000 or more"
