#!/usr/bin/python
"""Return facts about a node, all in one task, for roles and for `rogue doctor`; it reads only."""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import json
import platform
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.card_priorities import MLX4, MLX5, Card, card_of
from ..module_utils.settings import KINDS
from ..module_utils.snapshot import BEFORE, drift, named_modules
from ..module_utils.system import CommandError, StateError, System, text_of

DOCUMENTATION = """
module: node_facts
short_description: Facts about a node in one task
description: Reads only. C(rogue doctor) judges the facts.
options:
  tools: {description: Programs that experiments need., type: list, elements: str, default: []}
  interfaces: {description: Network interfaces to look at., type: list, elements: str, default: []}
  mac: {description: MAC of one more interface to look at., type: str, default: ""}
  address: {description: Address of the node on the experiment network., type: str, default: ""}
  peers: {description: "Addresses to ping, by name.", type: dict, default: {}}
  packet_bytes: {description: IP packet that must pass in one piece., type: int, default: 1500}
  files: {description: Files whose checksums are returned., type: list, elements: path, default: []}
author: RoGUE testbed (@rogue-testbed)
"""

Facts = dict[str, Any]
IFMAP = "/var/emulab/boot/ifmap"
"""CloudLab writes it at boot: a line `name address MAC` for each experiment interface."""
SPOOL = "/var/lib/rogue/spool"
SMALL_BYTES = 576
"""Every network passes such a packet in one piece. Source: RFC 791."""
OLDEST_RHEL = 10
"""RHEL 9 has Python 3.9, and the agent needs 3.10."""
_OURS = ("rogue-agent.pyz", "/opt/rogue/dool")
_PING_HEADERS_BYTES = {4: 28, 6: 48}
"""IP and ICMP, by the version of IP."""
_ARGUMENTS = {
    "tools": {"type": "list", "elements": "str", "default": []},
    "interfaces": {"type": "list", "elements": "str", "default": []},
    "mac": {"type": "str", "default": ""},
    "address": {"type": "str", "default": ""},
    "peers": {"type": "dict", "default": {}},
    "packet_bytes": {"type": "int", "default": 1500},
    "files": {"type": "list", "elements": "path", "default": []},
}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=_ARGUMENTS, supports_check_mode=True)
    try:
        facts = examine(System(), module.params)
    except (StateError, OSError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, facts=facts)


def examine(system: System, options: dict[str, Any]) -> Facts:
    """Return all facts at once: under emulation each task costs seconds."""
    mac, peers = options["mac"], options["peers"]
    own = _interface_with_mac(system, mac) if mac else None
    gids = list(_roce_gids(system))
    times_ms = {name: _round_trip_ms(system, peer, options["packet_bytes"]) for name, peer in peers.items()}
    silent = [name for name, time_ms in times_ms.items() if time_ms is None]
    spool, root = system.path(SPOOL), system.path("/")
    governors = system.path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    checksums = {path: system.path(path) for path in options["files"]}
    return {
        **_system_facts(system),
        "missing_tools": [tool for tool in options["tools"] if _is_missing(system, tool)],
        "interfaces": {
            name: _interface(system, name) for name in [*options["interfaces"], *([own] if own else [])]
        },
        "interface_with_mac": own,
        "addresses": _addresses(system),
        "governors": [f"/{path.relative_to(root)}" for path in sorted(governors)],
        "idle_states": _idle_states(system),
        "rdma_ports": _rdma_ports(gids, options["address"]),
        "ipv6_gids": [
            f"{gid} on {name}" for *_, name, gid in gids if not (gid.ipv4_mapped or gid.is_link_local)
        ],
        "is_provisioned": system.path(BEFORE).exists(),
        "drift": [*_missing_modules(system), *drift(system)],
        "files": {
            path: hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
            for path, file in checksums.items()
        },
        "processes": _our_processes(system),
        "spooled_bytes": sum(path.stat().st_size for path in spool.rglob("*") if path.is_file()),
        "leftovers": sorted(
            f"/tmp/{path.name}" for path in system.path("/tmp").glob("rogue-*-*") if path.is_dir()
        ),
        "free_bytes": shutil.disk_usage(next(path for path in (spool, *spool.parents) if path.exists())).free,
        "round_trips_ms": times_ms,
        "small_packets_only": [
            name for name in silent if _round_trip_ms(system, peers[name], SMALL_BYTES) is not None
        ],
    }


