"""`rogue sensitivity` on a testbed where a number follows from one key; ranges of keys, and targets."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from helpers.searched import VARIATION, Terminal, terminal
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from SALib.analyze import morris

from rogue.harness.errors import ClusterLostError, ExitCode
from rogue.harness.results.run_directory import read_manifest
from rogue.harness.results.verification import compare_run
from rogue.harness.search.objective import make_target, ratio
from rogue.harness.search.sensitivity import LEVELS, AnalysisPlan, elementary_effects, trajectories
from rogue.harness.search.space import Aim, Range
from rogue.harness.search.study import shrink
from rogue.harness.search.variation import Question, Variation, question_of_claim
from rogue.workloads.units import SIZE

__all__ = ["terminal"]


def page(run: Path) -> str:
    return (run / "sensitivity.html").read_text()


def test_effects_rank_the_keys(terminal: Terminal) -> None:
    done = terminal.sensitivity()
    title, head, first, second, directory = done.lines
    assert title == "fct_mean_ns: 9 of 9 points have a number."
    assert head.split() == ["key", "mu*", "mu", "sigma", "turned"]
    assert first.split() == ["workload.senders", "6", "µs", "6", "µs", "0", "ns"], "1000 ns for six more"
    assert second.split()[:3] == ["workload.size", "0", "ns"]
    manifest = read_manifest(done.run)
    assert manifest.status == "complete" and compare_run(done.run, manifest).differences == []
    assert len(terminal.testbed.ran) == len(manifest.cells) == 12, "six points; three come twice"
    assert {cell.transport for cell in manifest.cells} == {"own"}, "no check: nothing is a finding"
    assert "workload.senders" in page(done.run) and page(done.run).count("<svg") == 2
    again = terminal.rogue("sensitivity", "--resume", directory)
    assert again.lines == done.lines and len(terminal.testbed.ran) == 12
    assert "sensitivity --resume" in terminal.rogue("run", "--resume", directory).err


def test_values_that_cannot_run_lose_only_their_steps(terminal: Terminal) -> None:
    done = terminal.sensitivity(vary=VARIATION.replace("to: 8", "to: 10"))
    assert "of 9 points have a number" in done.lines[0] and "9 of 9" not in done.lines[0]
    assert done.lines[2].split()[:3] == ["workload.senders", "7.5", "µs"], "2 to 7, two thirds of it"


@pytest.fixture
def claim(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file for all parts of an analysis of the claim C-1; both keys move the number, senders turn it."""
    aim = Aim(metric="fct_mean_ns", direction="most", transport="own")
    question = Question("C-1: it is short.", aim, lambda number: number < 5000, published=5000.0)
    monkeypatch.setattr("rogue.harness.search.sensitivity.question_of_claim", lambda _: question)
    terminal.testbed.extra_ns = lambda cell: 10 * (cell.groups[0].flows[0].size_bytes > 100_000)
    return VARIATION.replace("count: 2", "count: 1") + "flip: 8\nsobol: {keys: 2, samples: 8}\n"


def test_claim_has_a_turning_point_and_sobol_indices(terminal: Terminal, claim: str) -> None:
    done = terminal.sensitivity("--claim", "C-1", vary=claim)
    said = "\n".join(done.lines)
    assert "C-1: it is short. 9 of 9 points have a number, and it holds at " in done.lines[0]
    assert (
        "It holds at the experiment's own values (2.01 µs). It turns at workload.senders from 2 to 5" in said
    )
    assert said.count("with 3 of 3 other seeds") == 1
    indices = [line.split() for line in done.lines if "±" in line]
    assert [row[0] for row in indices] == ["workload.senders", "workload.size"] * 2, "claim and measure"
    assert float(indices[0][1]) > 0.8 > 0.2 > float(indices[1][1])
    assert "does not hold" in page(done.run) and "published" in page(done.run)


def test_jobs_change_no_cell_and_no_page(terminal: Terminal, claim: str) -> None:
    one = terminal.sensitivity("--claim", "C-1", vary=claim)
    several = terminal.sensitivity("--claim", "C-1", "--jobs", "2", vary=claim)
    assert one.lines[:-1] == several.lines[:-1] and page(one.run) == page(several.run)
    ids = [[cell.id for cell in read_manifest(each.run).cells] for each in (one, several)]
    assert ids[0] == ids[1]


