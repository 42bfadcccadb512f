"""A CloudLab manifest, turned into an inventory: a file that one downloads, so that no password is needed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

import yaml

from harness.errors import UsageError

SIZE_MAX_BYTES: Final = 20_000_000
_ETHERNET_MTU_BYTES: Final = 1_500
_SSH_PORT: Final = 22
_PORT_MAX: Final = 65_535


class Hardware(NamedTuple):
    """What Linux calls the experiment interface of a type of node, and whether it is an RDMA card's."""

    interface: str
    rdma_device_kind: str


HARDWARE: Final[Mapping[str, Hardware]] = {
    "m510": Hardware("eno1d1", "card"),
    "xl170": Hardware("ens1f1np1", "card"),
}
"""Types of which users have reported the name; a manifest does not say it."""


@dataclass(slots=True)
class ManifestNode:
    """One node of a manifest."""

    name: str
    hardware: str = ""
    logins: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Host name and port by user."""
    addresses: list[tuple[str, str]] = field(default_factory=list)
    """MAC and IPv4 address of every experiment interface."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a manifest leaves open."""

    user: str
    interface: str | None = None
    rdma_device_kind: str | None = None


def read_manifest_nodes(path: Path) -> list[ManifestNode]:
    """Every node that has an address on an experiment network; UsageError if there is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"manifest {path}: cannot be read: {error.strerror}; give a file.") from error
    if len(content) > SIZE_MAX_BYTES:
        raise UsageError(f"manifest {path}: got {len(content)} bytes, expected {SIZE_MAX_BYTES} at most.")
    parser = ElementTree.XMLParser(target=_WithoutDoctype(path))
    try:
        parser.feed(content)
        root = parser.close()
    except ElementTree.ParseError as error:
        advice = "download it with `geni-get manifest`, or from the experiment's page"
        raise UsageError(f"manifest {path}: it is no XML ({error}); {advice}.") from error
    elements = (element for element in root if _tag(element) == "node")
    nodes = [node for element in elements if (node := _node(path, element)).addresses]
    if not nodes:
        raise UsageError(
            f"manifest {path}: got no node with an address on an experiment network, expected two at least; "
            "give the manifest of an experiment that has a LAN."
        )
    return nodes


class _WithoutDoctype(ElementTree.TreeBuilder):
    """A manifest has no document type; one is the way to entities that grow without end or read files."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def doctype(self, name: str, _public: str | None, _system: str | None) -> None:
        """Called by the parser before anything of it is used."""
        raise UsageError(f"manifest {self._path}: got a document type ({name}), expected a plain manifest.")


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _node(path: Path, element: ElementTree.Element) -> ManifestNode:
    node = ManifestNode(element.get("client_id", ""))
    for inner in element.iter():
        match _tag(inner):
            case "hardware_type":
                node.hardware = inner.get("name", "")
            case "login":
                place = f"manifest {path}: {node.name}"
                node.logins[inner.get("username", "")] = (inner.get("hostname", ""), _port(place, inner))
            case "interface":
                node.addresses += _addresses(inner)
    return node


def _port(place: str, login: ElementTree.Element) -> int:
    text = login.get("port") or str(_SSH_PORT)
    if not text.isdecimal() or not 1 <= int(text) <= _PORT_MAX:
        raise UsageError(f"{place}: got port {text!r} of a login, expected a number from 1 to {_PORT_MAX}.")
    return int(text)


def _addresses(interface: ElementTree.Element) -> Iterator[tuple[str, str]]:
    digits = interface.get("mac_address", "").replace(":", "")
    mac = ":".join(digits[start : start + 2] for start in range(0, len(digits), 2))
    for address in interface:
        if _tag(address) == "ip" and address.get("type", "ipv4") == "ipv4":
            yield mac, address.get("address", "")


def inventory_text(path: Path, nodes: list[ManifestNode], choices: Choices) -> str:
    """The inventory as YAML: hosts h0, h1, ... in the manifest's order."""
    hosts = {f"h{number}": _host(path, node, choices) for number, node in enumerate(nodes)}
    content = {
        "all": {
            "vars": {
                "testbed_kind": "cloudlab",
                "ansible_user": choices.user,
                "known_hosts_file": "~/.ssh/known_hosts",
                "experiment_mtu": _ETHERNET_MTU_BYTES,
            },
            "children": {"hosts": {"hosts": hosts}},
        }
    }
    return yaml.safe_dump(content, sort_keys=False, width=1000)


def _host(path: Path, node: ManifestNode, choices: Choices) -> dict[str, object]:
    known = HARDWARE.get(node.hardware)
    interface = choices.interface or (known and known.interface)
    kind = choices.rdma_device_kind or (known and known.rdma_device_kind)
    if interface is None or kind is None:
        raise UsageError(
            f"manifest {path}: {node.name}: got hardware {node.hardware or 'of no type'!r}, expected one of "
            f"{', '.join(HARDWARE)}, or --interface and --rdma; `ip address` on the node shows the name."
        )
    if choices.user not in node.logins:
        raise UsageError(
            f"manifest {path}: {node.name}: got user {choices.user!r}, expected one of "
            f"{', '.join(sorted(node.logins)) or 'nobody'}; choose with --user."
        )
    login, port = node.logins[choices.user]
    mac, address = node.addresses[0]
    return {
        "ansible_host": login,
        "ansible_port": port,
        "experiment_address": address,
        "experiment_interface": interface,
        "experiment_mac": mac,
        "rdma_device_kind": kind,
        "cloudlab_name": node.name,
        "cloudlab_hardware": node.hardware,
    }