def _idle_states(system: System) -> dict[str, int]:
    """Return the latency of each idle state in microseconds, by the file that disables it.

    Source: Linux, Documentation/admin-guide/pm/cpuidle.rst.
    """
    root = str(system.path("/")).rstrip("/")
    states = sorted(system.path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpuidle/state[0-9]*/disable"))
    return {str(path).removeprefix(root): int(text_of(path.with_name("latency")) or 0) for path in states}


def _system_facts(system: System) -> Facts:
    """Return kernel, Python and distribution; `family` is debian, rhel or empty. Source: os-release(5)."""
    lines = re.findall(r"^(\w+)=(.*)$", system.read("/etc/os-release"), re.MULTILINE)
    fields = {key: value.strip("\"'") for key, value in lines}
    words = f"{fields.get('ID')} {fields.get('ID_LIKE')}".split()
    family = next((each for each in ("debian", "rhel") if each in words), "")
    major = fields.get("VERSION_ID", "").partition(".")[0]
    is_known_rhel = family == "rhel" and major.isdigit() and int(major) >= OLDEST_RHEL
    return {
        "kernel": platform.release(),
        "python": platform.python_version(),
        "distribution": fields.get("PRETTY_NAME") or "an unknown system",
        "family": family,
        "is_supported_system": family == "debian" or is_known_rhel,
    }


def _missing_modules(system: System) -> list[str]:
    """Return the modules that provisioning loads at boot, and that are not loaded or built in."""
    builtin = system.read(f"/lib/modules/{platform.release()}/modules.builtin").replace("-", "_")
    there = {Path(line).name.partition(".")[0] for line in builtin.splitlines()}
    named = sorted(named_modules(system) - there)
    return [f"kernel module {each}" for each in named if not system.path(f"/sys/module/{each}").exists()]


def _is_missing(system: System, tool: str) -> bool:
    command = (
        ["python3", "-c", "import pyverbs"] if tool == "pyverbs" else ["sh", "-c", 'command -v "$0"', tool]
    )
    try:
        system.run(command)
    except CommandError:
        return True
    return False


def _interface_with_mac(system: System, mac: str) -> str | None:
    """Return the interface of CloudLab's map, else the card with that MAC, which bridges and VLANs borrow."""
    lines = [line.split() for line in system.read(IFMAP).splitlines()]
    pairs = [(words[0], words[-1]) for words in lines if words]
    cards = sorted(path.parent.name for path in system.path("/sys/class/net").glob("*/device"))
    pairs += [(name, system.read(f"/sys/class/net/{name}/address")) for name in cards]
    wanted = mac.replace(":", "").lower()
    found = (name for name, own in pairs if own.replace(":", "").lower() == wanted)
    return next((name for name in found if system.path(f"/sys/class/net/{name}").is_dir()), None)


def _interface(system: System, name: str) -> Facts | None:
    """Return MAC, MTU, state, receive offload and card; None if there is no such interface.

    A veth between two bridges of one switch receives nothing to merge, so it has no receive offload.
    """
    directory = f"/sys/class/net/{name}"
    if not (mtu := system.read(f"{directory}/mtu")):
        return None
    gro = None
    if system.read(f"{directory}/iflink") == system.read(f"{directory}/ifindex"):
        with contextlib.suppress(CommandError):
            gro = re.search(r"generic-receive-offload: (\w+)", system.run(["ethtool", "-k", name]))
    return {
        "mac": system.read(f"{directory}/address"),
        "mtu": int(mtu),
        "is_up": system.read(f"{directory}/operstate") in {"up", "unknown"},
        "gro": gro.group(1) if gro else None,
        "card": _card(system, name),
    }


def _card(system: System, name: str) -> Facts | None:
    """Return what roles and the preflight need of a card; None for a device of another driver."""
    card = card_of(system, name)
    if card.driver not in {MLX4, MLX5}:
        return None
    try:
        there = KINDS["card_priorities"].observe(system, name)
    except CommandError:  # dcb is not installed yet
        there = {}
    mode = there.get("dcbx", {}).get("mode", "")
    pauses = dict(pair.split(":") for pair in there.get("pfc", {}).get("prio-pfc", "").split())
    has_table = bool(there.get("app", {}).get("dscp-prio"))
    device = f"/sys/class/net/{name}/device"
    interrupts = (path.name for path in system.path(f"{device}/msi_irqs").glob("[0-9]*"))
    return {
        **card._asdict(),
        "model": system.read(f"/sys/class/infiniband/{card.device}/hca_type"),
        "dcbx": mode,
        "is_willing": None if not mode or "host" in mode.split() else _is_willing(system, card),
        "trust": "dscp" if card.driver == MLX5 and has_table else "pcp" if there else "",
        "paused": [int(priority) for priority, state in pauses.items() if state == "on"],
        "dcqcn": dcqcn_of(system, name, card),
        "interrupts": sorted(interrupts, key=int),
        "local_processors": _processors(system.read(f"{device}/local_cpulist")),
    }


def _is_willing(system: System, card: Card) -> bool | None:
    """Return True if the firmware takes the switch's ETS and PFC; None if only root or another tool knows it.

    Source: mstflint, mlxconfig (DCBX_WILLING_P1; the port of a card is its PCI function).
    """
    name = f"DCBX_WILLING_P{int(card.pci[-1:] or 0) + 1}"
    for tool in ("mstconfig", "mlxconfig"):
        with contextlib.suppress(CommandError):
            if found := re.search(rf"{name}\s+(True|False)", system.run([tool, "-d", card.pci, "query"])):
                return found.group(1) == "True"
    return None


def dcqcn_of(system: System, interface: str, card: Card) -> dict[str, Any]:
    """Return DCQCN's `state` (on, off, unknown, none), `reason`, `switches` and `parameters` by path.

    Source: MLNX_OFED, "Explicit Congestion Notification (ECN)" (switches in sysfs, ConnectX-4 and later);
    Linux, drivers/infiniband/hw/mlx5/cong.c (parameters in debugfs, which only root reads, and no switch).
    """
    found: dict[str, Any] = {"state": "none", "reason": "", "switches": {}, "parameters": {}}
    if card.driver != MLX5:
        name = "ConnectX-3" if card.driver == MLX4 else f"the driver {card.driver or 'of this device'}"
        return {**found, "reason": f"{name} has none"}
    flags = system.path(f"/sys/class/net/{interface}/ecn").glob("roce_[nr]p/enable/[0-7]")
    root = str(system.path("/")).rstrip("/")
    found["switches"] = {str(path).removeprefix(root): text_of(path) for path in sorted(flags)}
    directory = f"/sys/kernel/debug/mlx5/{card.pci}/cc_params"
    try:
        names = sorted(path.name for path in system.path(directory).iterdir())
    except OSError:
        names = []
    found["parameters"] = {f"{directory}/{name}": system.read(f"{directory}/{name}") for name in names}
    values = set(found["switches"].values())
    if not values:
        reason = "the inbox driver has no switch for it; the firmware's default is on"
        return {**found, "state": "unknown", "reason": reason}
    state = "on" if values == {"1"} else "off" if values == {"0"} else "on for some priorities"
    return {**found, "state": state}


def _processors(words: str) -> list[int]:
    """Return the numbers of a list such as `0-3,8`."""
    ranges = (part.partition("-")[::2] for part in words.split(",") if part)
    return [number for first, last in ranges for number in range(int(first), int(last or first) + 1)]


def _addresses(system: System) -> dict[str, list[str]]:
    """Return addresses by interface, without link-local ones of IPv6."""
    try:
        links = json.loads(system.run(["ip", "-json", "address", "show"]))
    except (CommandError, ValueError) as error:
        if isinstance(error, CommandError) and "not installed" in error.stderr:
            return {}  # provisioning installs iproute2
        raise StateError(
            "ip: got no JSON from `ip -json address show`, expected iproute2 with -json; install a newer one"
        ) from error
    found: dict[str, list[str]] = {}
    for link in links:
        for each in link.get("addr_info", []):
            if each["family"] == "inet" or each["scope"] != "link":
                found.setdefault(link["ifname"], []).append(each["local"])
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
            "state": text_of(port / "state").split(":")[-1].strip(),
            "hca_type": text_of(port.parents[1] / "hca_type"),
            "rate_bps": round(
                float((re.match(r"([\d.]+) Gb/sec", text_of(port / "rate")) or ["", "0"])[1]) * 1e9
            ),
            "is_own": gid == wanted,
        }
        for port, index, interface, gid in gids
        if gid.ipv4_mapped is not None or gid == wanted
    ]


