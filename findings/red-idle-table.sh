#!/usr/bin/env bash
# Finding: RED's average decays too slowly while a link is idle, since `tc` and the kernel disagree about a unit.
# Versions: Debian 12's iproute2 6.1.0-3 and Linux 6.1.192-2, in a virtual machine (qemu, which needs no KVM).
# Input: `red limit 400000 min 5000 max 10000 avpkt 1000 burst 20 bandwidth 1mbit`, 100 packets at once, then silence.
# Seen: `tc -d qdisc show` says Scell_log 19, where a table in microseconds has 15. One packet after a silence of 1, 4
# and 12 s is dropped, and after 40 s it is sent. By RED's own formula the average is below min after 0.9 s.
# Seen too: `probability 1` becomes 0.61035 (red min 30000 max 35000), 0.000637016 (choke): tc sends 0, and Plog counts.
# Needs root on Debian 12, qemu-system-x86, and about a minute. Fails if any of this changes.
# docs/results/red-idle-table.md.
set -euo pipefail
PACKAGES="iproute2=6.1.0-3 linux-image-6.1.0-56-cloud-amd64=6.1.192-2 bash-static=5.2.15-2+b13
    busybox-static=1:1.35.0-4+deb12u1+b1 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3 libbsd0=0.11.7-2
    libmd0=1.0.4-2 libcap2=1:2.66-4+deb12u3+b1 libxtables12=1.8.9-2 libc6=2.36-9+deb12u14 zlib1g=1:1.2.13.dfsg-1"
EXPECTED="Scell_log 19
after 1 s: dropped
after 4 s: dropped
after 12 s: dropped
after 40 s: sent
red: probability 0.61035
choke: probability 0.000637016"

fail() { echo "red-idle-table: $1" >&2; exit 1; }
command -v qemu-system-x86_64 >/dev/null || fail "found no qemu; accepted: apt-get install qemu-system-x86"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2086 # one word per package
apt-get -qq -o APT::Sandbox::User=root download $PACKAGES || fail "apt-get did not get $PACKAGES"
for package in *.deb; do dpkg-deb -x "$package" unpacked; done

# The first file system: bash as the first process, tc and ip with their libraries, four modules.
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
for module in veth sch_red sch_choke sch_cbs; do
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
# cbs plays a link of 1 Mbit/s that asks until its queue is empty, as a card does. tbf and htb never ask an empty queue.
begin() { # an average of 0
    tc qdisc replace dev v0 root handle 1: cbs idleslope 1000 sendslope -9999000 hicredit 30 locredit -1000000
    tc qdisc add dev v0 parent 1:1 handle 2: red limit 400000 min 5000 max 10000 avpkt 1000 burst 20 bandwidth 1mbit
}
counted() { # one counter of RED: dropped, or the bytes that wait (backlog)
    local line is_red=
    while read -r line; do
        case $line in
            "qdisc red"*) is_red=1 ;;
            *"$1 "*) [ -z "$is_red" ] || { line=${line#*"$1 "}; line=${line%%,*}; echo "${line%%b *}"; return; } ;;
        esac
    done < <(tc -s qdisc show dev v0)
}
found() { [[ $(tc -d qdisc show dev v0) =~ $1 ]] && echo "$2${BASH_REMATCH[0]}"; }
echo "RESULT $(tc -V), $(busybox uname -r)"
begin
found 'Scell_log [0-9]+' 'RESULT '
exec 3<>/dev/udp/10.0.0.2/9
for seconds in 1 4 12 40; do
    tc qdisc del dev v0 root
    begin
    for ((i = 0; i < 100; i++)); do printf %1000s >&3; done
    until [ "$(counted backlog)" = 0 ]; do busybox usleep 1000; done
    before=$(counted dropped)
    busybox sleep "$seconds"
    printf %1000s >&3
    busybox usleep 100000
    [ "$(counted dropped)" = "$before" ] && fate=sent || fate=dropped
    echo "RESULT after $seconds s: $fate"
done
tc qdisc del dev v0 root
tc qdisc add dev v0 root red limit 400000 min 30000 max 35000 avpkt 1000 burst 55 bandwidth 10mbit probability 1
found 'probability [0-9.e-]+' 'RESULT red: '
tc qdisc del dev v0 root
tc qdisc add dev v0 root choke limit 1000 bandwidth 10mbit probability 1
found 'probability [0-9.e-]+' 'RESULT choke: '
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
