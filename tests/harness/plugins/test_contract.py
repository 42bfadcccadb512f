"""The contract holds for all that is shipped and for these tests' plug-ins, and finds what breaks it."""

import math
import re
from dataclasses import dataclass
from itertools import count

import pytest
from helpers.plugin_files import RACK, SHOWN, SWIFT, plugin

from rogue.agent.core.cc import CONGESTION_CONTROLS, Sample, Segments
from rogue.agent.core.cc.fixed import Fixed, FixedParameters
from rogue.agent.core.limiter import LinkFacts
from rogue.harness.plugins.contract import contract_faults, control_faults
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin


@pytest.mark.parametrize("name", CONGESTION_CONTROLS)
def test_every_shipped_control_keeps_it(name: str) -> None:
    assert control_faults(CONGESTION_CONTROLS[name]) == []


@pytest.mark.parametrize("file", [SWIFT, RACK, SHOWN], ids=lambda file: file.stem)
def test_the_plugins_of_these_tests_keep_it(file: object) -> None:
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
def test_each_way_to_break_it_is_a_sentence(control: type[Fixed]) -> None:
    @dataclass(frozen=True, slots=True)
    class Parameters(FixedParameters):
        """window_packets: the window."""

        def build(self, link: LinkFacts, segments: Segments) -> Fixed:
            return control(self)

    (fault,) = control_faults(Parameters)
    assert re.search(BROKEN[control], fault), fault


def test_a_parameter_that_nobody_explains_is_a_fault() -> None:
    @dataclass(frozen=True, slots=True)
    class Parameters(FixedParameters):
        """Constants."""

    assert control_faults(Parameters) == ["the docstring of Parameters does not explain window_packets"]


TO_ITSELF = """
from typing import Literal
from rogue.workloads.plugins import register_workload
from rogue.workloads.traffic import Flow, Workload

class Mirror(Workload):
    kind: Literal["mirror"] = "mirror"
    def hosts_min(self): return 1
    def flows(self, placement, seed):
        away = Flow("h0", "x9", "write", 1, 0)
        return (Flow("h0", "h0", "write", 1, 0), away, away)
    @property
    def duration_ns(self): return None

register_workload(Mirror)
"""
APART = """
from typing import Literal
from rogue.workloads.plugins import register_topology
from rogue.workloads.topologies import Link, Topology

class Apart(Topology):
    kind: Literal["apart"] = "apart"
    wide: int
    def host_names(self): return ("h0", "h1")
    def switch_names(self): return ("s0",)
    def links(self): return (Link("h0", "s0", 10**10, 1000),)

register_topology(Apart)
"""


def test_traffic_that_cannot_be_is_a_fault() -> None:
    (loaded,) = load_plugins([plugin(TO_ITSELF)])
    faults = contract_faults(loaded)
    assert "workload mirror: h0 sends to itself" in faults
    assert "workload mirror: h0->x9 are not hosts of the placement" in faults
    assert "workload mirror: two flows between the same hosts have one number" in faults


def test_a_network_in_pieces_is_a_fault() -> None:
    (loaded,) = load_plugins([plugin(APART)])
    assert contract_faults(loaded) == [
        "topology apart: the key wide has no docstring",
        "topology apart: h1 has 0 links, expected one",
        "topology apart: no way leads from h0 to h1",
    ]
