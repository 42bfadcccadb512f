from pathlib import Path
from typing import Any

import pytest

from rogue.harness.provisioning.inventory import HostVariables
from rogue.harness.provisioning.inventory_errors import find_problems

GOOD = {
    "experiment_address": "10.9.0.1", "experiment_interface": "eth1", "experiment_mtu": 1500,
    "rdma_device_kind": "card",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, None),
        ({"of_no_interest": "{{ x }}"}, None),
        (
            {"experiment_mtu": "{{ mtu }}"},
            "h0.experiment_mtu: got '{{ mtu }}', expected a value; templates are",
        ),
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
