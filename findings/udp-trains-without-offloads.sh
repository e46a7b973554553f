#!/usr/bin/env bash
# Finding: `ethtool -K veth tso off gso off gro off` leaves trains of UDP whole: ten datagrams cross as one packet.
# Versions: Debian 12's ethtool 1:6.1-1; Linux 6.18.44, and 7.3.4 of Debian's source (there through `netem limit 5`,
# which held all ten and dropped none).
# Input: a pair of veth with these offloads off at both ends, and one send of 12,000 bytes with UDP_SEGMENT 1200
# (udp(7)), as QUIC stacks send (quinn, quic-go, msquic).
# Seen: one packet of 12,042 bytes at the peer. With `ip link set veth gso_max_segs 1` there are ten of 1242. ethtool's
# `gso` is `tx-generic-segmentation`; `tx-udp-segmentation` stays on. `tc -s` counts ten packets in either case.
# Misled: who tests QUIC behind `tc` in namespaces (Mininet and its like) with these three off. Loss, limits and delays
# take a train for one packet. Needs unshare, python3 and a second.
# Fails if any of this changes. docs/decisions/030.
set -euo pipefail
EXPECTED="off: 12042
off, gso_max_segs 1: 1242 1242 1242 1242 1242 1242 1242 1242 1242 1242"

fail() { echo "udp-trains-without-offloads: $1" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User=root download ethtool=1:6.1-1 || fail "apt-get did not get ethtool 1:6.1-1"
dpkg-deb -x ethtool_*.deb unpacked
cat >train.py <<'PYTHON'
import socket

UDP_SEGMENT, ETH_P_IP = 103, 0x0800
peer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
peer.bind(("v1", ETH_P_IP))
peer.settimeout(0.5)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1200)
sender.sendto(bytes(12_000), ("10.0.0.2", 5000))
lengths = []
try:
    while True:
        lengths.append(str(len(peer.recv(1 << 16))))
except TimeoutError:
    print(" ".join(lengths))
PYTHON
cat >run.sh <<'SHELL'
set -euo pipefail
ip link add v0 type veth peer name v1
ip address add 10.0.0.1/24 dev v0
for name in v0 v1; do
    ip link set "$name" up
    unpacked/sbin/ethtool -K "$name" tso off gso off gro off >/dev/null
done
ip neighbour add 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0
echo "off: $(python3 train.py)"
ip link set v0 gso_max_segs 1
echo "off, gso_max_segs 1: $(python3 train.py)"
SHELL
seen=$(unshare --user --map-root-user --net bash run.sh) || fail "its network could not be built"
[ "$seen" = "$EXPECTED" ] || fail "found $seen; expected $EXPECTED"
echo "$seen"
