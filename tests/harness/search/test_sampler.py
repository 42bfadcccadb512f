"""Proposals follow from the seed and from what was told."""

import sys

import pytest

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.campaign import Sampler
from rogue.harness.search.ranges import Range
from rogue.harness.search.space import RANDOM, SamplerName

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
