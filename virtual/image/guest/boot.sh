#!/bin/sh
# Brings one machine to the point where SSH answers and, if asked, a soft-RoCE device stands on its experiment link.
# /etc/rogue/machine sets: name, management (address), and for each experiment link N = 1, 2, ...: address_N, mtu_N, rxe_N.

console() { echo "rogue-guest: $1" >/dev/ttyS0; }

fail() {
    console "failed: $1"
    /bin/busybox poweroff -f
}

link_up() { # device address mtu
    ip link set dev "$1" mtu "$3" up || fail "cannot bring up $1 with MTU $3"
    ip address add "$2" dev "$1" || fail "cannot give $1 the address $2"
}

soft_roce() { # rdma-device device
    modprobe rdma_rxe || fail "the kernel has no rdma_rxe"
    rdma link add "$1" type rxe netdev "$2" || fail "cannot put soft-RoCE on $2"
}

export PATH=/usr/sbin:/usr/bin:/sbin:/bin
. /etc/rogue/machine || fail "/etc/rogue/machine is missing"
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /dev/pts /dev/shm /run/sshd
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
echo "$name" >/proc/sys/kernel/hostname
ip link set dev lo up

modprobe virtio_net || fail "the kernel has no virtio_net"
link_up eth0 "$management" 1500
number=1
while eval "address=\${address_$number:-}" && [ -n "$address" ]; do
    eval "mtu=\$mtu_$number rxe=\$rxe_$number"
    link_up "eth$number" "$address" "$mtu"
    [ "$rxe" = no ] || soft_roce "rxe$((number - 1))" "eth$number"
    number=$((number + 1))
done

ulimit -l unlimited
/usr/sbin/sshd || fail "sshd does not start"
tries=0
until [ -s /run/sshd.pid ]; do # sshd writes it once it listens
    tries=$((tries + 1))
    [ "$tries" -le 500 ] || fail "sshd does not listen"
    /bin/busybox usleep 20000
done
console "ready"
