#!/usr/bin/env bash
# Finding: Linux takes commands of `tc` that do something else than they say, and says nothing.
# Versions: Debian 12's iproute2 6.1.0-3 and Linux 6.1.192-2, in a virtual machine (qemu, which needs no KVM).
# Input: `tc class add` with the words of another kind than the qdisc's; a change of a tbf that holds a pfifo or a bfifo;
# the change of a filter of u32.
# Seen: the kind is ignored, and the numbers are read as the qdisc's own: `htb rate 8mbit overhead 24` makes a class of
# drr with a quantum of 1048576 bytes, and one of hfsc with three curves' worth of numbers out of a table of times.
# Seen: the change of a tbf gives its limit in bytes to the fifo inside: a pfifo of 100 packets holds 17620 packets.
# Seen: a changed u32 filter compares what it did before, and only its class is new.
# Needs root on Debian 12, qemu-system-x86, and about half a minute. Fails if any of this changes.
# docs/concepts/trees.md.
set -euo pipefail
PACKAGES="iproute2=6.1.0-3 linux-image-6.1.0-56-cloud-amd64=6.1.192-2 bash-static=5.2.15-2+b13
    busybox-static=1:1.35.0-4+deb12u1+b1 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3 libbsd0=0.11.7-2
    libmd0=1.0.4-2 libcap2=1:2.66-4+deb12u3+b1 libxtables12=1.8.9-2 libc6=2.36-9+deb12u14 zlib1g=1:1.2.13.dfsg-1"
EXPECTED="# tc qdisc add dev v0 root handle 1: drr
# tc class add dev v0 parent 1: classid 1:1 htb rate 8mbit
# tc class add dev v0 parent 1: classid 1:2 htb rate 8mbit overhead 24
# tc class add dev v0 parent 1: classid 1:3 hfsc ls rate 8mbit
class drr 1:1 root quantum 259b
class drr 1:2 root quantum 1Mb
class drr 1:3 root quantum 1514b
# tc qdisc replace dev v0 root handle 2: hfsc
# tc class add dev v0 parent 2: classid 2:1 htb rate 8mbit
class hfsc 2:1 parent 2: rt m1 2072bit d 65.5ms m2 8Mbit ul m1 1Kbit d 250us m2 3Kbit
# tc qdisc replace dev v0 root handle 3: tbf rate 1mbit burst 5kb latency 50ms
# tc qdisc replace dev v0 parent 3:1 pfifo limit 100
# tc qdisc change dev v0 root handle 3: tbf rate 2mbit burst 5kb latency 50ms
qdisc pfifo parent 3:1 limit 17620p
# tc qdisc replace dev v0 parent 3:1 bfifo limit 100
# tc qdisc change dev v0 root handle 3: tbf rate 2mbit burst 5kb latency 50ms
qdisc bfifo parent 3:1 limit 17620b
# tc qdisc replace dev v0 root handle 4: drr
# tc class add dev v0 parent 4: classid 4:1 drr
# tc filter add dev v0 parent 4: protocol ip prio 1 handle 800::800 u32 match ip dport 80 0xffff flowid 4:1
# tc filter change dev v0 parent 4: protocol ip prio 1 handle 800::800 u32 match ip dport 443 0xffff flowid 4:2
flowid 4:2
match 00000050/0000ffff at 20"

fail() { echo "tc-silent-changes: $1" >&2; exit 1; }
command -v qemu-system-x86_64 >/dev/null || fail "found no qemu; accepted: apt-get install qemu-system-x86"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2086 # one word per package
apt-get -qq -o APT::Sandbox::User=root download $PACKAGES || fail "apt-get did not get $PACKAGES"
for package in *.deb; do dpkg-deb -x "$package" unpacked; done

# The first file system: bash as the first process, tc and ip with their libraries, some modules.
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
for module in veth sch_drr sch_hfsc sch_tbf cls_u32; do
    cp "$(find unpacked -name "$module.ko")" root/
done
cat >root/init <<'GUEST'
#!/bin/bash
export PATH=/bin LD_LIBRARY_PATH=/lib64
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
for module in /*.ko; do busybox insmod "$module"; done
ip link add v0 type veth peer name v1
ip link set v0 up
shown() { while read -r line; do echo "RESULT $line"; done; }
run() { echo "RESULT # tc $*"; tc "$@" || echo "RESULT refused"; }
echo "RESULT $(tc -V), $(busybox uname -r)"
run qdisc add dev v0 root handle 1: drr
run class add dev v0 parent 1: classid 1:1 htb rate 8mbit
run class add dev v0 parent 1: classid 1:2 htb rate 8mbit overhead 24
run class add dev v0 parent 1: classid 1:3 hfsc ls rate 8mbit
tc class show dev v0 | shown
run qdisc replace dev v0 root handle 2: hfsc
run class add dev v0 parent 2: classid 2:1 htb rate 8mbit
tc class show dev v0 classid 2:1 | shown
run qdisc replace dev v0 root handle 3: tbf rate 1mbit burst 5kb latency 50ms
for kind in pfifo bfifo; do
    run qdisc replace dev v0 parent 3:1 "$kind" limit 100
    run qdisc change dev v0 root handle 3: tbf rate 2mbit burst 5kb latency 50ms
    tc qdisc show dev v0 parent 3:1 | busybox sed 's/ [0-9a-f]*: parent/ parent/' | shown
done
run qdisc replace dev v0 root handle 4: drr
run class add dev v0 parent 4: classid 4:1 drr
run filter add dev v0 parent 4: protocol ip prio 1 handle 800::800 u32 match ip dport 80 0xffff flowid 4:1
run filter change dev v0 parent 4: protocol ip prio 1 handle 800::800 u32 match ip dport 443 0xffff flowid 4:2
tc filter show dev v0 parent 4: | busybox sed -n 's/.*\(flowid [0-9:]*\).*/\1/p; s/^ *match/match/p' | shown
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
