"""Measurements on a node for `rogue doctor`, printed as one line of JSON.

`rogue-agent.pyz card` measures what a NIC can do. It needs root, and restores the rates that it changes. A
part that fails gives its reason, and the others continue. It has not run on a real card yet.

`rogue-agent.pyz flood` sends one second of packets that a switch may mark. No socket receives them: the
kernel of the destination counts packets before it looks for a socket.

Sources: ECN-capable transport, RFC 3168, section 5; port 9 is discard, RFC 863; `UDP_SEGMENT` sends many
packets in one call, Linux v4.18, include/uapi/linux/udp.h.
"""

import argparse
import errno
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Literal

from rogue.agent.baselines.tcp_socket import ip_socket
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.netlink import CLASSES, DcbNetlink
from rogue.agent.drivers.verbs import pyverbs as loading
from rogue.agent.drivers.verbs.card_facts import card_facts, output_of
from rogue.agent.drivers.verbs.clock import NicClock, host_ns, nic_ns
from rogue.agent.drivers.verbs.completion_queue import PolledQueue
from rogue.agent.drivers.verbs.discovery import PortAddress, find_port
from rogue.agent.drivers.verbs.pyverbs import Pyverbs, VerbsError, VerbsUnavailable
from rogue.agent.drivers.verbs.queue_pair import PathAttributes, QueuePair, QueueSizes, RemoteQueuePair

SCHEMA = 1
READINGS = 64
WAIT_S = 1.0
RESETS = 8
RATES_KBPS = (100_000, 1_000_000, 2_500_000, 10_000_000)
"""Multiples of every card's step, except 0.1 and 2.5 Gb/s, which a fast mlx5 rounds down."""
_PATH = PathAttributes(mtu_bytes=1024, retry_count=7, timeout_exponent=14)
_SIZES = QueueSizes(sends=16, receives=1)
_CQ_ENTRIES = 32
Service = Literal["rc", "uc"]
_SERVICES: tuple[Service, Service] = ("rc", "uc")
_TOOL_TIMEOUT_S = 20.0
Facts = dict[str, object]

DISCARD_PORT = 9
ECT_0 = 0b10
_ECN_BITS = 2
_UDP_SEGMENT = 103
_NO_CHECKSUMS = errno.EIO
"""The device computes no checksums. Source: Linux v6.1, net/ipv4/udp.c (udp_send_skb)."""
_NO_SEGMENTS = errno.ENOPROTOOPT
"""The kernel is older than UDP_SEGMENT."""
_HEADERS_BYTES = {socket.AF_INET: 28, socket.AF_INET6: 48}
"""IPv4 20 or IPv6 40, UDP 8."""
_DATAGRAM_BYTES_MAX = 65_507
_SEGMENTS_MAX = 64
_BUFFER_BYTES = 131_072
"""Send buffer, so small that the host's own queue does not mark (CoDel marks at 5 ms)."""
_SENDERS_MAX = 4
_DSCP_MAX = 63
_MTU_BYTES_MIN, _MTU_BYTES_MAX = 576, 65_535


def card(arguments: Sequence[str]) -> int:
    """Measure the card that has an experiment address, and print the facts."""
    parser = argparse.ArgumentParser("rogue-agent.pyz card")
    parser.add_argument("address")
    try:
        port = find_port(parser.parse_args(arguments).address)
    except VerbsUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    where = {"device": port.device, "port": port.port, "gid_index": port.gid_index, "netdev": port.netdev}
    sys.stdout.write(json.dumps({"card": probe_card(port), "where": where}, sort_keys=True) + "\n")
    return 0


