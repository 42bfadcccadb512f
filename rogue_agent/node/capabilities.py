"""Capabilities of a node, from what the kernel shows without opening a device."""

import ipaddress
import os
import platform
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rogue.agent.drivers.limiters.dcb import has_limiters, paused_priorities
from rogue.agent.drivers.verbs.card_facts import by_firmware, card_facts, dcqcn_state, output_of
from rogue.agent.drivers.verbs.discovery import SYSFS, PortAddress, roce_ports
from rogue.agent.node.host_facts import idle_states, interrupt_moderation, offloads
from rogue.agent.node.messages import PROTOCOL, Capabilities

TCP_CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
LIBRARIES = Path("/usr")
_LIBIBVERBS = "libibverbs.so.1.*.*.*"
_FIRST_LIMITER_CLASS = "class htb 1:11 "


def capabilities(
    sysfs: Path = SYSFS,
    controls: Path = TCP_CONGESTION_CONTROLS,
    libraries: Path = LIBRARIES,
    known: Sequence[PortAddress] = (),
    *,
    is_built: bool = False,
) -> Capabilities:
    """Inspect this node; `known` are its ports, if they have been found already.

    is_built: the harness has built the network, so that limiters and offloads need no search, which takes
    four programs per interface.
    """
    ports = known or roce_ports(sysfs)
    cards = {port.device: port.driver for port in ports}
    facts = {device: card_facts(device, driver, output_of, sysfs) for device, driver in cards.items()}
    netdevs = [] if is_built else sorted({port.netdev for port in ports if port.netdev})
    tuned = {netdev: _tuning(netdev) for netdev in netdevs}
    return Capabilities(
        protocol=PROTOCOL,
        host=platform.node(),
        kernel=platform.release(),
        python=platform.python_version(),
        pyverbs=_pyverbs_version(libraries),
        cores=os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        congestion_controls=controls.read_text().split() if controls.exists() else [],
        ports=[_with_facts(_port(port) | tuned.get(port.netdev, {}), facts[port.device]) for port in ports],
        idle_states=idle_states(),
        limiters=_limiters(netdevs),
    )


def _port(port: PortAddress) -> dict[str, object]:
    return {
        "device": port.device,
        "port": port.port,
        "gid_index": port.gid_index,
        "gid": port.gid,
        "address": _address(port.gid),
        "netdev": port.netdev,
        "rate_bps": port.rate_bps,
        "driver": port.driver,
        "state": port.state,
        "hca_type": port.hca_type,
        "dcqcn": dcqcn_state(port.netdev, port.driver),
        "paused": " ".join(map(str, paused_priorities(port.netdev))),
    }


def _tuning(netdev: str) -> dict[str, object]:
    return {
        "offloads": offloads(netdev, output_of),
        "interrupt_moderation": interrupt_moderation(netdev, output_of),
    }


def _with_facts(port: dict[str, object], facts: dict[str, object]) -> dict[str, object]:
    """Add a card's facts to its port, and from them the state of DCQCN."""
    state = by_firmware(str(port["dcqcn"]), str(facts.get("dcqcn_mask", "")))
    return {**port, **facts, "dcqcn": state}


def _address(gid: str) -> str:
    """Return the IP address in a GID."""
    parsed = ipaddress.IPv6Address(gid)
    return str(parsed.ipv4_mapped or parsed)


def _pyverbs_version(libraries: Path) -> str | None:
    """Return the version of pyverbs's rdma-core, None if there is no pyverbs.

    Distributions give pyverbs no version, but the name of libibverbs ends with that of rdma-core:
    libibverbs.so.1.14.44.0 belongs to 44.0.
    """
    if find_spec("pyverbs") is None:
        return None
    found = [path for place in ("lib*", "lib*/*") for path in libraries.glob(f"{place}/{_LIBIBVERBS}")]
    return ".".join(min(found).name.split(".")[4:]) if found else "unknown"


def _limiters(netdevs: list[str]) -> list[str]:
    """Return the kinds of limiter that are ready; `software` always is."""
    found = [f"htb:{netdev}" for netdev in netdevs if _has_htb_classes(netdev)]
    found += [f"dcb:{netdev}" for netdev in netdevs if has_limiters(netdev)]
    return [*found, "software"]


def _has_htb_classes(netdev: str) -> bool:
    return _FIRST_LIMITER_CLASS in output_of(["tc", "class", "show", "dev", netdev])
