"""Convert the manifest of a CloudLab experiment to an inventory; no connection is needed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import yaml

from rogue.harness.errors import UsageError
from rogue.reports.reading.files import read_regular

SIZE_MAX_BYTES: Final = 20_000_000
SWITCH_TYPES: Final = ("dell-s4048", "mlnx-sn2410")
"""Hardware types that are switches even without sliver type `switch`."""
NO_HOSTS: Final = ("delay", "emulab-blockstore", "firewall")
"""Sliver types of machines that CloudLab runs itself: a bridge that shapes a link, a dataset, a firewall.
Source: geni-lib, geni/rspec/emulab/pnext.py and geni/rspec/igext.py.
"""
SHARED_LINKS: Final = ("vlan_tagging", "link_multiplexing")
"""Elements of a link whose interfaces share a port of the card with other links."""
_SSH_PORT: Final = 22
_PORT_MAX: Final = 65_535
_PORT: Final = re.compile(r"[0-9]{1,5}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,252}")
"""Name of a node, user or machine: cannot be read as an SSH option or an Ansible template."""
_MAC_DIGITS: Final = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class ManifestInterface:
    """One interface of a node on experiment networks."""

    name: str
    """Name in the manifest, such as `node0:eth1`; Linux has another name for it."""
    node: str
    mac: str
    """Such as 14:58:d0:00:00:01; empty if the manifest has none."""
    address: IPv4Interface | None
    port: str = ""
    """`component_id` of the card's port; empty if the manifest has none."""


@dataclass(frozen=True, slots=True)
class ManifestNode:
    """One node of a manifest."""

    name: str
    hardware: str
    is_switch: bool
    logins: dict[str, tuple[str, int]]
    """Host name and port by user."""
    interfaces: tuple[ManifestInterface, ...]
    kind: str = ""
    """The sliver type, such as `raw-pc`."""

    @property
    def is_host(self) -> bool:
        """True if experiments can run on it."""
        return not self.is_switch and self.kind not in NO_HOSTS


@dataclass(frozen=True, slots=True)
class ManifestLink:
    """A link between interfaces."""

    name: str
    interfaces: tuple[str, ...]
    is_jumbo: bool = False
    """True if packets of 9000 bytes were requested."""
    shared: tuple[str, ...] = ()
    """Those of `SHARED_LINKS` that are enabled on it."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Nodes and links of a manifest."""

    path: Path
    nodes: tuple[ManifestNode, ...]
    links: tuple[ManifestLink, ...]


def read_manifest(path: Path) -> Manifest:
    """Read a manifest; UsageError names what is wrong with it."""
    try:
        parser = ElementTree.XMLParser(target=_NoDocumentType(path))
        root = ElementTree.fromstring(read_regular(path, SIZE_MAX_BYTES), parser)
    except OSError as error:
        raise UsageError(f"manifest {path}: cannot be read: {error.strerror}; give a file.") from error
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        advice = "download it with `geni-get manifest`, or from the experiment's page"
        raise UsageError(f"manifest {path}: it is no XML ({error}); {advice}.") from error
    nodes = tuple(_Reader(path, element).node() for element in root.findall("{*}node"))
    links = tuple(_Reader(path, element).link() for element in root.findall("{*}link"))
    for kind, names in (
        ("nodes", Counter(node.name for node in nodes)),
        ("interfaces", Counter(each.name for node in nodes for each in node.interfaces)),
        ("links", Counter(link.name for link in links)),
    ):
        if twice := sorted(name for name, count in names.items() if count > 1):
            raise UsageError(
                f"manifest {path}: got two {kind} called {twice[0]!r}, expected names that differ."
            )
    return Manifest(path, nodes, links)


