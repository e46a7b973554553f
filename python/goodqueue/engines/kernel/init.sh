#!/usr/bin/busybox sh
# The first process of the virtual machine: runs the laboratory, copies its results to the host, and switches off.
# Its output goes to the serial console. goodqueue reads it line by line: progress, error, done.
export PATH=/usr/sbin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o size="$captures" out /out
modprobe -a veth inet_diag tcp_diag sch_htb sch_netem 9p
for module in /lab/*.ko; do
    [ ! -e "$module" ] || busybox insmod "$module"
done

cd /
# Without PYTHONHASHSEED, Python would draw its hash seed before guest.py has seeded the kernel.
PYTHONHASHSEED=0 PYTHONPATH=/lab python3 -S /lab/guest.py /out </dev/null 2>&1
status=$?
if [ $status = 0 ]; then
    # Only now, since the guest's clock continues while the guest waits for the host.
    modprobe -a virtio_mmio 9pnet_virtio
    if mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 results /results \
        && cp /out/* /results/ && umount /results; then
        echo done
    else
        echo "error: the results could not be written; is the disk full?"
    fi
else
    echo "the laboratory ended with status $status"
fi
poweroff -f