def probe_card(port: PortAddress) -> Facts:
    """Measure one card; the result has no names and addresses."""
    model = {"driver": port.driver, "hca_type": port.hca_type, "rate_bps": port.rate_bps}
    ask = partial(output_of, timeout_s=_TOOL_TIMEOUT_S)
    facts: Facts = {"schema": SCHEMA, **model, **card_facts(port.device, port.driver, ask)}
    facts["rates"] = result_or_reason(lambda: rates(DcbNetlink(port.netdev), host_ns))
    try:
        verbs = loading.load()
        context = _opened(verbs, port.device)
    except (VerbsUnavailable, VerbsError) as error:
        return {**facts, **{part: {"reason": str(error)} for part in ("clock", *_SERVICES)}}
    raw = verbs.enums.ibv_values_mask.IBV_VALUES_MASK_RAW_CLOCK
    facts["clock"] = result_or_reason(
        lambda: clock(NicClock(context, raw, verbs.error).now, host_ns, time.sleep)
    )
    for service in _SERVICES:
        facts[service] = result_or_reason(partial(_queue_pair, verbs, context, port, service))
    return facts


def _opened(verbs: Pyverbs, device: str) -> object:
    try:
        context: object = verbs.device.Context(name=device)
    except verbs.error as error:
        raise VerbsError("ibv_open_device", str(error)) from error
    return context


def result_or_reason(measure: Callable[[], Facts]) -> Facts:
    """Return what a part measures, or the reason for its failure."""
    try:
        return measure()
    except (VerbsError, LimiterError, OSError) as error:
        return {"reason": " ".join(str(error).split())}


def clock(now: Callable[[], NicNs], host: Callable[[], HostNs], wait: Callable[[float], object]) -> Facts:
    """Measure how long a reading of the card's clock takes, and its drift against the host's in a second."""
    first = _reading(now, host)
    wait(WAIT_S)
    last = _reading(now, host)
    elapsed_ns = last[0] - first[0]
    drift = (last[1] - first[1] - elapsed_ns) / elapsed_ns
    return {"read_ns": min(first[2], last[2]), "drift_ppm": round(drift * 1e6, 3), "elapsed_ns": elapsed_ns}


def _reading(now: Callable[[], NicNs], host: Callable[[], HostNs]) -> tuple[float, int, int]:
    """Return the quickest of several readings: host time at its middle, card time, duration, all in ns."""
    found = []
    for _ in range(READINGS):
        before = host()
        read = now()
        took_ns = host() - before
        found.append((before + took_ns / 2, int(read), int(took_ns)))
    return min(found, key=lambda each: each[2])


def rates(dcb: DcbNetlink, host: Callable[[], HostNs]) -> Facts:
    """Set maximum rates of the last class; report the resulting rates and how long the driver takes."""
    try:
        before = dcb.rates_kbps()
        if not before:
            return {"reason": "the driver has no maximum rates"}
        facts: Facts = {"classes": [dcb.traffic_classes().get(each) for each in range(CLASSES)]}
        facts["trusts_dscp"] = dcb.trusts_dscp()
        try:
            facts["set"] = [_set(dcb, before, rate_kbps, host) for rate_kbps in RATES_KBPS]
        finally:
            dcb.set_rates(before)
        return facts
    finally:
        dcb.close()


def _set(dcb: DcbNetlink, before: Sequence[int], rate_kbps: int, host: Callable[[], HostNs]) -> Facts:
    begin = host()
    dcb.set_rates([*before[:-1], rate_kbps])
    took_ns = host() - begin
    return {"asked_kbps": rate_kbps, "has_kbps": dcb.rates_kbps()[-1], "took_ns": int(took_ns)}


def _queue_pair(verbs: Pyverbs, context: object, port: PortAddress, service: Service) -> Facts:
    try:
        return queue_pair(verbs, context, port, service)
    except verbs.error as error:
        raise VerbsError(f"{service} queue pair", str(error)) from error


