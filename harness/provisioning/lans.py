"""The experiment networks of a manifest, and the one that is measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.manifest import Manifest, ManifestInterface, ManifestLink

_HOSTS_MIN = 2


@dataclass(frozen=True, slots=True)
class Lan:
    """Interfaces of hosts that reach each other, over one link or through switches that were allocated."""

    name: str
    interfaces: tuple[ManifestInterface, ...]
    """Of hosts, with an address, in the manifest's order."""
    switches: tuple[str, ...]
    is_jumbo: bool = False
    """Whether all of its links were asked to carry packets of 9000 bytes."""
    shared: tuple[str, ...] = ()
    """`vlan_tagging` and `link_multiplexing`, where one of its links has them."""

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(interface.node for interface in self.interfaces)})"


def choose_lan(manifest: Manifest, name: str | None) -> Lan:
    """The LAN of that name, or the only one; UsageError if there is none, or several without a name."""
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
    _check(f"{place}: {lan.name}", lan)
    _check_ports(f"{place}: {lan.name}", lan, manifest)
    return lan


def lans_of(manifest: Manifest) -> Iterator[Lan]:
    """Everything that joins two hosts or more; links that meet in an allocated switch are one LAN."""
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
    """Links in groups that switches join."""
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


def _check(place: str, lan: Lan) -> None:
    """One interface per host, one subnet, no address twice; UsageError otherwise."""
    nodes = [each.node for each in lan.interfaces]
    if twice := [name for name in dict.fromkeys(nodes) if nodes.count(name) > 1]:
        raise UsageError(f"{place}: got two interfaces of {twice[0]}, expected one of each host.")
    addresses = {each.node: each.address for each in lan.interfaces if each.address is not None}
    subnets = {node: address.network for node, address in addresses.items()}
    if len(set(subnets.values())) > 1:
        got = ", ".join(f"{subnet} of {node}" for node, subnet in subnets.items())
        raise UsageError(f"{place}: got subnets {got}; expected one for all hosts.")
    owners: dict[object, str] = {}
    for node, address in addresses.items():
        if (other := owners.setdefault(address.ip, node)) != node:
            raise UsageError(f"{place}: got {address.ip} of both {other} and {node}, expected one owner.")


def _check_ports(place: str, lan: Lan, manifest: Manifest) -> None:
    """Check that each host has a port of a card for this LAN alone; UsageError otherwise."""
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
