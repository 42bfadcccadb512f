"""Who sends to whom so that each host's port is filled once, in as few rounds as the network allows."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeVar

from rogue.harness.provisioning.inventory import Inventory

_GROUP: Final = 3
"""A receiver and two senders, which together fill its port."""


class _Named(Protocol):
    """A host, or its card."""

    @property
    def name(self) -> str:
        """The host's."""


HostT = TypeVar("HostT", bound=_Named)


def at_once(
    inventory: Inventory, hosts: Sequence[HostT]
) -> Iterator[list[tuple[HostT, tuple[HostT, HostT]]]]:
    """Receivers with their senders that may send at the same time, for they share no link between switches.

    Three hosts at least.
    """
    switches = {
        port.peer: switch.name
        for switch in inventory.hardware_switches
        for port in switch.variables.switch_ports
    }
    has_one = len(inventory.hardware_switches) == 1
    for groups in incasts(hosts):
        local = []
        for receiver, senders in groups:
            places = {switches.get(each.name, each.name) for each in (receiver, *senders)}
            if has_one or len(places) == 1:
                local.append((receiver, senders))
            else:
                yield [(receiver, senders)]
        if local:
            yield local


def incasts(hosts: Sequence[HostT]) -> Iterator[list[tuple[HostT, tuple[HostT, HostT]]]]:
    """Each host once as receiver with two senders, in rounds in which no host takes part twice."""
    whole = len(hosts) - len(hosts) % _GROUP
    groups = [hosts[first : first + _GROUP] for first in range(0, whole, _GROUP)]
    for turn in range(_GROUP):
        turned = [(*group[turn:], *group[:turn]) for group in groups]
        yield [(receiver, (first, second)) for receiver, first, second in turned]
    for receiver in hosts[whole:]:
        yield [(receiver, (hosts[0], hosts[1]))]
