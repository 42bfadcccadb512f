"""Sockets of IPv4 and IPv6 whose packets say which priority they have."""

import socket


def ip_socket(address: str, kind: socket.SocketKind, tos: int) -> socket.socket:
    """Make a socket of the address's version of IP; it is neither bound nor connected.

    tos: the byte TOS of IPv4, the traffic class of IPv6: DSCP and ECN. TCP's ECN is the kernel's.
    """
    is_ipv6 = ":" in address
    made = socket.socket(socket.AF_INET6 if is_ipv6 else socket.AF_INET, kind)
    if is_ipv6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, tos)
    else:
        made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    return made
