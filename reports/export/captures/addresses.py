"""Addresses of simulated nodes, which have only names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Final

PAUSE_MAC: Final = bytes.fromhex("0180c2000001")
"""Where pause frames go. Source: IEEE 802.3, annex 31B."""
_NETWORK: Final = int(IPv4Address("10.0.0.0"))


@dataclass(frozen=True, slots=True)
class Addresses:
    """Number of each node, from 1; h7 is number 8 wherever hosts are called like that."""

    numbers: dict[str, int]

    def ip(self, node: str) -> bytes:
        """Return an address of 10.0.0.0/8."""
        return (_NETWORK + self.numbers[node]).to_bytes(4, "big")

    def mac(self, node: str) -> bytes:
        """Return a locally administered address."""
        return b"\x02" + self.numbers[node].to_bytes(5, "big")

    def names(self) -> dict[bytes, str]:
        """Return the nodes by IP address."""
        return {self.ip(node): node for node in self.numbers}


def addresses_of(nodes: Iterable[str]) -> Addresses:
    """Number nodes: hosts named h0, h1, ... by their names, all others behind them."""
    known = sorted(set(nodes))
    matched = {node: re.fullmatch(r"h(\d{1,6})", node) for node in known}
    numbers = {
        node: int(found[1]) + 1 for node, found in matched.items() if found and str(int(found[1])) == found[1]
    }
    others = [node for node in known if node not in numbers]
    first = 1 << 20
    return Addresses(numbers | {node: first + nth for nth, node in enumerate(others)})
