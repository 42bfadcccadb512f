"""What a node is and has, as far as the kernel shows it without opening a device."""

import ipaddress
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rogue.agent.drivers.limiters.dcb import has_limiters, paused_priorities
from rogue.agent.drivers.verbs.card_facts import by_firmware, card_facts, dcqcn_state
from rogue.agent.drivers.verbs.discovery import SYSFS, PortAddress, roce_ports
from rogue.agent.node.messages import PROTOCOL, Capabilities

TCP_CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
LIBRARIES = Path("/usr")
_LIBIBVERBS = "libibverbs.so.1.*.*.*"
_PATIENCE_S = 5.0
_FIRST_LIMITER_CLASS = "class htb 1:11 "


def capabilities(
    sysfs: Path = SYSFS,
    controls: Path = TCP_CONGESTION_CONTROLS,
    libraries: Path = LIBRARIES,
    known: Sequence[PortAddress] = (),
    *,
    has_limiters: bool = True,
) -> Capabilities:
    """Look at this node; `known` are its ports, if they have been found already.

    has_limiters: whether limiters are looked for, which takes two programs for each interface.
    """
    ports = known or roce_ports(sysfs)
    cards = {port.device: port.driver for port in ports}
    facts = {device: card_facts(device, driver, _output, sysfs) for device, driver in cards.items()}
    return Capabilities(
        protocol=PROTOCOL,
        host=platform.node(),
        kernel=platform.release(),
        python=platform.python_version(),
        pyverbs=_pyverbs_version(libraries),
        cores=os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        congestion_controls=controls.read_text().split() if controls.exists() else [],
        ports=[_with_facts(_port(port), facts[port.device]) for port in ports],
        limiters=_limiters(sorted({port.netdev for port in ports if port.netdev and has_limiters})),
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


def _with_facts(port: dict[str, object], facts: dict[str, object]) -> dict[str, object]:
    """A port with what its card says of itself, by which DCQCN may be known."""
    state = by_firmware(str(port["dcqcn"]), str(facts.get("dcqcn_mask", "")))
    return {**port, **facts, "dcqcn": state}


def _address(gid: str) -> str:
    """The IP address in a GID."""
    parsed = ipaddress.IPv6Address(gid)
    return str(parsed.ipv4_mapped or parsed)


def _pyverbs_version(libraries: Path) -> str | None:
    """Version of the rdma-core that pyverbs belongs to; None if there is no pyverbs.

    Distributions give pyverbs no version of its own, but libibverbs carries rdma-core's behind its own:
    libibverbs.so.1.14.44.0 is that of 44.0.
    """
    if find_spec("pyverbs") is None:
        return None
    found = [path for place in ("lib*", "lib*/*") for path in libraries.glob(f"{place}/{_LIBIBVERBS}")]
    return ".".join(min(found).name.split(".")[4:]) if found else "unknown"


def _limiters(netdevs: list[str]) -> list[str]:
    """Kinds of limiter that are ready for use; `software` needs nothing."""
    found = [f"htb:{netdev}" for netdev in netdevs if _has_htb_classes(netdev)]
    found += [f"dcb:{netdev}" for netdev in netdevs if has_limiters(netdev)]
    return [*found, "software"]


def _has_htb_classes(netdev: str) -> bool:
    return _FIRST_LIMITER_CLASS in _output(["tc", "class", "show", "dev", netdev])


def _output(command: list[str]) -> str:
    """What a program prints; nothing where it is absent, fails or hangs."""
    if shutil.which(command[0]) is None:
        return ""
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
