"""What a preflight wants to know about a node; what it means is decided elsewhere."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import platform
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .accelerations import accelerations
from .cards import MLX4, MLX5, card_of, dcqcn_state
from .distribution import DEBIAN, RHEL, family_of, is_supported, name_of
from .interfaces import find_interface
from .kinds.card_priorities import CardPriorities
from .ledger import Ledger
from .states import drift
from .system import CommandError, System

Facts = dict[str, Any]
Gid = tuple[Path, int, str, ipaddress.IPv6Address]
"""Port, index, interface and GID."""
_VERSIONS = {
    "tc": ["tc", "-Version"],
    "rdma": ["rdma", "-Version"],
    "ib_write_bw": ["ib_write_bw", "--version"],
    "ping": ["ping", "-V"],
}
_PYVERBS = {
    DEBIAN: ["dpkg-query", "--show", "--showformat", "${Version}", "python3-pyverbs"],
    RHEL: ["rpm", "--query", "--queryformat", "%{VERSION}", "python3-pyverbs"],
}
_STACKED = {"bond": "a bond", "vlan": "a VLAN"}
_OURS = ("rogue-agent.pyz", "/opt/rogue/dool")
_ROUND_TRIP = re.compile(r"= [\d.]+/([\d.]+)/")
_PING_HEADERS_BYTES = {4: 28, 6: 48}
"""IP and ICMP, by the version of IP."""
_SMALL_BYTES = 576
"""Every network passes such a packet in one piece. Source: RFC 791."""


@dataclass(frozen=True)
class Question:
    """What to look at."""

    tools: list[str]
    interfaces: list[str]
    mac: str
    """Of one more interface; empty if all are named."""
    address: str
    """On the experiment network; empty on a node that has none."""
    peers: dict[str, str]
    """Addresses to reach, by name."""
    packet_bytes: int
    """IP packet that must pass in one piece."""
    files: list[str]
    spool: str


def examine(system: System, question: Question) -> Facts:
    """Everything at once: a task costs more than what it does."""
    ledger = Ledger(system)
    own = find_interface(system, question.mac) if question.mac else None
    names = [*question.interfaces, *([own] if own else [])]
    gids = list(_roce_gids(system))
    round_trips_ms = {
        name: _round_trip_ms(system, address, question.packet_bytes)
        for name, address in question.peers.items()
    }
    return {
        "kernel": platform.release(),
        "python": platform.python_version(),
        "distribution": name_of(system),
        "is_supported_system": is_supported(system),
        "tools": {tool: _version(system, tool) for tool in question.tools},
        "interfaces": {name: _interface(system, name) for name in names},
        "interface_with_mac": own,
        "addresses": _addresses(system),
        "rdma_ports": _rdma_ports(gids, question.address),
        "ipv6_gids": _ipv6_gids(gids),
        "changes": len(ledger.entries),
        "drift": drift(system, ledger),
        "files": {path: _checksum(system, path) for path in question.files},
        "processes": _our_processes(system),
        "spooled_bytes": _spooled_bytes(system, question.spool),
        "leftovers": _leftovers(system),
        "free_bytes": shutil.disk_usage(_existing(system, question.spool)).free,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"),
        "round_trips_ms": round_trips_ms,
        "small_packets_only": [
            name
            for name, time in round_trips_ms.items()
            if time is None and _round_trip_ms(system, question.peers[name], _SMALL_BYTES) is not None
        ],
    }


def _version(system: System, tool: str) -> str | None:
    """Its own words; None if it is not there."""
    try:
        words = system.run(_VERSIONS.get(tool) or _PYVERBS[family_of(system) or DEBIAN]).strip()
    except CommandError as error:
        return None if "not installed" in error.words or "no packages found" in error.words else "there"
    return words.splitlines()[0] if words else "there"


def _interface(system: System, name: str) -> Facts | None:
    """MAC, MTU, whether it is up, and whether packets are merged on arrival; None if there is none such.

    Between two bridges of one switch nothing arrives: what passes there was merged where it came in.
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
        "mac": (system.read(f"{directory}/address") or "").strip(),
        "mtu": int(mtu),
        "is_up": (system.read(f"{directory}/operstate") or "").strip() in {"up", "unknown"},
        "gro": merging.group(1) if merging else None,
        "stacked": _stacked(system, name),
        "card": _card(system, name),
    }


def _stacked(system: System, name: str) -> str:
    """What it is made of other interfaces, or part of, whatever it is called; empty for one by itself.

    Source: Linux, `SET_NETDEV_DEVTYPE` in drivers/net/bonding/bond_main.c and net/8021q/vlan_dev.c, which
    `uevent` shows; Documentation/ABI, testing/sysfs-class-net (master).
    """
    directory = f"/sys/class/net/{name}"
    found = re.search(r"^DEVTYPE=(\w+)$", system.read(f"{directory}/uevent") or "", re.MULTILINE)
    if found and found.group(1) in _STACKED:
        return _STACKED[found.group(1)]
    master = system.path(f"{directory}/master")
    is_of_bond = bool(system.read(f"{directory}/master/bonding/mode"))
    return f"a part of the bond {master.resolve().name}" if is_of_bond else ""