def queue_pair(verbs: Pyverbs, context: object, port: PortAddress, service: Service) -> Facts:
    """Measure how long a queue pair, connected to itself, takes to RTS, and through RESET back to RTS."""
    with ExitStack() as opened:
        domain = verbs.pd.PD(context)
        opened.callback(domain.close)
        queue = PolledQueue(verbs, context, _CQ_ENTRIES, nic_ns)
        opened.callback(queue.close)
        made = QueuePair(verbs, domain, queue.cq, service, _SIZES)
        opened.callback(made.close)
        remote = RemoteQueuePair(port.gid, made.qp_num, 0)
        begin = host_ns()
        made.connect(port, 0, remote, _PATH)
        facts: Facts = {"ready_ns": host_ns() - begin, "clock": queue.clock_name}
        took_ns = []
        for number in range(1, RESETS + 1):
            begin = host_ns()
            made.reset()
            made.ready(number, number)
            took_ns.append(int(host_ns() - begin))
        return {**facts, "reset_ns": took_ns}


def flood(arguments: Sequence[str]) -> int:
    """Send packets from several threads, and print how many packets, bytes and seconds it was."""
    options = _parse(arguments)
    senders = min(_SENDERS_MAX, len(os.sched_getaffinity(0)))
    begin_ns = time.monotonic_ns()
    end_ns = begin_ns + int(options.seconds * 1e9)
    with ThreadPoolExecutor(senders) as pool:
        sent = [
            pool.submit(send_until, (options.address, DISCARD_PORT), options.dscp, options.mtu, end_ns)
            for _ in range(senders)
        ]
        packets, size_bytes = (sum(values) for values in zip(*(each.result() for each in sent)))  # noqa: B905
    took_s = (time.monotonic_ns() - begin_ns) / 1e9
    sys.stdout.write(json.dumps({"packets": packets, "bytes": size_bytes, "seconds": took_s}) + "\n")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("rogue-agent.pyz flood")
    parser.add_argument("address")
    parser.add_argument("--dscp", type=_between(0, _DSCP_MAX), required=True)
    parser.add_argument(
        "--mtu", type=_between(_MTU_BYTES_MIN, _MTU_BYTES_MAX), required=True, metavar="BYTES"
    )
    parser.add_argument("--seconds", type=float, default=1.0)
    return parser.parse_args(arguments)


def _between(least: int, most: int) -> Callable[[str], int]:
    def checked(word: str) -> int:
        if not (word.isascii() and word.isdigit() and least <= int(word[:10]) <= most):
            raise argparse.ArgumentTypeError(f"got {word[:20]}, expected {least} to {most}")
        return int(word)

    return checked


def send_until(address: tuple[str, int], dscp: int, mtu_bytes: int, end_ns: int) -> tuple[int, int]:
    """Send packets of the MTU's size until an instant, at least once; return packets and bytes."""
    with open_socket(address[0], dscp) as opened:
        payload_bytes = mtu_bytes - _HEADERS_BYTES[opened.family]
        segments = _first(opened, address, payload_bytes)
        content = bytes(payload_bytes * segments)
        packets = segments
        while time.monotonic_ns() < end_ns:
            opened.sendto(content, address)
            packets += segments
    return packets, packets * mtu_bytes


def open_socket(address: str, dscp: int) -> socket.socket:
    """Open a UDP socket whose packets have this DSCP and are ECN-capable."""
    made = ip_socket(address, socket.SOCK_DGRAM, dscp << _ECN_BITS | ECT_0)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    return made


def _first(opened: socket.socket, address: tuple[str, int], payload_bytes: int) -> int:
    """Make the first call; return how many packets a call can send: 1 if kernel or device cannot segment."""
    segments = min(_SEGMENTS_MAX, _DATAGRAM_BYTES_MAX // payload_bytes)
    try:
        opened.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, payload_bytes)
        opened.sendto(bytes(payload_bytes * segments), address)
    except OSError as error:
        if error.errno == _NO_CHECKSUMS:
            opened.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, 0)
        elif error.errno != _NO_SEGMENTS:
            raise
        opened.sendto(bytes(payload_bytes), address)
        return 1
    return segments
