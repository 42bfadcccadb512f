"""Running the cases: what is left, and what a case comes to."""

from pathlib import Path

import pytest
from uet_htsim_cases import CREDIT_CASES, DATACENTER, Case
from uet_htsim_run import (
    CHANGES,
    CREDITS,
    MEASURED,
    Measured,
    costs,
    measure,
    read_cases,
    read_measured,
    runs,
)

SMALL = Case("validate_outputs/a.out", "pair.cm", "", "-load_balancing_algo mixed -paths 64", 17.0, 0)
SLOW = SMALL._replace(options="-failed 1 -load_balancing_algo mixed -paths 64")
LARGE = SMALL._replace(matrix="perm_8192n_8192c_1MB.cm")


def test_first_seeds_come_first_and_large_cases_have_one() -> None:
    assert list(runs([SMALL, LARGE], [])) == [(1, 1), (2, 1), (1, 2), (1, 3)]


def test_what_has_been_run_is_not_run_again() -> None:
    assert list(runs([SMALL, LARGE], [Measured(1, 1, 17.0, 0), Measured(2, 1, 17.0, 0)])) == [(1, 2), (1, 3)]


def test_only_cases_with_slow_links_change_with_thresholds() -> None:
    assert list(runs([SMALL, SLOW], [], only_slow=True)) == [(2, 1), (2, 2), (2, 3)]


def test_with_a_coin_each_case_has_one_seed() -> None:
    assert list(runs([SMALL, LARGE], [], only_first=True)) == [(1, 1), (2, 1)]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Ten packets of 4086 bytes over six links: uet-htsim says 17.01 us."""
    matrices = tmp_path / DATACENTER / "connection_matrices"
    matrices.mkdir(parents=True)
    (matrices / "pair.cm").write_text("Nodes 2\nConnections 1\nTriggers 0\n0->1 id 1 start 0 size 40860\n")
    return tmp_path


def test_a_case_is_run_on_its_own_files(checkout: Path) -> None:
    tail_us, again = measure(SMALL, checkout, CHANGES[MEASURED], 1)
    assert 16.9 < tail_us < 17.1
    assert again == 0


def test_what_a_case_costs_comes_with_what_it_comes_to(checkout: Path) -> None:
    tail_us, again = measure(SMALL, checkout, CHANGES[MEASURED], 1)
    found = costs(SMALL, checkout)
    assert (found["tail_us"], found["again"]) == (tail_us, again)
    assert found["build_s"] > 0
    assert found["run_s"] > 0


def test_the_files_can_be_read(tmp_path: Path) -> None:
    cases = read_cases()
    assert len(cases) == 116
    credit_cases = read_cases(CREDIT_CASES)
    assert len(credit_cases) == 48
    assert {each.case for each in read_measured(CREDITS)} <= set(range(1, len(credit_cases) + 1))
    assert {each.case for each in read_measured(MEASURED)} <= set(range(1, len(cases) + 1))
    assert read_measured(tmp_path / "none.csv") == []