def test_resumed_analysis_gives_the_same_result(terminal: Terminal, claim: str) -> None:
    straight = terminal.sensitivity("--claim", "C-1", vary=claim)
    count = len(terminal.testbed.ran)
    for cells in (3, count - 2):
        terminal.testbed.ran.clear()
        terminal.stop_after(cells)
        stopped = terminal.sensitivity("--claim", "C-1", vary=claim)
        assert stopped.code == ExitCode.INTERRUPTED and "sensitivity --resume" in stopped.err
        terminal.let_run()
        resumed = terminal.rogue("sensitivity", "--resume", stopped.lines[-1])
        assert resumed.lines[:-1] == straight.lines[:-1] and page(resumed.run) == page(straight.run)
        assert len(terminal.testbed.ran) == count, "no cell ran twice"


def test_a_plan_runs_nothing(terminal: Terminal, claim: str) -> None:
    done = terminal.sensitivity("--claim", "C-1", "--plan", vary=claim)
    assert done.lines[-1].startswith("at most 96 cells, about ")
    assert not terminal.testbed.ran and not (terminal.place / "results").exists()


def test_lost_cluster_prints_the_resume_command(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> None:
        raise ClusterLostError("the scheduler is gone")

    monkeypatch.setattr(AnalysisPlan, "analyse", lost)
    done = terminal.sensitivity()
    assert "gone; finished cells are kept; to continue: " in done.err and "sensitivity --resume" in done.err


@pytest.mark.parametrize(
    ("vary", "options", "words"),
    [
        (VARIATION.replace("measures: [fct_mean_ns]\n", ""), (), "got neither measures"),
        (VARIATION.replace("fct_mean_ns", "fct_men_ns"), (), "write fct_mean_ns if that is meant"),
        (VARIATION, ("--claim", "X-2-10"), "got the transport 'roce+dcqcn'"),
        (VARIATION, ("--claim", "X-2-1O"), "expected the id of a claim; write X-2-10"),
        (VARIATION.replace("workload.senders", "seed.first"), (), "dotted keys that start with"),
        (VARIATION.replace("{count: 2}", "{counts: 2}"), (), "write count if that is meant"),
        (VARIATION + "sobol: {samples: 12}\n", (), "a power of two"),
    ],
)
def test_wrong_variation_is_an_error(
    terminal: Terminal, vary: str, options: tuple[str, ...], words: str
) -> None:
    refused = terminal.sensitivity(*options, vary=vary)
    assert refused.code == ExitCode.USAGE and words in refused.err, refused.err
    assert not (terminal.place / "results").exists()


def test_effects_equal_those_of_salib() -> None:
    variation = Variation.model_validate(yaml.safe_load(VARIATION))
    shares = trajectories(variation)
    numbers = np.sin(shares @ np.array([3.0, 1.0]))
    problem = {"num_vars": 2, "names": ["a", "b"], "bounds": [[0.0, 1.0]] * 2}
    theirs = morris.analyze(problem, shares, numbers, num_levels=LEVELS, seed=1)
    ours = np.array([elementary_effects(shares[at : at + 3], numbers[at : at + 3]) for at in (0, 3, 6)])
    assert ours.mean(axis=0) == pytest.approx(theirs["mu"])
    assert np.abs(ours).mean(axis=0) == pytest.approx(np.array(theirs["mu_star"]))
    assert ours.std(axis=0, ddof=1) == pytest.approx(theirs["sigma"])


def test_claim_holds_on_its_side_and_within_its_tolerance() -> None:
    oscillates, close = question_of_claim("X-2-10"), question_of_claim("R-25-jain")
    assert oscillates.holds is not None and close.holds is not None and close.published is not None
    assert oscillates.holds(1.0) and not oscillates.holds(0.1)
    assert close.holds(close.published) and not close.holds(0.5)


def test_claim_can_compare_with_other_values(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    falls = question_of_claim("R-15-falls")
    assert falls.target.is_ratio and dict(falls.beside) == {"faults[0].one_in": 65536}
    aim = Aim(metric="fct_mean_ns", direction="most", transport="own")
    question = Question("C-2: it grows.", aim, lambda number: number > 2, {"workload.senders": 1})
    monkeypatch.setattr("rogue.harness.search.sensitivity.question_of_claim", lambda _: question)
    done = terminal.sensitivity("--claim", "C-2")
    assert done.lines[2].split()[:3] == ["workload.senders", "6", "times"], done.lines


def made(**said: object) -> Range:
    return Range.model_validate({"source": "a test", **said})


def test_quantities_have_two_digits_and_a_unit() -> None:
    each = made(**{"from": "1KB", "to": "10MB", "scale": "log"})
    assert [each.at(share) for share in (0.0, 0.25, 0.5, 1.0)] == ["1KB", "10KB", "100KB", "10MB"]
    assert each.at(0.1) == "2500B"
    odd = made(**{"from": "1536B", "to": "1234567B", "scale": "log"})
    assert [SIZE.parse(odd.at(share)) for share in (0.0, 1.0)] == [1536, 1_234_567], "the ends are exact"


def test_values_at_shares_of_integers_fractions_and_choices() -> None:
    assert made(**{"from": 1, "to": 9, "unit": "hosts"}).at(0.5) == 5
    assert made(**{"from": 0.0, "to": 1.0, "unit": "of 1"}).at(1 / 3) == 0.33
    each = made(choices=["a", "b", "c"])
    assert [each.at(share) for share in (0.0, 0.32, 0.34, 0.67, 1.0)] == ["a", "a", "b", "c", "c"]
    assert [each.share_of(value) for value in ("a", "b", "c", "d")] == [0.0, 0.5, 1.0, None]


@pytest.mark.parametrize("ends", [("100us", "104us"), ("9800Mbps", "10200Mbps"), (1.0, 1.04), (-1.04, -1.0)])
def test_narrow_range_has_more_digits(ends: tuple[str | float, str | float]) -> None:
    each = made(**{"from": ends[0], "to": ends[1], "unit": "of 1"})
    assert len({each.at(step / 10) for step in range(11)}) == 11


@given(st.floats(0, 1))
def test_share_and_value_are_inverse(share: float) -> None:
    each = made(**{"from": "1536B", "to": "1MiB", "scale": "log"})
    value = each.at(share)
    assert 1536 <= SIZE.parse(value) <= 2**20
    assert each.share_of(value) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ({"from": "1KB"}, "to"),
        ({"from": "1KB", "to": "1ms"}, "to"),
        ({"from": "2KB", "to": "1KB"}, "to"),
        ({"from": 1, "to": 9}, "unit"),
        ({"from": 0, "to": 9, "unit": "hosts", "scale": "log"}, "from"),
        ({"from": 1, "to": 9, "unit": "hosts", "choices": [1, 2]}, "choices"),
        ({"choices": [1, 2], "shrink": "from"}, "shrink"),
        ({"choices": [1, 2], "source": ""}, "source"),
    ],
)
def test_range_mistake_names_its_key(said: dict[str, object], key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        made(**said)
    assert [each["loc"][-1] for each in caught.value.errors()] == [key]


def test_mildest_seed_decides_against_the_bound() -> None:
    least, most = (make_target(Aim(metric=name, bound=0.5)) for name in ("jain", "retransmitted_share"))
    assert (least.direction, most.direction) == ("least", "most"), "the end that is worse"
    assert least.is_finding(0.5) and not least.is_finding(0.51) and not least.is_finding(None)
    assert most.is_finding(0.5) and not most.is_finding(0.49)
    assert least.mildest([0.1, 0.3]) == 0.3 and most.mildest([0.1, 0.3]) == 0.1
    assert least.mildest([0.1, None]) is None


def test_ratio_to_zero_is_infinite_or_undefined() -> None:
    assert [ratio(1.0, 0.0), ratio(0.0, 0.0), ratio(math.inf, math.inf)] == [math.inf, None, None]
    assert ratio(3.0, 2.0) == 1.5 and ratio(None, 1.0) is None


def test_shrink_removes_keys_then_moves_values() -> None:
    number = made(**{"from": 1, "to": 100, "unit": "hosts"})
    ranges, ends = {"a": number, "b": number, "c": number}, {"a": 0.0, "b": 0.0}
    start = {"a": 80, "b": 90, "c": 7}
    assert shrink(start, ranges, ends, lambda values: values.get("a", 0) > 35, 100) == {"a": 40}
    assert shrink(start, ranges, ends, lambda values: values == start, 100) == start
    assert shrink(start, ranges, ends, lambda _: True, 1) == {"b": 90, "c": 7}, "one try"
    assert shrink(start, ranges, ends, lambda _: True, 100) == {"c": 7}, "the last key stays"
