"""Facts about a node for provisioning and for a preflight, which judges them elsewhere."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import platform
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .before import BEFORE, configured_modules, drift, loaded_modules
from .cards import MLX4, MLX5, accelerations, card_of, dcqcn_of
from .settings import KINDS
from .system import CommandError, System

Facts = dict[str, Any]
IFMAP = "/var/emulab/boot/ifmap"
"""CloudLab writes it at boot: a line `name address MAC` for each experiment interface."""
_VERSIONS = {
    "tc": ["tc", "-Version"],
    "rdma": ["rdma", "-Version"],
    "ib_write_bw": ["ib_write_bw", "--version"],
    "ping": ["ping", "-V"],
}
_PYVERBS = {
    "debian": ["dpkg-query", "--show", "--showformat", "${Version}", "python3-pyverbs"],
    "rhel": ["rpm", "--query", "--queryformat", "%{VERSION}", "python3-pyverbs"],
}
_OLDEST_RHEL = 10
"""RHEL 9 has Python 3.9; the agent needs 3.10."""
_STACKED = {"bond": "a bond", "vlan": "a VLAN"}
_OURS = ("rogue-agent.pyz", "/opt/rogue/dool")
_ROUND_TRIP = re.compile(r"= [\d.]+/([\d.]+)/")
_PING_HEADERS_BYTES = {4: 28, 6: 48}
"""IP and ICMP, by the version of IP."""
_SMALL_BYTES = 576
"""Every network passes such a packet in one piece. Source: RFC 791."""


@dataclass(frozen=True)
class Question:
    """What to look at; the options of the module `node_facts`."""

    tools: list[str]
    interfaces: list[str]
    mac: str
    address: str
    peers: dict[str, str]
    packet_bytes: int
    files: list[str]
    spool: str


def examine(system: System, question: Question) -> Facts:
    """Return all facts at once: under emulation each task costs seconds."""
    own = _interface_with_mac(system, question.mac) if question.mac else None
    names = [*question.interfaces, *([own] if own else [])]
    gids = list(_roce_gids(system))
    round_trips_ms = {
        name: _round_trip_ms(system, address, question.packet_bytes)
        for name, address in question.peers.items()
    }
    return {
        **_system_facts(system),
        "tools": {tool: _version(system, tool) for tool in question.tools},
        "interfaces": {name: _interface(system, name) for name in names},
        "interface_with_mac": own,
        "addresses": _addresses(system),
        "governors": [
            f"/{path.relative_to(system.path('/'))}"
            for path in sorted(
                system.path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
            )
        ],
        "rdma_ports": _rdma_ports(gids, question.address),
        "ipv6_gids": [
            f"{gid} on {name}" for *_, name, gid in gids if not (gid.ipv4_mapped or gid.is_link_local)
        ],
        "is_provisioned": system.path(BEFORE).exists(),
        "drift": [*_forgotten(system), *drift(system)],
        "files": {path: _checksum(system, path) for path in question.files},
        "processes": _our_processes(system),
        "spooled_bytes": sum(
            path.stat().st_size for path in system.path(question.spool).rglob("*") if path.is_file()
        ),
        "leftovers": sorted(
            f"/tmp/{path.name}" for path in system.path("/tmp").glob("rogue-*-*") if path.is_dir()
        ),
        "free_bytes": shutil.disk_usage(_existing(system, question.spool)).free,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"),
        "round_trips_ms": round_trips_ms,
        "small_packets_only": [
            name
            for name, time in round_trips_ms.items()
            if time is None and _round_trip_ms(system, question.peers[name], _SMALL_BYTES) is not None
        ],
    }


def _system_facts(system: System) -> Facts:
    """Return kernel, Python and distribution; `family` is debian, rhel or empty. Source: os-release(5)."""
    lines = re.findall(r"^(\w+)=(.*)$", system.read("/etc/os-release") or "", re.MULTILINE)
    fields = {key: value.strip("\"'") for key, value in lines}
    words = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".split()
    family = next((each for each in _PYVERBS if each in words), "")
    major = fields.get("VERSION_ID", "").partition(".")[0]
    return {
        "kernel": platform.release(),
        "python": platform.python_version(),
        "distribution": fields.get("PRETTY_NAME") or "an unknown system",
        "family": family,
        "is_supported_system": family == "debian"
        or (family == "rhel" and major.isdigit() and int(major) >= _OLDEST_RHEL),
    }


def _forgotten(system: System) -> list[str]:
    """Return the modules that should be loaded and are not."""
    builtin = system.read(f"/lib/modules/{platform.release()}/modules.builtin") or ""
    there = {
        *loaded_modules(system),
        *(Path(line).name.split(".")[0].replace("-", "_") for line in builtin.splitlines()),
    }
    return [f"kernel module {name}" for name in configured_modules(system) if name not in there]


def _interface_with_mac(system: System, mac: str) -> str | None:
    """Return the interface of CloudLab's map, else the card with that MAC, which bridges and VLANs borrow."""
    wanted = mac.replace(":", "").lower()
    lines = [line.split() for line in (system.read(IFMAP) or "").splitlines()]
    pairs = [
        (words[0], words[-1])
        for words in lines
        if words and system.path(f"/sys/class/net/{words[0]}").is_dir()
    ]
    cards = sorted(path.parent.name for path in system.path("/sys/class/net").glob("*/device"))
    pairs += [(name, system.read(f"/sys/class/net/{name}/address") or "") for name in cards]
    return next((name for name, own in pairs if own.replace(":", "").lower() == wanted), None)