def _card(system: System, name: str) -> Facts | None:
    """Driver, trust, pauses, DCQCN and accelerations; None for what is no card of a known driver."""
    card = card_of(system, name)
    if card.driver not in {MLX4, MLX5}:
        return None
    try:
        there = CardPriorities().observe(system, name)
    except CommandError:  # without dcb nobody can say
        return None
    pauses = dict(pair.split(":") for pair in there.get("pfc", {}).get("prio-pfc", "").split())
    has_table = bool(there.get("app", {}).get("dscp-prio"))
    return {
        "driver": card.driver,
        "trust": "dscp" if card.driver == MLX5 and has_table else "pcp",
        "paused": [int(priority) for priority, state in pauses.items() if state == "on"],
        "dcqcn": dcqcn_state(system, name),
        "accelerations": accelerations(system, name),
    }


def _addresses(system: System) -> dict[str, list[str]]:
    """Addresses by interface, without those that every link of IPv6 has."""
    found: dict[str, list[str]] = {}
    for line in system.run(["ip", "-oneline", "address", "show"]).splitlines():
        _, name, _, address, *_ = line.split()
        parsed = ipaddress.ip_interface(address).ip
        if parsed.version == 4 or not parsed.is_link_local:
            found.setdefault(name, []).append(str(parsed))
    return found


def _rdma_ports(gids: Iterable[Gid], address: str) -> list[Facts]:
    """RoCE v2 entries of IPv4 addresses in GID tables, and of the address asked for, of either family."""
    wanted = _gid_of(address) if address else None
    return [
        {
            "device": port.parents[1].name,
            "port": int(port.name),
            "gid_index": index,
            "interface": interface,
            "state": (port / "state").read_text().split(":")[-1].strip(),
            "hca_type": _words(port.parents[1] / "hca_type"),
            "rate_bps": _rate_bps(_words(port / "rate")),
            "is_asked_for": gid == wanted,
        }
        for port, index, interface, gid in gids
        if gid.ipv4_mapped is not None or gid == wanted
    ]


def _gid_of(address: str) -> ipaddress.IPv6Address:
    """An address as it stands in a GID table: of IPv4 as ::ffff:a.b.c.d."""
    return ipaddress.IPv6Address(address if ":" in address else f"::ffff:{address}")


def _ipv6_gids(gids: Iterable[Gid]) -> list[str]:
    """Those of addresses that somebody gave: every interface has one of its own link."""
    return [
        f"{gid} on {interface}"
        for _, _, interface, gid in gids
        if gid.ipv4_mapped is None and not gid.is_link_local
    ]


def _roce_gids(system: System) -> Iterator[Gid]:
    """Each RoCE v2 entry. Soft-RoCE has a thousand slots, so that a slow node looks at them once."""
    for types in sorted(system.path("/sys/class/infiniband").glob("*/ports/*/gid_attrs/types/*")):
        port = types.parents[2]
        try:
            kind = types.read_text().strip()
            interface = (port / "gid_attrs/ndevs" / types.name).read_text().strip()
            gid = ipaddress.IPv6Address((port / "gids" / types.name).read_text().strip())
        except OSError:  # an empty slot of the table reads so
            continue
        if kind == "RoCE v2":
            yield port, int(types.name), interface, gid


def _words(path: Path) -> str:
    """Of a file that not every device has."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _rate_bps(words: str) -> int:
    """Of a port, which sysfs writes as `25 Gb/sec (1X EDR)`; 0 if it is not there."""
    found = re.match(r"([\d.]+) Gb/sec", words)
    return round(float(found.group(1)) * 1e9) if found else 0


def _checksum(system: System, path: str) -> str | None:
    file = system.path(path)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _our_processes(system: System) -> list[str]:
    """Agents and samplers that run: nothing of ours should before a run begins."""
    found = []
    for path in sorted(system.path("/proc").glob("[0-9]*/cmdline")):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has just ended
            continue
        if any(word.endswith(_OURS) for word in words[:3]):
            found.append(f"{path.parent.name} {' '.join(words).strip()}")
    return found


def _spooled_bytes(system: System, spool: str) -> int:
    files = (path for path in system.path(spool).rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files)


def _leftovers(system: System) -> list[str]:
    """Directories that agents without a spool, and samplers, have in the place for temporary files."""
    return sorted(f"/tmp/{path.name}" for path in system.path("/tmp").glob("rogue-*-*") if path.is_dir())


def _existing(system: System, directory: str) -> str:
    path = system.path(directory)
    while not path.exists():
        path = path.parent
    return str(path)


def _round_trip_ms(system: System, address: str, packet_bytes: int) -> float | None:
    """Mean over the network with the largest packets, in one piece; None if none came back."""
    size = str(packet_bytes - _PING_HEADERS_BYTES[6 if ":" in address else 4])
    command = ["ping", "-n", "-q", "-c", "3", "-i", "0.2", "-W", "2", "-M", "do", "-s", size, address]
    try:
        found = _ROUND_TRIP.search(system.run(command))
    except CommandError:
        return None
    return float(found.group(1)) if found else None
