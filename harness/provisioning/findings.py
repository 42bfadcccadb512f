"""Judge facts about the nodes: can they measure, and what prevents it?"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rogue.harness.provisioning.cards import CARDS, card_name
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.places import AGENT

Facts = Mapping[str, Any]
OLDEST_PYTHON: Final = (3, 10)
FREE_BYTES_MIN: Final = 50_000_000
"""Space for the samples of a short experiment."""
CLOCK_OFFSET_MAX_S: Final = 600.0
"""The harness corrects for offsets; a larger one makes logs and certificates misleading."""
_SENTENCE: Final = re.compile(r"(?:(.*?): )?got (.*?), expected (.*?)(?:; (.*))?", re.DOTALL)
_MLX5: Final = "mlx5_core"
_REACH: Final = "check that it runs and that SSH reaches it"
_PROVISION: Final = "run `rogue provision`"
_WITH_PLUGINS: Final = f"{_PROVISION}, with the plug-ins of the experiment if it has any"
"""Advice about the agent's archive, which contains the plug-ins."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a node or of the network."""

    node: str
    what: str
    got: str
    expected: str
    advice: str
    refuses: bool = True
    """True if measuring would be wrong or impossible; otherwise it is a warning."""

    @property
    def is_healed_by_provisioning(self) -> bool:
        """True if the advice is to provision."""
        return self.advice.startswith(_PROVISION)

    def __str__(self) -> str:
        level = "refused" if self.refuses else "warning"
        return f"{level}: {self.node}: {self.what}: got {self.got}, expected {self.expected}; {self.advice}."


@dataclass(frozen=True, slots=True)
class Examination:
    """The results of looking at the nodes."""

    facts: Mapping[str, Facts]
    """By node, from `node_facts`; a node without facts failed."""
    failures: Mapping[str, str]
    """Reasons by node that could not be looked at."""
    clocks: Mapping[str, ClockOffset]
    lacks: tuple[Finding, ...] = ()
    """Faults that prevent Ansible from looking at a node."""


def judge(inventory: Inventory, files: Mapping[str, str], found: Examination) -> list[Finding]:
    """Return all findings, node by node.

    files: SHA-256 by path of the files that every host must have; a switch has only the agent.
    """
    return [
        *(unreachable(node, found.failures[node]) for node in _in_order(inventory, found.failures)),
        *found.lacks,
        *(
            finding
            for host in inventory.hosts
            if host.name in found.facts
            for finding in _of_host(host, files, found.facts[host.name])
        ),
        *_of_switch(inventory, files, found.facts),
        *_clocks(inventory, found.clocks),
        *_differences(inventory, found.facts),
    ]


def unreachable(node: str, message: str) -> Finding:
    """Return the finding about a node that failed with this error message."""
    return finding_of(node, "the node", message.removeprefix(f"{node}: "), _REACH)


def _in_order(inventory: Inventory, of_nodes: Mapping[str, object]) -> list[str]:
    """Return names of nodes in the order of the inventory: h2 before h10."""
    order = [login.node for login in inventory.logins]
    return sorted(of_nodes, key=lambda name: order.index(name) if name in order else len(order))


def finding_of(node: str, what: str, message: str, advice: str) -> Finding:
    """Parse an error `[place: ]got ..., expected ...[; advice]`; any other message is `got` as a whole."""
    found = _SENTENCE.fullmatch(message.rstrip("."))
    if found is None:
        return Finding(node, what, message, "a reply", advice)
    place, got, expected, own_advice = found.groups()
    return Finding(node, (place or what).removesuffix(" failed"), got, expected, own_advice or advice)


def _of_host(host: Host, files: Mapping[str, str], facts: Facts) -> Iterator[Finding]:
    yield from _of_node(host.name, facts)
    yield from _interface(host, facts)
    yield from _rdma(host, facts)
    yield from _other_files(host.name, files, facts)
    yield from _paths(host, facts)


def _other_files(node: str, files: Mapping[str, str], facts: Facts) -> Iterator[Finding]:
    for path, checksum in files.items():
        got = facts["files"].get(path)
        if got != checksum:
            text = "nothing" if got is None else f"a file with SHA-256 {got[:12]}..."
            yield Finding(node, path, text, f"SHA-256 {checksum[:12]}...", _WITH_PLUGINS)


def _paths(host: Host, facts: Facts) -> Iterator[Finding]:
    """Yield peers that do not reply, or only to small packets."""
    for peer, round_trip_ms in facts["round_trips_ms"].items():
        if round_trip_ms is not None:
            continue
        got, advice = "none", "check cables, bridges and addresses"
        if peer in facts["small_packets_only"]:
            got = "replies to small packets alone"
            advice = "give both ends, and the switch between them, an MTU of that size"
        expected = f"replies to packets of {host.variables.experiment_mtu} bytes"
        yield Finding(host.name, f"path to {peer} over the experiment network", got, expected, advice)