def _version(system: System, tool: str) -> str | None:
    """Return the tool's own text; None if it is absent."""
    try:
        text = system.run(
            _VERSIONS.get(tool) or _PYVERBS[_system_facts(system)["family"] or "debian"]
        ).strip()
    except CommandError as error:
        return None if re.search("not installed|no packages found", error.stderr) else "installed"
    return text.splitlines()[0] if text else "installed"


def _interface(system: System, name: str) -> Facts | None:
    """Return MAC, MTU, state, receive offload, stacking and card; None if there is no such interface.

    Between two bridges of one switch nothing arrives: packets were merged where they came in.
    """
    directory = f"/sys/class/net/{name}"
    mtu = system.read(f"{directory}/mtu")
    if mtu is None:
        return None
    has_wire = system.read(f"{directory}/iflink") == system.read(f"{directory}/ifindex")
    try:
        merging = has_wire and re.search(
            r"generic-receive-offload: (\w+)", system.run(["ethtool", "-k", name])
        )
    except CommandError:
        merging = None
    return {
        "mac": system.read(f"{directory}/address") or "",
        "mtu": int(mtu),
        "is_up": system.read(f"{directory}/operstate") in {"up", "unknown"},
        "gro": merging.group(1) if merging else None,
        "stacked": _stacked(system, name),
        "card": _card(system, name),
    }


def _stacked(system: System, name: str) -> str:
    """Return in words that it is a bond, a VLAN or a part of a bond; empty for an interface by itself.

    Source: Linux, `SET_NETDEV_DEVTYPE` in drivers/net/bonding/bond_main.c and net/8021q/vlan_dev.c, which
    `uevent` shows; Documentation/ABI, testing/sysfs-class-net (master).
    """
    directory = f"/sys/class/net/{name}"
    found = re.search(r"^DEVTYPE=(\w+)$", system.read(f"{directory}/uevent") or "", re.MULTILINE)
    if found and found.group(1) in _STACKED:
        return _STACKED[found.group(1)]
    is_of_bond = bool(system.read(f"{directory}/master/bonding/mode"))
    return f"a part of the bond {system.path(f'{directory}/master').resolve().name}" if is_of_bond else ""


def _card(system: System, name: str) -> Facts | None:
    """Return what roles and the preflight need of a card; None for a device of another driver."""
    card = card_of(system, name)
    if card.driver not in {MLX4, MLX5}:
        return None
    try:
        there = KINDS["card_priorities"].observe(system, name)
    except CommandError:  # dcb is not installed yet
        there = {}
    pauses = dict(pair.split(":") for pair in there.get("pfc", {}).get("prio-pfc", "").split())
    has_table = bool(there.get("app", {}).get("dscp-prio"))
    device = f"/sys/class/net/{name}/device"
    return {
        **card._asdict(),
        "model": system.read(f"/sys/class/infiniband/{card.device}/hca_type") or "",
        "trust": "dscp" if card.driver == MLX5 and has_table else "pcp" if there else "",
        "paused": [int(priority) for priority, state in pauses.items() if state == "on"],
        "dcqcn": dcqcn_of(system, name, card),
        "accelerations": accelerations(system, card),
        "interrupts": sorted(
            (path.name for path in system.path(f"{device}/msi_irqs").glob("[0-9]*")), key=int
        ),
        "local_processors": _processors(system.read(f"{device}/local_cpulist") or ""),
    }