class _NoDocumentType(ElementTree.TreeBuilder):
    """Refuse document types, which can define entities that expand without bound."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def doctype(self, name: str, _public: str | None, _system: str | None) -> None:
        """Refuse the manifest before its content is parsed."""
        raise UsageError(f"manifest {self._path}: got a document type ({name}), expected a plain manifest.")


class _Reader:
    """Read one element below the root; errors name it."""

    def __init__(self, path: Path, element: ElementTree.Element) -> None:
        self._element = element
        self._place = f"manifest {path}"
        self._name = self._text(element, "client_id")
        self._place = f"manifest {path}: {self._name}"

    def node(self) -> ManifestNode:
        """Return the element as a node; `emulab:vnode` has the type of the machine that was allocated.

        `hardware_type` is the requested type, and may be `pc` or absent.
        """
        types = [self._text(each, "name") for each in self._all("hardware_type")]
        types += [
            self._text(each, "hardware_type") for each in self._all("vnode") if "hardware_type" in each.attrib
        ]
        kinds = [each.get("name", "") for each in self._all("sliver_type")]
        hardware, kind = (found[-1] if found else "" for found in (types, kinds))
        return ManifestNode(
            self._name,
            hardware,
            hardware in SWITCH_TYPES or kind == "switch",
            {self._text(each, "username"): self._server(each) for each in self._all("login")},
            tuple(self._interface(inner) for inner in self._all("interface")),
            kind,
        )

    def link(self) -> ManifestLink:
        """Return the element as a link."""
        return ManifestLink(
            self._name,
            tuple(self._text(each, "client_id") for each in self._all("interface_ref")),
            self._is_enabled("jumboframes"),
            tuple(tag for tag in SHARED_LINKS if self._is_enabled(tag)),
        )

    def _is_enabled(self, tag: str) -> bool:
        return any(each.get("enabled", "true").lower() == "true" for each in self._all(tag))

    def _all(self, tag: str) -> Iterator[ElementTree.Element]:
        return self._element.iterfind(f".//{{*}}{tag}")

    def _text(self, element: ElementTree.Element, key: str) -> str:
        text = element.get(key, "")
        if _NAME.fullmatch(text) is None:
            tag, expected = element.tag.rpartition("}")[2], "letters, digits and _.:- after a letter or digit"
            raise self._mistake(f"{key} {text!r:.60} of a {tag}", expected)
        return text

    def _mistake(self, got: str, expected: str) -> UsageError:
        return UsageError(f"{self._place}: got {got}, expected {expected}.")

    def _server(self, login: ElementTree.Element) -> tuple[str, int]:
        port = login.get("port") or str(_SSH_PORT)
        if _PORT.fullmatch(port) is None or not 1 <= int(port) <= _PORT_MAX:
            raise self._mistake(f"port {port!r:.60} of a login", f"a number from 1 to {_PORT_MAX}")
        return self._text(login, "hostname"), int(port)

    def _interface(self, interface: ElementTree.Element) -> ManifestInterface:
        name = self._text(interface, "client_id")
        digits = interface.get("mac_address", "").replace(":", "").lower()
        if digits and _MAC_DIGITS.fullmatch(digits) is None:
            raise self._mistake(f"MAC {digits!r:.60} of {name}", "12 hexadecimal digits")
        mac = ":".join(digits[start : start + 2] for start in range(0, len(digits), 2))
        texts = [
            f"{each.get('address', '')}/{each.get('netmask', '')}"
            for each in interface.findall("{*}ip")
            if each.get("type", "ipv4") == "ipv4"
        ]
        if len(texts) > 1:
            raise self._mistake(f"addresses {', '.join(texts)} of {name}", "one")
        try:
            address = IPv4Interface(texts[0]) if texts else None
        except ValueError:
            raise self._mistake(
                f"address {texts[0]!r:.60} of {name}", "an IPv4 address and a netmask"
            ) from None
        return ManifestInterface(name, self._name, mac, address, interface.get("component_id", ""))


_HOSTS_MIN = 2


@dataclass(frozen=True, slots=True)
class Lan:
    """Interfaces of hosts that reach each other, over one link or through switches that were allocated."""

    name: str
    interfaces: tuple[ManifestInterface, ...]
    """Of hosts, with an address, in the manifest's order."""
    switches: tuple[str, ...]
    is_jumbo: bool = False
    """True if packets of 9000 bytes were requested for all of its links."""
    shared: tuple[str, ...] = ()
    """`vlan_tagging` and `link_multiplexing`, where one of its links has them."""

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(interface.node for interface in self.interfaces)})"


