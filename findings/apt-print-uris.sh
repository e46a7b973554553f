#!/usr/bin/env bash
# Finding: `apt-get download --print-uris` is silent about a package whose file lies in the folder where it runs.
# Versions: Debian 12's apt 2.6.1; the package is busybox-static 1:1.35.0-4+deb12u1+b1, any other would do.
# Input: the same command in an empty folder, then beside the file that it names.
# Seen: one line with the address, then nothing; the status is 0 both times. So a program that lists what an image or a
# mirror needs loses packages when it runs where somebody has fetched some of them. goodqueue's images did so.
# Needs Debian 12 and its mirror, no root, and a second. Fails if any of this changes.
set -euo pipefail
PACKAGE="busybox-static=1:1.35.0-4+deb12u1+b1"

fail() { echo "apt-print-uris: $1" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
listed() { apt-get -o APT::Sandbox::User= download --print-uris "$PACKAGE" | grep -c "^'http" || true; }

empty=$(listed)
[ "$empty" = 1 ] || fail "an empty folder: found $empty lines; accepted: 1"
apt-get -qq -o APT::Sandbox::User= download "$PACKAGE"
beside=$(listed)
[ "$beside" = 0 ] || fail "beside the package's file: found $beside lines; accepted: 0"
echo "a line of one address in an empty folder, none beside the file"
