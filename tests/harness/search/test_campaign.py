"""Tests: search from the first proposal to a confirmed finding."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import pytest
from helpers.searched import SPACE, HillTestbed, hill_bench, space_document, testbed

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.bench import Measured
from rogue.harness.search.campaign import UNMEASURED_MAX, Campaign, Outcome, Sampler, Told, front_of
from rogue.harness.search.question import make_target
from rogue.harness.search.ranges import Range
from rogue.harness.search.space import RANDOM, Aim, SamplerName, check_space

__all__ = ["testbed"]


@pytest.mark.parametrize(
    ("times", "proposals"),
    [
        ([0.0, 9.9, 10.0, 10.0, 19.9, 20.0], (3, 3)),
        ([0.0, 10.0, 10.0, 20.0], (0, 0)),
    ],
)
def test_each_sampler_has_the_time_and_a_batch_that_began_is_told(
    tmp_path: Path, testbed: HillTestbed, times: Sequence[float], proposals: tuple[int, int]
) -> None:
    text = SPACE.replace("cells: 12, batch: 3", "cells: 100, batch: 3, for: 10s").replace("bound: 5000, ", "")
    space = check_space(space_document(tmp_path, text))
    assert space.aim is not None
    bench = hill_bench(tmp_path, testbed, space.aim, tuple(space.keys))
    clock, outcome = chain(times, repeat(times[-1])), Outcome()
    Campaign(bench, space, True, lambda: next(clock), lambda _: None).run(outcome)
    assert (len(outcome.of("tpe")), len(outcome.of("random"))) == proposals
    assert outcome.is_out_of_time and outcome.is_over


def test_the_front_is_what_no_other_beats_in_both_aims() -> None:
    least, most = make_target(Aim(metric="jain")), make_target(Aim(metric="fct_mean_ns"))
    pairs = [(0.5, 1.0), (0.5, 2.0), (0.9, 9.0), (0.4, 1.0), (0.9, 9.0), (1.0, 3.0)]
    told = [Told("nsga2", number, Measured({}, (), *pair), False) for number, pair in enumerate(pairs)]
    told.append(Told("nsga2", 9, Measured({}), False))
    assert [each.number for each in front_of(told, least, most)] == [1, 2, 3]


def test_cells_that_fail_do_not_say_that_there_is_no_such_measure() -> None:
    none = Measured({}, cells=1, problem="jain was not measured")
    told = [Told("tpe", number, none, False) for number in range(UNMEASURED_MAX)]
    assert Outcome(told).is_unmeasured
    failed = replace(none, problem="a node is gone", has_failed=True)
    assert not Outcome([*told[1:], Told("tpe", 0, failed, False)]).is_unmeasured


KEYS = {
    "workload.senders": Range.model_validate({"from": 1, "to": 1000, "unit": "hosts", "source": "a test"}),
    "topology.switch": Range.model_validate({"choices": ["shared", "voq"], "source": "a test"}),
}


def proposed(name: SamplerName, seed: int, count: int = 24) -> list[dict[str, Scalar]]:
    """Proposals of a sampler that looks for few senders; each fifth gives no number."""
    sampler = Sampler(name, KEYS, ["least"], seed, count)
    found = []
    for number in range(count):
        asked = sampler.ask()
        senders = asked.values["workload.senders"]
        sampler.tell(asked, [] if number % 5 == 4 else [float(senders)])
        found.append(dict(asked.values))
    return found


@pytest.mark.parametrize("name", ["tpe", "cmaes", "nsga2", "random"])
def test_the_same_seed_gives_the_same_proposals(name: SamplerName) -> None:
    assert proposed(name, 1) == proposed(name, 1)
    assert proposed(name, 1) != proposed(name, 2)


@pytest.mark.parametrize("name", ["tpe", "cmaes"])
def test_a_sampler_learns_and_random_does_not(name: SamplerName) -> None:
    late = {
        each: sum(float(values["workload.senders"]) for values in proposed(each, 3, 60)[-20:]) / 20
        for each in (name, RANDOM)
    }
    assert late[name] < late[RANDOM] / 2


@pytest.mark.parametrize("package", ["optuna", "cmaes"])
def test_without_a_package_the_message_says_how_to_get_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=rf"got no {package}, .*`pip install 'rogue-testbed\[search\]'"):
        Sampler("cmaes", KEYS, ["least"], 1, 10)


def shown_impossible(name: SamplerName) -> list[bool]:
    """Which of 60 proposals cannot be: those of many senders, where the aim would be met best."""
    sampler, found = Sampler(name, KEYS, ["most"], 5, 60), []
    for _ in range(60):
        asked = sampler.ask()
        senders = float(asked.values["workload.senders"])
        found.append(senders > 500)
        sampler.tell(asked, [] if found[-1] else [senders])
    return found


def test_tpe_learns_what_cannot_be() -> None:
    assert sum(shown_impossible("tpe")[-20:]) < sum(shown_impossible("random")[-20:])