def _of_node(node: str, facts: Facts, may_drift: frozenset[str] = frozenset()) -> Iterator[Finding]:
    version = tuple(int(part) for part in facts["python"].split(".")[:2])
    if version < OLDEST_PYTHON:
        yield Finding(node, "Python", facts["python"], "3.10 or later", "install a newer distribution")
    if not facts["is_supported_system"]:
        expected = "Debian, Ubuntu, RHEL or Rocky from release 10 on, or a relative"
        yield Finding(node, "system", facts["distribution"], expected, "install one of them on this node")
    for tool in facts["missing_tools"]:
        yield Finding(node, f"tool {tool}", "nothing", "it installed", _PROVISION)
    for drifted in sorted(set(facts["drift"]) - may_drift):
        expected = "what provisioning left"
        yield Finding(node, drifted, "something else", expected, f"{_PROVISION} again")
    for process in facts["processes"]:
        what, advice = "processes", f"end it: kill {process.split()[0]}"
        yield Finding(node, what, f"`{process}` of an earlier run", "none of ours", advice)
    if not facts["is_provisioned"]:
        yield Finding(node, "state", "a node that is not provisioned", "a provisioned one", _PROVISION)
    if facts["free_bytes"] < FREE_BYTES_MIN:
        got, expected = f"{facts['free_bytes']} bytes", f"{FREE_BYTES_MIN} bytes at least"
        yield Finding(node, "free space for samples", got, expected, "free some below /var/lib/rogue")
    if facts["spooled_bytes"]:
        got = f"{facts['spooled_bytes']} bytes of an earlier run"
        advice = "fetch what you need and empty it"
        yield Finding(node, "/var/lib/rogue/spool", got, "an empty directory", advice, refuses=False)
    for directory in facts["leftovers"]:
        got, advice = "samples of an earlier run", f"fetch what you need and remove it: rm -r {directory}"
        yield Finding(node, directory, got, "nothing of ours", advice, refuses=False)


def _interface(host: Host, facts: Facts) -> Iterator[Finding]:
    wanted, with_mac = host.variables, facts["interface_with_mac"]
    name = wanted.experiment_interface or with_mac
    interface = None if name is None else facts["interfaces"].get(name)
    if name is None or interface is None:
        there = ", ".join(sorted(facts["addresses"])) or "none with an address"
        what = f"interface with MAC {wanted.experiment_mac}" if name is None else f"interface {name}"
        key = "experiment_mac" if name is None else "experiment_interface"
        yield Finding(host.name, what, "none such", f"one of {there}", f"correct {key} in the inventory")
        return
    if wanted.experiment_mac and interface["mac"].lower() != wanted.experiment_mac.lower():
        what, has = f"MAC of {name}", f"{with_mac or 'no interface'} has that"
        advice = f"correct experiment_interface in the inventory: {has}"
        yield Finding(host.name, what, interface["mac"] or "none", wanted.experiment_mac, advice)
    if not interface["is_up"]:
        advice = f"ip link set dev {name} up, and check the cable"
        yield Finding(host.name, f"interface {name}", "one that is down", "one that is up", advice)
    if interface["mtu"] != wanted.experiment_mtu:
        got, expected = str(interface["mtu"]), str(wanted.experiment_mtu)
        # Provisioning sets the MTU of nodes, not of hardware switches.
        where = ", where the switch takes packets of that size, or correct experiment_mtu"
        advice = _PROVISION + ("" if wanted.rdma_device_kind == "soft_roce" else where)
        yield Finding(host.name, f"MTU of {name}", got, expected, advice)
    yield from _dcbx(host, name, interface.get("card"))
    address = str(wanted.experiment_address)
    if address not in facts["addresses"].get(name, []):
        got = ", ".join(facts["addresses"].get(name, [])) or "none"
        advice = f"ip address add {address}/PREFIX dev {name}, or correct the inventory"
        yield Finding(host.name, f"address of {name}", got, address, advice)


def _dcbx(host: Host, interface: str, card: Facts | None) -> Iterator[Finding]:
    """Yield a firmware that negotiates DCBX: if it is willing, the switch's ETS and PFC replace ours.

    ConnectX-3 has no such firmware, so its mode need not be readable.
    """
    if card is None or host.variables.rdma_device_kind != "card" or "host" in card["dcbx"].split():
        return
    what, expected = f"DCBX of {interface}", "`host`: otherwise the switch may override ETS and PFC"
    if not card["dcbx"]:
        if card["driver"] == _MLX5:
            advice = f"{_PROVISION}; if it is not enough, install iproute2 with dcb"
            yield Finding(host.name, what, "a mode that cannot be read", expected, advice, refuses=False)
        return
    willing = {True: "and is willing", False: "and is not willing", None: "and may be willing"}
    got = f"`{card['dcbx']}`: the firmware negotiates {willing[card['is_willing']]}"
    yield Finding(host.name, what, got, expected, _PROVISION)