def _processors(words: str) -> list[int]:
    """Return the numbers of a list such as `0-3,8`."""
    ranges = (part.partition("-")[::2] for part in words.split(",") if part)
    return [number for first, last in ranges for number in range(int(first), int(last or first) + 1)]


def _addresses(system: System) -> dict[str, list[str]]:
    """Return addresses by interface, without link-local ones."""
    found: dict[str, list[str]] = {}
    try:
        lines = system.run(["ip", "-oneline", "address", "show"]).splitlines()
    except CommandError:  # iproute2 is not installed yet
        return found
    for line in lines:
        _, name, _, address, *_ = line.split()
        parsed = ipaddress.ip_interface(address).ip
        if parsed.version == 4 or not parsed.is_link_local:
            found.setdefault(name, []).append(str(parsed))
    return found


def _rdma_ports(gids: list[tuple[Path, int, str, ipaddress.IPv6Address]], address: str) -> list[Facts]:
    """Return RoCE v2 entries of IPv4 addresses in GID tables, and of `address`, of either family."""
    wanted = ipaddress.IPv6Address(address if ":" in address else f"::ffff:{address}") if address else None
    return [
        {
            "device": port.parents[1].name,
            "port": int(port.name),
            "gid_index": index,
            "interface": interface,
            "state": (port / "state").read_text().split(":")[-1].strip(),
            "hca_type": _text(port.parents[1] / "hca_type"),
            "rate_bps": round(
                float((re.match(r"([\d.]+) Gb/sec", _text(port / "rate")) or ["", "0"])[1]) * 1e9
            ),
            "is_asked_for": gid == wanted,
        }
        for port, index, interface, gid in gids
        if gid.ipv4_mapped is not None or gid == wanted
    ]


def _text(path: Path) -> str:
    """Return the text of a file that not every device has."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _roce_gids(system: System) -> Iterator[tuple[Path, int, str, ipaddress.IPv6Address]]:
    """Yield port, index, interface and GID of each RoCE v2 entry; soft-RoCE has a thousand slots."""
    for types in sorted(system.path("/sys/class/infiniband").glob("*/ports/*/gid_attrs/types/*")):
        port = types.parents[2]
        try:
            kind = types.read_text().strip()
            interface = (port / "gid_attrs/ndevs" / types.name).read_text().strip()
            gid = ipaddress.IPv6Address((port / "gids" / types.name).read_text().strip())
        except OSError:  # an empty slot of the table
            continue
        if kind == "RoCE v2":
            yield port, int(types.name), interface, gid


def _checksum(system: System, path: str) -> str | None:
    file = system.path(path)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _our_processes(system: System) -> list[str]:
    """Return the agents and samplers that run."""
    found = []
    for path in sorted(system.path("/proc").glob("[0-9]*/cmdline")):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has just ended
            continue
        if any(word.endswith(_OURS) for word in words[:3]):
            found.append(f"{path.parent.name} {' '.join(words).strip()}")
    return found


def _existing(system: System, directory: str) -> str:
    path = system.path(directory)
    while not path.exists():
        path = path.parent
    return str(path)


def _round_trip_ms(system: System, address: str, packet_bytes: int) -> float | None:
    """Return the mean for packets of that size in one piece; None if no reply came."""
    size = str(packet_bytes - _PING_HEADERS_BYTES[6 if ":" in address else 4])
    command = ["ping", "-n", "-q", "-c", "3", "-i", "0.2", "-W", "2", "-M", "do", "-s", size, address]
    try:
        found = _ROUND_TRIP.search(system.run(command))
    except CommandError:
        return None
    return float(found.group(1)) if found else None
