"""A CloudLab manifest, turned into an inventory; no connection and no password is needed."""

from dataclasses import dataclass
from typing import Final

import yaml

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.cloudlab_manifest import Lan, Manifest, ManifestInterface

_ETHERNET_MTU_BYTES: Final = 1_500
_JUMBO_MTU_BYTES: Final = 9_000
"""Of a link with setJumboFrames. Source: geni-lib, geni/rspec/emulab/emuext.py."""
CARDS: Final = (
    "c6525-100g", "c6525-25g", "d6515", "m400", "m510", "r650", "r6525", "r7525", "xl170",
)  # fmt: skip
"""Types whose experiment interfaces are ConnectX cards. Source: CloudLab's manual, chapter on hardware."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a manifest leaves open."""

    user: str
    interface: str | None = None
    rdma_device_kind: str | None = None


def inventory_text(manifest: Manifest, lan: Lan, choices: Choices) -> str:
    """The inventory as YAML: hosts h0, h1, ... in the manifest's order; UsageError if something lacks."""
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
    """Switches of the LAN that are this experiment's own, by name and type."""
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
            f"{', '.join(sorted(node.logins)) or 'nobody'}; choose with --user."
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
