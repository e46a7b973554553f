#!/bin/sh
# Uses the wheel in a new, minimal Debian with Python and without a compiler: once as root, once as an ordinary user.
#
#   sh tests/debian.sh dist            # as root on Debian, with mmdebstrap; SUITE=trixie for another release
#
# The system is made in a temporary folder and removed afterwards. It gets this machine's name servers,
# certificates and pip settings.
set -eu

fail() { echo "debian.sh: $1" >&2; exit 1; }

dist=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
[ "$(id -u)" = 0 ] || fail "found no root; accepted: root, which chroot needs"
command -v mmdebstrap >/dev/null || fail "found no mmdebstrap; accepted: apt-get install mmdebstrap"
ls "$dist"/*.whl >/dev/null 2>&1 || fail "found no wheel in $dist; accepted: make dist"

place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
debian=$place/debian
chmod 755 "$place"
mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,man-db,bash-completion,ca-certificates \
    "${SUITE:-bookworm}" "$debian"
echo "a new Debian $(cat "$debian/etc/debian_version"), $(du -sm "$debian" | cut -f1) MB"
for program in rustc cargo cc gcc make git; do
    ! chroot "$debian" sh -c "command -v $program" || fail "found $program there; accepted: a system without"
done
mkdir "$debian/srv/dist"
cp "$dist"/*.whl "$debian/srv/dist"
cp "$here/wheel.py" "$debian/srv"
cp /etc/resolv.conf /etc/hosts "$debian/etc"
cp /etc/ssl/certs/ca-certificates.crt "$debian/etc/ssl/certs"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$debian/etc"
chroot "$debian" useradd --create-home stranger
chroot "$debian" find / -xdev -iname '*goodqueue*' -not -path '/srv/*' >"$place/before"
for user in root stranger; do
    echo "as $user"
    # The mounts belong to a namespace that ends with the command.
    # shellcheck disable=SC2016 # the inner shell expands
    unshare --mount --pid --fork sh -c 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" &&
        exec chroot --userspec="$2:$2" "$1" python3 /srv/wheel.py /srv/dist --everything' sh "$debian" "$user"
done
chroot "$debian" find / -xdev -iname '*goodqueue*' -not -path '/srv/*' >"$place/after"
cmp "$place/before" "$place/after" || fail "found more files of goodqueue than before"
echo "the wheel works in a new Debian and leaves nothing"
