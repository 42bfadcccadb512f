"""An inventory of a rack with one hardware switch, whose cards send with DSCP 26."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from helpers.fake_agents import fake_inventory
from helpers.switch_inventory import hardware, wanted

from rogue.harness.provisioning.inventory import Inventory
from rogue.remote.login import Login

PRIORITY_3: Mapping[str, Any] = {"3": {"dscp": [26]}}
INTERFACES: Mapping[str, Sequence[str]] = {
    "eos": ("Ethernet1", "Ethernet2", "Ethernet3", "Ethernet4"),
    "sonic": ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"),
    "cumulus": ("swp1", "swp2", "swp3", "swp4"),
    "onyx": ("1/1", "1/2", "1/3", "1/4"),
}


def rack_of(platform: str, login: Login | None = None, **variables: Any) -> Inventory:
    """Four hosts on a switch `tor`."""
    found = {"switch_priorities": PRIORITY_3, **variables}
    tor = hardware(wanted(platform, tuple(INTERFACES.get(platform, INTERFACES["eos"])), **found), login)
    plain = fake_inventory()
    card = {"rdma_device_kind": "card"}
    hosts = tuple(replace(host, variables=host.variables.model_copy(update=card)) for host in plain.hosts)
    return replace(plain, kind="nodes", hosts=hosts, switch=None, hardware_switches=(tor,))
