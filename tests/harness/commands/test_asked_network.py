"""The one network that an experiment's cells ask of a switch."""

from pathlib import Path

import pytest
from helpers.experiments import write_experiment
from helpers.rack_inventory import rack_of

from rogue.harness.commands.switch import NamedCells, asked_switch
from rogue.harness.errors import UsageError

FACTORS = "factors={topology.rate: [10Gbps, 25Gbps]}"
BUFFERS = "factors={topology.buffer: [3MB, 9MB], workload.senders: [1, 2]}"


def told(directory: Path, *settings: str, cell: str | None = None) -> str:
    """What is asked of the switch, or why it is refused."""
    rack = rack_of("eos")
    try:
        cells = NamedCells(write_experiment(directory), settings, cell).load(())
        return str(asked_switch(cells, rack, rack.hardware_switches[0]).switch.variables)
    except UsageError as error:
        return str(error)


def test_cells_that_ask_the_same_have_one_network(tmp_path: Path) -> None:
    assert told(tmp_path, "transports=[dctcp]", "repetitions=3") == "priority 3: marks beyond 98670 bytes"
    assert told(tmp_path, "factors={workload.senders: [1, 2]}") == "priority 3: nothing"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            ("transports=[roce, dctcp]",),
            "small: got cells that ask different things of tor, by transports: roce-r1 asks for priority 3: "
            "nothing, and dctcp-r1 for priority 3: marks beyond 98670 bytes; expected one network: name a "
            "cell with --cell, or take the others away with --set.",
        ),
        (
            ("transports=[dctcp]", FACTORS),
            "small: got cells that ask different things of tor, by topology.rate: dctcp-rate10Gbps-r1 asks "
            "for priority 3: marks beyond 98670 bytes; 10 Gb/s at Ethernet1, Ethernet2, Ethernet3, "
            "Ethernet4, and dctcp-rate25Gbps-r1 for priority 3: marks beyond 245916 bytes; 25 Gb/s at "
            "Ethernet1, Ethernet2, Ethernet3, Ethernet4; expected one network: name a cell with --cell, or "
            "take the others away with --set.",
        ),
        (
            ("transports=[roce]", BUFFERS),
            "small: got cells that ask different things of tor, by topology.buffer: "
            "roce-buffer3MB-senders1-r1 asks for a buffer of 3000000 bytes, of which a port may hold 1 times "
            "what is free, and roce-buffer9MB-senders1-r1 for a buffer of 9000000 bytes, of which a port may "
            "hold 1 times what is free; expected one network: name a cell with --cell, or take the others "
            "away with --set.",
        ),
        (
            ("transports=[{name: dctcp, mark_above: 2TB}]",),
            "small: dctcp_mark_above=2TB-r1: mark_above: expected from 0 to 1000000000000 bytes; correct the "
            "value.",
        ),
    ],
)
def test_others_are_refused_with_the_keys_that_differ(
    tmp_path: Path, settings: tuple[str, ...], words: str
) -> None:
    assert told(tmp_path, *settings) == words


def test_keys_that_make_a_difference_together_are_all_named(tmp_path: Path) -> None:
    words = told(tmp_path, "transports=[roce, dctcp]", FACTORS)
    assert " by topology.rate and transports: " in words


def test_one_cell_can_be_named(tmp_path: Path) -> None:
    both = "transports=[roce, dctcp]"
    assert told(tmp_path, both, cell="dctcp-r1") == "priority 3: marks beyond 98670 bytes"
    missing = told(tmp_path, both, "repetitions=4", cell="x")
    assert missing.startswith(
        "--cell: got x, expected one of roce-r1, dctcp-r1, roce-r2, dctcp-r2 and 4 more;"
    )


def test_only_what_nodes_carry_counts(tmp_path: Path) -> None:
    assert told(tmp_path, "transports=[irn, dctcp]") == "priority 3: marks beyond 98670 bytes"
    assert told(tmp_path, "transports=[irn]").endswith(
        ": got irn, expected a transport that nodes carry; `rogue list transports` says where each runs."
    )