def _rdma(host: Host, facts: Facts) -> Iterator[Finding]:
    """Yield faults of the RDMA device whose GID is the experiment address; the name does not matter."""
    own = [port for port in facts["rdma_ports"] if port["is_own"]]
    if not own:
        there = ", ".join(f"{port['device']} on {port['interface']}" for port in facts["rdma_ports"])
        expected = f"one with the RoCE v2 GID of {host.variables.experiment_address}"
        is_soft = host.variables.rdma_device_kind == "soft_roce"
        advice = (
            _PROVISION if is_soft else "check the card's driver, and that the address is on its interface"
        )
        if not there and facts["ipv6_gids"]:
            there = f"GIDs of IPv6 alone ({', '.join(facts['ipv6_gids'])})"
            advice = "give the interface that address as well, or all hosts an experiment_address of IPv6"
        yield Finding(host.name, "RDMA device", there or "none", expected, advice)
    for port in own:
        if port["state"] != "ACTIVE":
            what = f"RDMA device {port['device']} port {port['port']}"
            yield Finding(host.name, what, port["state"], "ACTIVE", "bring its interface up")
        yield from _card(host, port)


def _card(host: Host, port: Facts) -> Iterator[Finding]:
    """Yield a finding if a device should be a card and is not, or is an unknown one."""
    what, model = f"RDMA device {port['device']}", port["hca_type"]
    is_card = host.variables.rdma_device_kind == "card"
    if is_card and not model:
        advice = "correct rdma_device_kind, or end soft-RoCE: rdma link delete " + str(port["device"])
        yield Finding(host.name, what, "a device in software", "a card", advice)
    if is_card and model and model not in CARDS:
        expected = f"one of {', '.join(CARDS)}"
        advice = "this card's counters and limiters are unchecked"
        yield Finding(host.name, what, f"a card {model}", expected, advice, refuses=False)


def _of_switch(
    inventory: Inventory, files: Mapping[str, str], facts: Mapping[str, Facts]
) -> Iterator[Finding]:
    node = "" if inventory.switch is None else inventory.switch.login.node
    if node not in facts:
        return
    # Each cell of an experiment sets the ports anew, whatever an earlier one left.
    may_drift = frozenset(f"traffic_control {name}" for name in facts[node]["interfaces"])
    yield from _of_node(node, facts[node], may_drift)
    yield from _other_files(node, {path: each for path, each in files.items() if path == AGENT}, facts[node])
    for name, interface in facts[node]["interfaces"].items():
        if interface is None:
            yield Finding(node, f"port {name}", "none such", "an interface", "correct the inventory's ports")
        elif interface["gro"] == "off":
            expected = "on: without it the queue drops packets that it should mark"
            yield Finding(node, f"GRO of {name}", "off", expected, f"ethtool -K {name} gro on")


def _clocks(inventory: Inventory, clocks: Mapping[str, ClockOffset]) -> Iterator[Finding]:
    for node in _in_order(inventory, clocks):
        clock = clocks[node]
        if abs(clock.offset_s) > CLOCK_OFFSET_MAX_S:
            got = f"{clock.offset_s:+.1f} s from this computer's"
            expected = f"{CLOCK_OFFSET_MAX_S:.0f} s at most"
            yield Finding(node, "clock", got, expected, "set it, for instance with chrony", refuses=False)


def _differences(inventory: Inventory, facts: Mapping[str, Facts]) -> Iterator[Finding]:
    """Yield findings about hosts that differ, because they measure different things."""
    for key, value_of in _COMPARED.items():
        of_all = {host.name: value_of(facts[host.name]) for host in inventory.hosts if host.name in facts}
        nodes: dict[str, list[str]] = {}
        for name, value in of_all.items():
            if value:
                nodes.setdefault(value, []).append(name)
        if len(nodes) > 1:
            got = "; ".join(f"{value} on {', '.join(names)}" for value, names in nodes.items())
            must = key in _MUST_BE_THE_SAME
            advice = "install the same on all, or take the difference into account"
            advice = f"{_PROVISION} with the same variables for all" if must else advice
            yield Finding("hosts", key, got, "the same everywhere", advice, refuses=must)


def card_words(port: Facts) -> str:
    """Return a port's card and rate in words; empty for a device in software."""
    return f"{card_name(port['hca_type'])}, {port['rate_bps'] / 1e9:g} Gb/s" if port["hca_type"] else ""


def _of_cards(facts: Facts) -> list[Facts]:
    return [each["card"] for each in facts["interfaces"].values() if each and each.get("card")]


def _pauses(facts: Facts) -> str:
    return ", ".join(" ".join(map(str, card["paused"])) or "none" for card in _of_cards(facts))


_COMPARED: Final[Mapping[str, Callable[[Facts], str]]] = {
    "kernel": lambda facts: str(facts["kernel"]),
    "distribution": lambda facts: str(facts["distribution"]),
    "card": lambda facts: ", ".join(card_words(port) for port in facts["rdma_ports"] if port["is_own"]),
    "DCQCN": lambda facts: ", ".join(card["dcqcn"]["state"] for card in _of_cards(facts)),
    "trust": lambda facts: ", ".join(card["trust"] for card in _of_cards(facts)),
    "priorities that pause": _pauses,
}
_MUST_BE_THE_SAME: Final = ("trust", "priorities that pause")
"""With different values the two ends would pause or classify packets differently."""
