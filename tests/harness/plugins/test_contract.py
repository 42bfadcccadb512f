"""Tests: check that controls, workloads and topologies keep their contract."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar, Literal

import pytest
from helpers.plugin_files import RACK, SHOWN, SWIFT

from rogue.agent.core.cc import CONGESTION_CONTROLS, Sample, Segments
from rogue.agent.core.cc.fixed import Fixed, FixedParameters
from rogue.agent.core.limiter import LinkFacts
from rogue.harness.plugins.contract import contract_faults, control_faults, traffic_faults
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.workloads.topologies import TOPOLOGIES, Link, Placement, Topology
from rogue.workloads.traffic import WORKLOADS, Flow, Workload


@pytest.mark.parametrize("name", CONGESTION_CONTROLS)
def test_shipped_controls_keep_the_contract(name: str) -> None:
    assert control_faults(CONGESTION_CONTROLS[name]) == []


@pytest.mark.parametrize("file", [SWIFT, RACK, SHOWN], ids=lambda file: file.stem)
def test_plugins_of_these_tests_keep_the_contract(file: object) -> None:
    (loaded,) = load_plugins([read_plugin(str(file), "")])
    assert contract_faults(loaded) == []


COUNT = count()


class Shrinks(Fixed):
    def on_sample(self, sample: Sample) -> None:
        self.cwnd_packets -= 1


class Grows(Fixed):
    def on_loss(self) -> None:
        self.cwnd_packets *= 1e9


class Stops(Fixed):
    @property
    def target_rate_bps(self) -> float:  # type: ignore[override]
        return 0.0


class Counts(Fixed):
    def on_sample(self, sample: Sample) -> None:
        self.cwnd_packets = 1 + next(COUNT) % 1000


class Divides(Fixed):
    def on_timeout(self) -> None:
        self.cwnd_packets /= 0


class Forgets(Fixed):
    def metrics(self) -> dict[str, float]:
        return {"window": self.cwnd_packets}


class Undefined(Fixed):
    def metrics(self) -> dict[str, float]:
        return {**super().metrics(), "ratio": math.nan}


class Renames(Fixed):
    def metrics(self) -> dict[str, float]:
        return {**super().metrics(), f"call{next(COUNT)}": 0.0}


BROKEN = {
    Shrinks: r"after 1 calls, the last a sample of \d+ ns: cwnd_packets is 0.0, expected above 0",
    Grows: r"after \d+ calls, the last a loss: cwnd_packets is 1000000000.0, expected above 0 and up to",
    Stops: "target_rate_bps is 0.0, expected above 0, or None",
    Counts: "the same calls gave another result, expected no clock",
    Divides: "it raises ZeroDivisionError: float division by zero",
    Undefined: r"metrics\(\) has a value that is not finite: .*'ratio': nan",
    Renames: r"metrics\(\) has other names than before: call\d+, call\d+",
    Forgets: r"metrics\(\) has the window None, expected 1.0",
}


@pytest.mark.parametrize("control", BROKEN)
def test_fault_of_a_control(control: type[Fixed]) -> None:
    @dataclass(frozen=True, slots=True)
    class Parameters(FixedParameters):
        """window_packets: the window."""

        def build(self, link: LinkFacts, segments: Segments) -> Fixed:
            return control(self)

    (fault,) = control_faults(Parameters)
    assert re.search(BROKEN[control], fault), fault


ENTRIES = [("workload", name) for name in WORKLOADS] + [("topology", name) for name in TOPOLOGIES]


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_shipped_workloads_and_topologies_keep_the_contract(kind: str, name: str) -> None:
    assert [fault for fault in traffic_faults(kind, name) if "none of the values" not in fault] == []


def test_most_entries_can_be_built() -> None:
    untried = [name for kind, name in ENTRIES if traffic_faults(kind, name)]
    assert len(untried) <= 6, untried  # half of them read files


def flow(source: str, destination: str, *, number: int = 1) -> Flow:
    return Flow(source, destination, "write", 1_000, 0, number)


class Mine(Workload):
    """Traffic that each test makes wrong in its own way."""

    kind: Literal["mine"] = "mine"

    def hosts_min(self) -> int:
        """A pair."""
        return 2

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow."""
        return (flow(*placement.hosts[:2]),)

    @property
    def duration_ns(self) -> None:
        """Until all has arrived."""
        return


