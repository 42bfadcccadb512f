"""Addresses of nodes that have only names."""

from rogue.reports.export.captures.packet import addresses_of


def test_hosts_are_numbered_by_their_names() -> None:
    addresses = addresses_of(["s0", "h7", "h0"])
    assert addresses.ip("h7") == bytes((10, 0, 0, 8))
    assert addresses.mac("h0") == bytes((2, 0, 0, 0, 0, 1))
    assert addresses.names()[addresses.ip("s0")] == "s0"


def test_no_two_nodes_share_an_address() -> None:
    nodes = ["h1", "h01", "s1", "s0", "host", "h"]
    addresses = addresses_of([*nodes, *nodes])
    assert len({addresses.ip(node) for node in nodes}) == len({addresses.mac(node) for node in nodes}) == 6