def choose_lan(manifest: Manifest, name: str | None) -> Lan:
    """Return the LAN of that name, or the only one; UsageError for no LAN, or several without a name."""
    place = f"manifest {manifest.path}"
    found = list(lans_of(manifest))
    there = "; ".join(map(str, found))
    if not found:
        raise UsageError(
            f"{place}: got no LAN with addresses of two nodes, expected one; "
            "give the manifest of an experiment that has a LAN."
        )
    if name is None and len(found) > 1:
        raise UsageError(f"{place}: got {len(found)} LANs: {there}; expected one; choose with --lan.")
    chosen = [lan for lan in found if name in (None, lan.name)]
    if not chosen:
        raise UsageError(f"{place}: got no LAN {name!r}, expected one of {there}; choose with --lan.")
    (lan,) = chosen
    _check(f"{place}: {lan.name}", lan, manifest)
    return lan


def lans_of(manifest: Manifest) -> Iterator[Lan]:
    """Yield LANs of two hosts or more; links that meet in an allocated switch are one LAN."""
    interfaces = {each.name: each for node in manifest.nodes for each in node.interfaces}
    switches = {node.name for node in manifest.nodes if node.is_switch}
    able = {node.name for node in manifest.nodes if node.is_host}
    for links in _joined(manifest, interfaces, switches):
        names = {name for link in links for name in link.interfaces}
        own = [each for each in interfaces.values() if each.name in names]
        through = tuple(dict.fromkeys(each.node for each in own if each.node in switches))
        hosts = tuple(each for each in own if each.node in able and each.address is not None)
        if len({each.node for each in hosts}) >= _HOSTS_MIN:
            name = through[0] if len(links) > 1 else links[0].name
            shared = tuple(dict.fromkeys(tag for link in links for tag in link.shared))
            yield Lan(name, hosts, through, all(link.is_jumbo for link in links), shared)


def _joined(
    manifest: Manifest, interfaces: Mapping[str, ManifestInterface], switches: set[str]
) -> list[list[ManifestLink]]:
    """Return groups of links that switches join."""
    groups: list[tuple[list[ManifestLink], set[str]]] = []
    for link in manifest.links:
        for name in link.interfaces:
            if name not in interfaces:
                raise UsageError(
                    f"manifest {manifest.path}: {link.name}: got interface {name!r}, expected one that a "
                    "node has; give the manifest of all clusters of the experiment in one file."
                )
        met = {interfaces[name].node for name in link.interfaces} & switches
        touching = [group for group in groups if group[1] & met]
        groups = [group for group in groups if not group[1] & met]
        merged = [each for group in touching for each in group[0]]
        groups.append(([*merged, link], met.union(*(group[1] for group in touching))))
    return [links for links, _ in groups]


def _check(place: str, lan: Lan, manifest: Manifest) -> None:
    """Check that each host has one interface, on a port of its own, and all are in one subnet."""
    nodes = [each.node for each in lan.interfaces]
    if twice := [name for name in dict.fromkeys(nodes) if nodes.count(name) > 1]:
        raise UsageError(f"{place}: got two interfaces of {twice[0]}, expected one of each host.")
    subnets = {each.node: each.address.network for each in lan.interfaces if each.address is not None}
    if len(set(subnets.values())) > 1:
        got = ", ".join(f"{subnet} of {node}" for node, subnet in subnets.items())
        raise UsageError(f"{place}: got subnets {got}; expected one for all hosts.")
    expected = "expected a port of a card for each link, as limiters and PFC work on a whole port"
    if lan.shared:
        advice = "take it out of the profile and start the experiment again"
        raise UsageError(f"{place}: got {' and '.join(lan.shared)}, {expected}; {advice}.")
    others = [each for node in manifest.nodes for each in node.interfaces if each.port]
    for own in lan.interfaces:
        same = [each.name for each in others if each.port == own.port and each.name != own.name]
        if same:
            got = f"got {own.name} and {same[0]} on one port ({own.port})"
            raise UsageError(f"{place}: {got}, {expected}; request one link per port in the profile.")