class Undescribed(Mine):
    """A key without a word."""

    spread: int = 1


class Picky(Mine):
    """Nothing that is tried suits it."""

    word: Literal["one", "two"]
    """Which."""


def raises(_hosts: Sequence[str]) -> tuple[Flow, ...]:
    raise KeyError("h99")


WRONG_FLOWS: dict[str, Callable[[Sequence[str]], tuple[Flow, ...]]] = {
    "flows() differ from call to call with seed 1": lambda hosts: (flow(*hosts[:2], number=next(COUNT)),),
    "two flows between the same hosts have one number": lambda hosts: (flow(*hosts[:2]),) * 2,
    "h0 sends to itself": lambda hosts: (flow(hosts[0], hosts[0]),),
    "h0->elsewhere are not hosts of the placement": lambda hosts: (flow(hosts[0], "elsewhere"),),
    "it raises KeyError: 'h99'": raises,
}
WRONG_KEYS = {
    Undescribed: "the key spread has no docstring",
    Picky: "it takes none of the values that were tried: Input should be 'one' or 'two'",
}


@pytest.mark.parametrize("fault", WRONG_FLOWS)
def test_fault_of_flows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, "mine", Mine)
    assert traffic_faults("workload", "mine") == []
    monkeypatch.setattr(Mine, "flows", lambda _self, placement, _seed: WRONG_FLOWS[fault](placement.hosts))
    assert traffic_faults("workload", "mine")[0] == fault


@pytest.mark.parametrize("kind", WRONG_KEYS)
def test_fault_of_keys(kind: type[Workload], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, "mine", kind)
    assert traffic_faults("workload", "mine")[0] == WRONG_KEYS[kind]


class Pair(Topology):
    """Two hosts at a switch, until a test takes something away."""

    kind: Literal["pair"] = "pair"
    _hosts: ClassVar = ("h0", "h1")
    _links: ClassVar = (("h0", "s0"), ("h1", "s0"))
    _receiver: ClassVar = "h0"

    def host_names(self) -> tuple[str, ...]:
        """Both."""
        return self._hosts

    def switch_names(self) -> tuple[str, ...]:
        """Between them."""
        return ("s0",)

    def links(self) -> tuple[Link, ...]:
        """As the test has them."""
        return tuple(Link(a, b, 10**10, 1_000) for a, b in self._links)

    def placement(self, *, has_probe: bool) -> Placement:
        """The receiver as the test has it."""
        return replace(super().placement(has_probe=has_probe), receiver=self._receiver)


TOPOLOGY_FAULTS = {
    "two nodes have one name": {"_hosts": ("h0", "h0", "h1")},
    "a link from h1 to s9, which are not both hosts or switches": {"_links": (("h0", "s0"), ("h1", "s9"))},
    "h0 has 2 links, expected one": {"_links": (("h0", "s0"), ("h1", "s0"), ("h0", "h1"))},
    "no path leads from h0 to h2, h3": {
        "_hosts": ("h0", "h1", "h2", "h3"), "_links": (("h0", "s0"), ("h1", "s0"), ("h2", "h3")),
    },
    "s0 receives, and is no host": {"_receiver": "s0"},
}  # fmt: skip


@pytest.mark.parametrize("fault", TOPOLOGY_FAULTS)
def test_fault_of_a_topology(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOPOLOGIES, "pair", Pair)
    assert traffic_faults("topology", "pair") == []
    for name, value in TOPOLOGY_FAULTS[fault].items():
        monkeypatch.setattr(Pair, name, value)
    assert traffic_faults("topology", "pair")[0] == fault
