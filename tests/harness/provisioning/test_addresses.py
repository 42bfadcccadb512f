"""What no host can send to."""

from pathlib import Path

import pytest

from rogue.harness.provisioning.addresses import shared_addresses, unusable_addresses

FILE = Path("nodes.yaml")


def problems(*addresses: str, mtu: int = 4300) -> list[str]:
    hosts = [f"h{number}" for number, _ in enumerate(addresses)]
    variables = {
        name: {"experiment_address": address, "experiment_mtu": mtu}
        for name, address in zip(hosts, addresses, strict=True)
    }
    found = [*shared_addresses(FILE, hosts, variables), *unusable_addresses(FILE, hosts, variables)]
    return [str(each) for each in found]


@pytest.mark.parametrize("addresses", [("10.9.0.10", "10.9.0.11"), ("fd00::10", "2001:db8::11"), ()])
def test_one_family_with_an_address_for_each_host(addresses: tuple[str, ...]) -> None:
    assert problems(*addresses) == []


def test_an_address_is_one_hosts_however_it_is_written() -> None:
    (problem,) = problems("fd00::10", "fd00:0:0::10")
    assert "h1.experiment_address: got fd00::10, which h0 has, expected an address of its own" in problem


def test_hosts_of_two_families_do_not_reach_each_other() -> None:
    (problem,) = problems("10.9.0.10", "10.9.0.11", "fd00::12")
    assert "h2.experiment_address: got an address of IPv6, expected one family for all hosts; h0" in problem


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("fe80::10", "got fe80::10, expected an address that counts on the whole node; give the interface"),
        ("::ffff:10.9.0.10", "expected an address of IPv6, or one of IPv4 as such; write 10.9.0.10."),
    ],
)
def test_what_is_no_address_of_a_host(address: str, words: str) -> None:
    (problem,) = problems(address)
    assert words in problem


def test_packets_that_are_too_small_for_ipv6() -> None:
    (problem,) = problems("fd00::10", mtu=1279)
    assert "h0.experiment_mtu: got 1279, expected 1280 at least, with an address of IPv6" in problem
    assert problems("10.9.0.10", mtu=576) == []


def test_what_is_no_address_at_all_is_said_elsewhere() -> None:
    assert problems("10.9", "fd00::10") == []
