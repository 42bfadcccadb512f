"""What a kernel refuses, by name."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of

from rogue.harness.cell.transport import ParameterError
from rogue.harness.testbeds.kernel.testbed import check_parameters, unsupported

CLOS = "topology={kind: two_tier, racks: 2, hosts_per_rack: 2, rate: 10Gbps}"


def test_it_has_one_card(tmp_path: Path) -> None:
    assert unsupported(cell_of(tmp_path, "topology.nic=soft_roce")) is None


def test_soft_roce_and_the_kernels_tcp_carry_cells(tmp_path: Path) -> None:
    for transport in ("rogue", "rogue-uc", "roce", "roce-uc", "dctcp", "cubic", "reno"):
        assert unsupported(cell_of(tmp_path, f"transports=[{transport}]")) is None


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("transports=[iwarp]", "has no iwarp; it has rogue, "),
        ("transports=[{name: reno, sack: 0}]", "reno is Linux's own, which takes no sack"),
        ("transports=[roce+pfc]", "has no roce+pfc"),
        ("transports=[{name: rogue, completions: polling}]", "set completions to event"),
        ("topology.switch=voq", "topology.switch is for the simulator"),
        ("topology.nic=cx4", "leave topology.nic out"),
        ("topology.delay_spread=1us", "topology.delay_spread is for the simulator"),
        ("faults=[{kind: loss, target: h2, probability: 0.1, until: 1ms}]", "leave from and until out"),
        ("faults=[{kind: slow_receiver, target: h2, rate: 1Gbps}]", "has no SlowReceiver"),
    ],
)
def test_what_it_has_not(tmp_path: Path, setting: str, words: str) -> None:
    assert words in (unsupported(cell_of(tmp_path, setting, text=SMALL)) or "")


def test_cables_of_hosts_are_as_long_as_each_other(tmp_path: Path) -> None:
    """A port to a host delays for the sender's cable, too."""
    (tmp_path / "net.yaml").write_text(
        "links:\n- {link: h0-s0, rate: 1Gbps}\n- {link: h1-s0, rate: 1Gbps, delay: 2us}\n"
        "- {link: h2-s0, rate: 1Gbps}\n- {link: h3-s1, rate: 1Gbps}\n"
        "- {link: s0-s1, rate: 1Gbps, delay: 9us}\n"
    )
    cell = cell_of(tmp_path, "topology={kind: links, file: net.yaml}")
    assert "give their links the same delay" in (unsupported(cell) or "")
    (tmp_path / "net.yaml").write_text((tmp_path / "net.yaml").read_text().replace(", delay: 2us", ""))
    assert unsupported(cell_of(tmp_path, "topology={kind: links, file: net.yaml}")) is None


def test_a_queue_too_short_to_mark_from_is_a_mistake(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: dctcp, mark_above: 1KB}]")
    with pytest.raises(ParameterError) as caught:
        check_parameters(cell, cell.groups[0])
    assert caught.value.mistake.key == "mark_above"
    assert "more than 2000 bytes" in caught.value.mistake.expected


def test_switches_mark_above_one_threshold(tmp_path: Path) -> None:
    groups = "".join(
        f"  - {{name: {name}, workload: {{kind: incast, senders: 1, size: 1MB}}, parameters: {{{own}}}}}\n"
        for name, own in (("one", "mark_above: 50KB"), ("two", ""))
    )
    star = "topology: {kind: star, hosts: 4, rate: 10Gbps}"
    text = f"name: two\n{star}\ntraffic:\n{groups}transports: [dctcp]\n"
    assert "give all groups the same mark_above" in (unsupported(cell_of(tmp_path, text=text)) or "")


def test_flows_that_cannot_take_turns_need_limiters_enough(tmp_path: Path) -> None:
    """READs keep theirs, and so does what goes over UC."""
    many = "workload={kind: many_pairs, hosts: 4, load: 0.5, arrive_for: 1s, verb: VERB}"
    for verb, transport, is_refused in (
        ("write", "rogue", False), ("read", "rogue", True), ("write", "rogue-uc", True),
    ):  # fmt: skip
        settings = (many.replace("VERB", verb), f"transports=[{transport}]", "probe=null")
        reason = unsupported(cell_of(tmp_path, *settings, "topology.nic_limiters=2"))
        assert ("its card has 2 limiters for them: 3 respond to READs" in str(reason)) is is_refused
