#!/usr/bin/busybox sh
# The first process of Linux as a process (process.py): runs the laboratory, copies its results to the host's folder,
# and ends. Its output is the program's. goodqueue reads it line by line: progress, error, done.
export PATH=/usr/sbin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o size="$captures" out /out
mount -t hostfs host /host

cd /
PYTHONHASHSEED=0 PYTHONPATH=/lab python3 -S /lab/guest.pyc process /out </dev/null 2>&1
status=$?
if [ $status = 0 ]; then
    cp /out/* /host/results/ && echo done || echo "error: the results could not be written; is the disk full?"
else
    echo "the laboratory ended with status $status"
fi
poweroff -f