def _roce_gids(system: System) -> Iterator[tuple[Path, int, str, ipaddress.IPv6Address]]:
    """Yield port, index, interface and GID of each RoCE v2 entry; soft-RoCE has a thousand slots."""
    for types in sorted(system.path("/sys/class/infiniband").glob("*/ports/*/gid_attrs/types/*")):
        port = types.parents[2]
        interface, gid = text_of(port / "gid_attrs/ndevs" / types.name), text_of(port / "gids" / types.name)
        if text_of(types) == "RoCE v2" and interface and gid:
            yield port, int(types.name), interface, ipaddress.IPv6Address(gid)


def _our_processes(system: System) -> list[str]:
    """Return the agents and samplers that run."""
    found = []
    for path in sorted(system.path("/proc").glob("[0-9]*/cmdline")):
        with contextlib.suppress(OSError):  # it has ended
            words = path.read_bytes().decode(errors="replace").split("\0")
            if any(word.endswith(_OURS) for word in words[:3]):
                found.append(f"{path.parent.name} {' '.join(words).strip()}")
    return found


def _round_trip_ms(system: System, address: str, packet_bytes: int) -> float | None:
    """Return the mean for packets of that size in one piece; None if no reply came."""
    size = str(packet_bytes - _PING_HEADERS_BYTES[6 if ":" in address else 4])
    command = ["ping", "-n", "-q", "-c", "3", "-i", "0.2", "-W", "2", "-M", "do", "-s", size, address]
    try:
        found = re.search(r"= [\d.]+/([\d.]+)/", system.run(command))
    except CommandError:
        return None
    return float(found.group(1)) if found else None


if __name__ == "__main__":
    main()
