#!/usr/bin/env bash
# Finding: filters at `cake` do not what tc-cake(8) says: its example "all ICMP packets" takes all packets of IPv4.
# Versions: Debian 12's iproute2 6.1.0-3 and Linux 6.1.192-2, in a virtual machine (qemu, which needs no KVM). Linux
# 7.3.4 computes the same (net/sched/sch_cake.c: cake_hash), and the manual of iproute2 7.3 has the same sentences.
# Input: six flows of UDP, one for each of six ports, through `cake besteffort` of 8 kbit/s with and without filters.
# Seen: `tc class show` lists a queue for each flow. With the manual's `u32 match icmp type 0 0 classid 0:1` there is
# one queue, and no packet was ICMP: the mask 0 matches any byte, and no word asks for the protocol.
# Seen too: the manual says that the minor number is ignored without flows. `srchost` has a queue for each of six minor
# numbers. It says that the major number is the host. `hosts` has one queue for six of them: Linux mixes source and
# destination by an exclusive or, and both are that number.
# Needs root on Debian 12, qemu-system-x86, and about a minute. Fails if any of this changes.
# docs/concepts/trees.md.
set -euo pipefail
PACKAGES="iproute2=6.1.0-3 linux-image-6.1.0-56-cloud-amd64=6.1.192-2 bash-static=5.2.15-2+b13
    busybox-static=1:1.35.0-4+deb12u1+b1 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3 libbsd0=0.11.7-2
    libmd0=1.0.4-2 libcap2=1:2.66-4+deb12u3+b1 libxtables12=1.8.9-2 libc6=2.36-9+deb12u14 zlib1g=1:1.2.13.dfsg-1"
EXPECTED="flows: 6
flows, the manual's filter for ICMP: 1
srchost: 1
srchost, minor numbers 1 to 6: 6
srchost, major numbers 1 to 6: 6
hosts: 1
hosts, major numbers 1 to 6: 1"

fail() { echo "cake-filters: $1" >&2; exit 1; }
command -v qemu-system-x86_64 >/dev/null || fail "found no qemu; accepted: apt-get install qemu-system-x86"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2086 # one word per package
apt-get -qq -o APT::Sandbox::User=root download $PACKAGES || fail "apt-get did not get $PACKAGES"
for package in *.deb; do dpkg-deb -x "$package" unpacked; done

# The first file system: bash as the first process, tc and ip with their libraries, three modules.
mkdir -p root/{bin,lib64,proc,sys,dev}
cp unpacked/bin/{busybox,ip} unpacked/sbin/tc root/bin/
cp unpacked/bin/bash-static root/bin/bash
cp -L unpacked/lib64/ld-linux-x86-64.so.2 root/lib64/
for library in bpf elf mnl bsd md cap xtables c m z; do
    cp -L "$(find unpacked -name "lib$library.so.[0-9]*" | sort | head -1)" root/lib64/
done
for library in root/lib64/lib*; do # each under the name by which it is asked for
    name=$(basename "$library"); while [[ $name =~ \.so\.[0-9]+\. ]]; do name=${name%.*}; done
    [ "$library" = "root/lib64/$name" ] || mv "$library" "root/lib64/$name"
done
for module in veth sch_cake cls_u32; do
    cp "$(find unpacked -name "$module.ko")" root/
done
cat >root/init <<'GUEST'
#!/bin/bash
export PATH=/bin LD_LIBRARY_PATH=/lib64
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
busybox ln -s /proc/self/fd /dev/fd
for module in /*.ko; do busybox insmod "$module"; done
ip link add v0 type veth peer name v1
for file in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 >"$file"; done
ip address add 10.0.0.1/24 dev v0
ip link set v1 up
ip link set v0 up
read -r mac </sys/class/net/v1/address
ip neighbour replace 10.0.0.2 lladdr "$mac" dev v0 nud permanent
echo "RESULT $(tc -V), $(busybox uname -r)"
ports="7001 7002 7003 7004 7005 7006"
queues() { # NAME, WORDS of cake, words of a filter with PORT and NUMBER in them, or none
    tc qdisc add dev v0 root handle 1: cake bandwidth 8kbit besteffort $2
    number=0
    for port in $ports; do
        number=$((number + 1)) filter=${3/PORT/$port}
        [ -z "$3" ] || tc filter add dev v0 parent 1: protocol ip prio 1 u32 match ${filter/NUMBER/$number}
    done
    for port in $ports; do
        exec 3<>"/dev/udp/10.0.0.2/$port"
        for ((i = 0; i < 5; i++)); do printf %500s >&3; done
    done
    echo "RESULT $1: $(tc class show dev v0 | busybox grep -c '^class cake')"
    tc qdisc del dev v0 root
}
queues flows flows ""
queues "flows, the manual's filter for ICMP" flows "icmp type 0 0 classid 0:1"
queues srchost srchost ""
queues "srchost, minor numbers 1 to 6" srchost "ip dport PORT 0xffff classid 0:NUMBER"
queues "srchost, major numbers 1 to 6" srchost "ip dport PORT 0xffff classid NUMBER:0"
queues hosts hosts ""
queues "hosts, major numbers 1 to 6" hosts "ip dport PORT 0xffff classid NUMBER:0"
busybox poweroff -f
GUEST
chmod +x root/init
(cd root && find . | ../unpacked/bin/busybox cpio -o -H newc 2>/dev/null) >initramfs
timeout 240 qemu-system-x86_64 -accel tcg -cpu max -m 512 -nodefaults -nographic -no-reboot -serial stdio \
    -kernel "$(find unpacked/boot -name 'vmlinuz-*')" -initrd initramfs -append "console=ttyS0 quiet panic=-1" \
    </dev/null >console 2>&1 || true
tr -d '\r' <console | sed -n 's/^.*RESULT //p' >results
cat results
[ "$(sed 1d results)" = "$EXPECTED" ] || { tail -n 20 console >&2; fail "the behaviour changed; expected: $EXPECTED"; }
