"""Measure what a NIC itself can do and print it as JSON: `rogue-agent.pyz card`, for `rogue doctor --card`.

It needs root. Each part is independent: one that fails gives the reason in a sentence, and the others
continue. Rates are restored. It has not run on a real card yet.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Literal

from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.limiters.base import LimiterError
from rogue.agent.drivers.limiters.dcbnl import CLASSES, DcbNetlink
from rogue.agent.drivers.verbs import pyverbs as loading
from rogue.agent.drivers.verbs.card_facts import card_facts
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
"""Whole steps of every card, fine and coarse, but for 0.1 and 2.5 Gb/s, which a fast mlx5 rounds down."""
_PATH = PathAttributes(mtu_bytes=1024, retry_count=7, timeout_exponent=14)
_SIZES = QueueSizes(sends=16, receives=1)
_CQ_ENTRIES = 32
_SERVICES: 'tuple[Literal["rc"], Literal["uc"]]' = ("rc", "uc")
_PATIENCE_S = 20
Facts = dict[str, object]


def card(arguments: Sequence[str]) -> int:
    """Print a line of JSON: what the card with an experiment address says, and where it is."""
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
    """All that is asked of one card; its names and addresses are left out."""
    model = {"driver": port.driver, "hca_type": port.hca_type, "rate_bps": port.rate_bps}
    said: Facts = {"schema": SCHEMA, **model, **card_facts(port.device, port.driver, _ask)}
    said["rates"] = result_or_reason(lambda: rates(DcbNetlink(port.netdev), host_ns))
    try:
        verbs = loading.load()
        context = _opened(verbs, port.device)
    except (VerbsUnavailable, VerbsError) as error:
        return {**said, **{part: {"reason": str(error)} for part in ("clock", *_SERVICES)}}
    raw = verbs.enums.ibv_values_mask.IBV_VALUES_MASK_RAW_CLOCK
    said["clock"] = result_or_reason(
        lambda: clock(NicClock(context, raw, verbs.error).now, host_ns, time.sleep)
    )
    for service in _SERVICES:
        said[service] = result_or_reason(partial(_queue_pair, verbs, context, port, service))
    return said


def _opened(verbs: Pyverbs, device: str) -> object:
    try:
        context: object = verbs.device.Context(name=device)
    except verbs.error as error:
        raise VerbsError("ibv_open_device", str(error)) from error
    return context


def result_or_reason(ask: Callable[[], Facts]) -> Facts:
    """What a part says, or the sentence with which it failed."""
    try:
        return ask()
    except (VerbsError, LimiterError, OSError) as error:
        return {"reason": " ".join(str(error).split())}


def clock(now: Callable[[], NicNs], host: Callable[[], HostNs], wait: Callable[[float], object]) -> Facts:
    """How long a reading of the card's clock takes, and how it goes beside the host's over a second."""
    first = _reading(now, host)
    wait(WAIT_S)
    last = _reading(now, host)
    elapsed_ns = last[0] - first[0]
    drift = (last[1] - first[1] - elapsed_ns) / elapsed_ns
    return {"read_ns": min(first[2], last[2]), "drift_ppm": round(drift * 1e6, 3), "elapsed_ns": elapsed_ns}


def _reading(now: Callable[[], NicNs], host: Callable[[], HostNs]) -> tuple[float, int, int]:
    """The quickest of some: the host's time in its middle, the card's, and how long it took, in ns."""
    found = []
    for _ in range(READINGS):
        before = host()
        read = now()
        took_ns = host() - before
        found.append((before + took_ns / 2, int(read), int(took_ns)))
    return min(found, key=lambda each: each[2])


def rates(dcb: DcbNetlink, host: Callable[[], HostNs]) -> Facts:
    """What becomes of maximum rates of the last class, and how long the driver takes for each."""
    try:
        before = dcb.rates_kbps()
        if not before:
            return {"reason": "the driver has no maximum rates"}
        said: Facts = {"classes": [dcb.traffic_classes().get(each) for each in range(CLASSES)]}
        said["trusts_dscp"] = dcb.trusts_dscp()
        try:
            said["set"] = [_set(dcb, before, rate_kbps, host) for rate_kbps in RATES_KBPS]
        finally:
            dcb.set_rates(before)
        return said
    finally:
        dcb.close()


def _set(dcb: DcbNetlink, before: Sequence[int], rate_kbps: int, host: Callable[[], HostNs]) -> Facts:
    begin = host()
    dcb.set_rates([*before[:-1], rate_kbps])
    took_ns = host() - begin
    return {"asked_kbps": rate_kbps, "has_kbps": dcb.rates_kbps()[-1], "took_ns": int(took_ns)}


def _queue_pair(verbs: Pyverbs, context: object, port: PortAddress, service: 'Literal["rc", "uc"]') -> Facts:
    try:
        return queue_pair(verbs, context, port, service)
    except verbs.error as error:
        raise VerbsError(f"{service} queue pair", str(error)) from error


def queue_pair(verbs: Pyverbs, context: object, port: PortAddress, service: 'Literal["rc", "uc"]') -> Facts:
    """Times of a queue pair's way to RTS, towards itself, and of the way back to RESET, in nanoseconds."""
    with ExitStack() as opened:
        domain = verbs.pd.PD(context)
        opened.callback(domain.close)
        queue = PolledQueue(verbs, context, _CQ_ENTRIES, nic_ns)
        opened.callback(queue.close)
        made = QueuePair(verbs, domain, queue.handle, service, _SIZES)
        opened.callback(made.close)
        remote = RemoteQueuePair(port.gid, made.qp_num, 0)
        begin = host_ns()
        made.connect(port, 0, remote, _PATH)
        said: Facts = {"ready_ns": host_ns() - begin, "clock": queue.clock_name}
        took_ns = []
        for number in range(1, RESETS + 1):
            begin = host_ns()
            made.reset()
            made.ready(number, number)
            took_ns.append(int(host_ns() - begin))
        return {**said, "reset_ns": took_ns}


def _ask(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