_ETHERNET_MTU_BYTES: Final = 1_500
_JUMBO_MTU_BYTES: Final = 9_000
"""MTU of a link with setJumboFrames. Source: geni-lib, geni/rspec/emulab/emuext.py."""
CARDS: Final = (
    "c6525-100g", "c6525-25g", "d6515", "m400", "m510", "r650", "r6525", "r7525", "xl170",
)  # fmt: skip
"""Types whose experiment interfaces are ConnectX cards. Source: CloudLab's manual, chapter on hardware."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Settings that a manifest does not have."""

    user: str
    interface: str | None = None
    rdma_device_kind: str | None = None


def inventory_text(manifest: Manifest, lan: Lan, choices: Choices) -> str:
    """Return the inventory in YAML: hosts h0, h1, ... in the manifest's order.

    UsageError if the type of a card, a MAC or the user's login is missing.
    """
    hosts = {
        f"h{number}": _host(manifest, interface, choices) for number, interface in enumerate(lan.interfaces)
    }
    variables: dict[str, object] = {
        "testbed_kind": "cloudlab",
        "ansible_user": choices.user,
        "known_hosts_file": "~/.ssh/known_hosts",
        "experiment_mtu": _JUMBO_MTU_BYTES if lan.is_jumbo else _ETHERNET_MTU_BYTES,
    }
    if lan.switches:
        variables["allocated_switches"] = allocated_switches(manifest, lan)
    content = {"all": {"vars": variables, "children": {"hosts": {"hosts": hosts}}}}
    return yaml.safe_dump(content, sort_keys=False, width=1000)


def allocated_switches(manifest: Manifest, lan: Lan) -> list[dict[str, str]]:
    """Return name and type of the LAN's switches that are allocated to this experiment."""
    hardware = {node.name: node.hardware for node in manifest.nodes}
    return [{"name": name, "hardware": hardware[name]} for name in lan.switches]


def _host(manifest: Manifest, interface: ManifestInterface, choices: Choices) -> dict[str, object]:
    node = next(node for node in manifest.nodes if node.name == interface.node)
    place = f"manifest {manifest.path}: {node.name}"
    kind = choices.rdma_device_kind or ("card" if node.hardware in CARDS else None)
    if kind is None:
        raise UsageError(
            f"{place}: got hardware {node.hardware or 'of no type'!r}, expected one of "
            f"{', '.join(CARDS)}, or --rdma to say whether it has an RDMA card."
        )
    if choices.interface is None and not interface.mac:
        expected = "expected one, by which the node finds the interface; name the interface with --interface"
        raise UsageError(f"{place}: got no MAC of {interface.name}, {expected}.")
    if choices.user not in node.logins:
        raise UsageError(
            f"{place}: got user {choices.user!r}, expected one of "
            f"{', '.join(sorted(node.logins)) or 'none'}; choose with --user."
        )
    login, port = node.logins[choices.user]
    assert interface.address is not None, "a LAN has interfaces with addresses alone"
    return {
        "ansible_host": login,
        "ansible_port": port,
        "experiment_address": str(interface.address.ip),
        **({} if choices.interface is None else {"experiment_interface": choices.interface}),
        **({"experiment_mac": interface.mac} if interface.mac else {}),
        "rdma_device_kind": kind,
        "cloudlab_name": node.name,
        "cloudlab_hardware": node.hardware,
    }
