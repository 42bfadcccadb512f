"""A number over that at other values of a key."""

from dataclasses import replace
from pathlib import Path

from helpers.searched import HillTestbed, hill_bench, testbed

from rogue.harness.search.asked import Asked, values_beside
from rogue.harness.search.question import Question
from rogue.harness.search.space import Aim

__all__ = ["testbed"]
AIM = Aim(metric="fct_mean_ns", direction="most", transport="own")


def asked(tmp_path: Path, testbed: HillTestbed, beside: dict[str, str | int | float]) -> Asked:
    question = Question("It grows.", AIM, lambda number: number > 2, beside)
    return Asked(question, hill_bench(tmp_path, testbed, AIM, ("workload.senders",)))


def test_a_number_is_divided_by_that_of_the_same_seed_at_other_values(
    tmp_path: Path, testbed: HillTestbed
) -> None:
    """1000 ns for each sender: eight take four times as long as two."""
    made = asked(tmp_path, testbed, {"workload.senders": 2})
    found = made.measure([{"workload.senders": 8}, {"workload.senders": 2}], range(1, 3))
    assert [each.by_seed for each in found] == [(4.0, 4.0), (1.0, 1.0)]
    assert [made.verdict(each) for each in found] == [True, False]
    assert made.question.target.is_ratio and len(testbed.ran) == 4, "the other point is one of the two"


def test_without_a_number_at_one_of_the_points_there_is_none(tmp_path: Path, testbed: HillTestbed) -> None:
    made = asked(tmp_path, testbed, {"workload.senders": 12})
    (found,) = made.measure([{"workload.senders": 8}], range(1, 2))
    assert found.value is None and "hosts" in (found.problem or "") and made.verdict(found) is None


def test_a_measure_alone_has_no_verdict(tmp_path: Path, testbed: HillTestbed) -> None:
    made = asked(tmp_path, testbed, {})
    plain = Asked(replace(made.question, holds=None), made.bench)
    (found,) = plain.measure([{}], range(1, 2))
    assert found.value == 2000.0 and plain.verdict(found) is None


def test_parameters_of_a_claim_are_written_as_an_experiment_has_them() -> None:
    parameters = {"workload.verb_size_bytes": 1024, "transport.rtt_noise_ns": 0, "faults[0].one_in": 65536}
    assert values_beside(parameters, 1) == {
        "workload.verb_size": "1KiB",
        "transports[1].rtt_noise": "0s",
        "faults[0].one_in": 65536,
    }
