#!/bin/busybox sh
# First program of a machine: lay a RAM file system over the read-only base image and hand over to it.
# The machine's identity (host key, addresses) lies in /seed, which its own initial RAM disk carries.

fail() {
    echo "rogue-guest: failed: $1" >/dev/ttyS0
    poweroff -f
}

export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev

case " $(cat /proc/cmdline) " in
*" rogue.probe "*)
    echo "rogue-guest: probe answered" >/dev/ttyS0
    poweroff -f
    ;;
esac

while read -r module; do
    insmod "/modules/$module" || fail "cannot load kernel module $module"
done </modules/order

tries=0
until [ -b /dev/vda ]; do
    tries=$((tries + 1))
    [ "$tries" -le 500 ] || fail "the disk /dev/vda did not appear"
    usleep 20000
done

mount -t ext4 -o ro,noload /dev/vda /base || fail "cannot mount the base image"
mount -t tmpfs -o size=60% overlay /overlay || fail "cannot mount the overlay's RAM file system"
mkdir /overlay/upper /overlay/work
mount -t overlay -o lowerdir=/base,upperdir=/overlay/upper,workdir=/overlay/work overlay /root ||
    fail "cannot mount the overlay"
cp -a /seed/. /root/ || fail "cannot copy the machine's identity"
mount --move /dev /root/dev
mount --move /proc /root/proc
mount --move /sys /root/sys
exec switch_root /root /bin/busybox init
