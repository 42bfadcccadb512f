"""Tests: mistakes in an inventory's values."""

from pathlib import Path
from typing import Any

import pytest

from rogue.harness.errors import Problem
from rogue.harness.provisioning.inventory import HostVariables
from rogue.harness.provisioning.inventory_problems import (
    find_problems,
    grouped,
    wrong_addresses,
)

GOOD = {
    "experiment_address": "10.9.0.1", "experiment_interface": "eth1", "experiment_mtu": 1500,
    "rdma_device_kind": "card",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, None),
        ({"of_no_interest": "{{ x }}"}, None),
        ({"experiment_mtu": "{{ mtu }}"}, None),
        ({"experiment_mtu": "jumbo"}, "h0.experiment_mtu: got 'jumbo', expected a whole number; inv"),
        ({"experiment_mtu": 70_000}, "h0.experiment_mtu: got 70000, expected a number of at most 65535; inv"),
        ({"experiment_interface": 7}, "h0.experiment_interface: got 7, expected text, in quotes where YAML"),
        (
            {"experiment_interface": "a b"},
            "h0.experiment_interface: got 'a b', expected the name of a network",
        ),
        (
            {"experiment_mac": "14:58"},
            "h0.experiment_mac: got '14:58', expected a MAC address such as 14:58:d0",
        ),
        ({"rdma_device_kind": "x"}, "h0.rdma_device_kind: got 'x', expected 'soft_roce' or 'card'; inv"),
    ],
)
def test_mistakes_are_sentences(change: dict[str, Any], sentence: str | None) -> None:
    found = find_problems(Path("nodes.yaml"), "h0", HostVariables, {**GOOD, **change})
    assert [str(problem).startswith(f"nodes.yaml: {sentence}") for problem in found] == [True] * bool(
        sentence
    )


NODES = ("h0", "h1", "h2", "h10", "tor")


def wrong(key: str, got: str = "bond0") -> Problem:
    return Problem("nodes.yaml", key, got, "one card", "take it out")


def test_a_mistake_of_a_group_is_one_sentence_with_its_nodes_in_order() -> None:
    found = grouped((wrong(f"{node}.experiment_interface") for node in ("h10", "h0", "h2")), NODES)
    assert [str(each) for each in found] == [
        "nodes.yaml: experiment_interface of h0, h2, h10: got bond0, expected one card; take it out."
    ]


def test_one_node_keeps_its_path_and_other_mistakes_stay_apart() -> None:
    problems = [
        wrong("h0.experiment_interface"),
        wrong("h1.experiment_interface", "team0"),
        wrong("h1.other"),
    ]
    assert grouped(problems, NODES) == problems


def test_what_is_no_node_s_is_not_taken_apart() -> None:
    problems = [wrong("hosts"), wrong("nobody.experiment_interface"), wrong("h0")]
    assert grouped(problems, NODES) == problems


def test_names_with_dots_are_names() -> None:
    """Of `h0` and `h0.lab.org` the longer one is meant, and keys have dots of their own."""
    nodes = ("h0", "h0.lab.org", "h1.lab.org")
    found = grouped((wrong(f"{node}.ports.0.interface") for node in nodes[1:]), nodes)
    assert [each.key for each in found] == ["ports.0.interface of h0.lab.org, h1.lab.org"]
    both = [wrong("h0.lab"), wrong("h0.lab.org.interface", "team0")]
    assert grouped(both, nodes) == both


FILE = Path("nodes.yaml")


def problems(*addresses: str) -> list[str]:
    variables = {f"h{number}": {"experiment_address": each} for number, each in enumerate(addresses)}
    return [str(each) for each in wrong_addresses(FILE, list(variables), variables)]


@pytest.mark.parametrize("addresses", [("10.9.0.10", "10.9.0.11"), ("fd00::10", "2001:db8::11"), ()])
def test_one_family_with_an_address_for_each_host(addresses: tuple[str, ...]) -> None:
    assert problems(*addresses) == []


def test_an_address_is_one_hosts_however_it_is_written() -> None:
    (problem,) = problems("fd00::10", "fd00:0:0::10")
    assert "h1.experiment_address: got fd00::10, which h0 has, expected an address of its own" in problem


def test_hosts_of_two_families_do_not_reach_each_other() -> None:
    (problem,) = problems("10.9.0.10", "10.9.0.11", "fd00::12")
    assert "h2.experiment_address: got an address of IPv6, expected one family for all hosts; h0" in problem


def test_an_address_of_one_link_is_refused() -> None:
    (problem,) = problems("fe80::10")
    assert "got fe80::10, expected an address that is valid on the whole node; give the interface" in problem


def test_what_is_no_address_at_all_is_said_elsewhere() -> None:
    assert problems("10.9", "fd00::10") == []
