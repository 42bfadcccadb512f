#!/bin/sh
# Brings one machine to the point where SSH answers and, if asked, a soft-RoCE device stands on its experiment link.
# /etc/rogue/machine sets: name, management (address), bridges, trunks (pairs a:b of bridges to join), trunk_mtu,
# and for each experiment link N = 1, 2, ...: mtu_N, address_N or bridge_N, rxe_N.

console() { echo "rogue-guest: $1" >/dev/ttyS0; }

fail() {
    console "failed: $1"
    /bin/busybox poweroff -f
}

link_up() { # device mtu
    ip link set dev "$1" mtu "$2" up || fail "cannot bring up $1 with MTU $2"
}

give_address() { # device address
    ip address add "$2" dev "$1" || fail "cannot give $1 the address $2"
}

new_bridge() { # name mtu
    ip link add "$1" type bridge stp_state 0 forward_delay 0 mcast_snooping 0 || fail "cannot make the bridge $1"
    link_up "$1" "$2"
}

join_bridge() { # device bridge
    ip link set dev "$1" master "$2" || fail "cannot make $1 a port of the bridge $2"
}

trunk() { # bridge bridge mtu
    ip link add "$1-$2" type veth peer name "$2-$1" || fail "cannot join the bridges $1 and $2"
    link_up "$1-$2" "$3"
    link_up "$2-$1" "$3"
    join_bridge "$1-$2" "$1"
    join_bridge "$2-$1" "$2"
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
link_up eth0 1500
give_address eth0 "$management"
[ -z "$bridges" ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 # a switch sends nothing of its own
for bridge in $bridges; do
    new_bridge "$bridge" "$trunk_mtu"
done
for ends in $trunks; do
    trunk "${ends%:*}" "${ends#*:}" "$trunk_mtu"
done
number=1
while eval "mtu=\${mtu_$number:-}" && [ -n "$mtu" ]; do
    eval "address=\$address_$number bridge=\$bridge_$number rxe=\$rxe_$number"
    link_up "eth$number" "$mtu"
    [ -z "$address" ] || give_address "eth$number" "$address"
    [ -z "$bridge" ] || join_bridge "eth$number" "$bridge"
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
