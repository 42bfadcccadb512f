#!/bin/busybox sh
# The first process of a kernel: runs main.py of the folder CELL, says how it ended, and powers off.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1
mount() { /bin/busybox mount "$@"; }
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
/bin/busybox mkdir /run/cell
mount -t hostfs cell /run/cell -o "$CELL"
cd /run/cell || /bin/busybox poweroff -f
python3 main.py </dev/null >main.log 2>&1
echo $? >exit
/bin/busybox poweroff -f
