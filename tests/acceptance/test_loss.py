"""Tests: losses and recovery."""

import pandas as pd
import pytest
from helpers.paper_runs import MTU_OF_BOUNDS, ExperimentRun, run_experiment

ONE_IN, VERB_SIZE = "faults[0].one_in", "workload.verb_size"
VERB_SIZES = ("64KiB", "1KiB")


@pytest.fixture(scope="module")
def goodput_bps(tmp_path_factory: pytest.TempPathFactory) -> pd.Series:
    """Median goodput by verb size and by one packet in how many is lost."""
    rows = run_experiment("rogue-paper/figure-9", tmp_path_factory.mktemp("loss"), MTU_OF_BOUNDS).table(
        "throughput"
    )
    per_flow = rows.groupby([VERB_SIZE, ONE_IN, "seed", "flow_id"])["goodput_bps"].mean()
    assert len(per_flow) == 2 * 8 * 5 * 2
    medians: pd.Series = per_flow.groupby([VERB_SIZE, ONE_IN]).median()
    return medians


@pytest.mark.long
class TestLoss:
    @pytest.mark.parametrize("verb_size", VERB_SIZES)
    def test_falls_with_loss(self, goodput_bps: pd.Series, verb_size: str) -> None:
        rare, medium, frequent = (goodput_bps[verb_size, one_in] for one_in in (65536, 4096, 1024))
        assert rare > medium > frequent, goodput_bps

    @pytest.mark.parametrize("one_in", [65536, 32768, 16384, 8192, 4096, 2048, 1024])
    def test_large_verbs_keep_more(self, goodput_bps: pd.Series, one_in: int) -> None:
        assert goodput_bps["64KiB", one_in] > goodput_bps["1KiB", one_in], goodput_bps

    def test_rare_losses_cost_little(self, goodput_bps: pd.Series) -> None:
        assert goodput_bps["64KiB", 65536] >= 0.95 * goodput_bps["64KiB", 0], goodput_bps


SECOND_NS = 1_000_000_000
CUT_NS = (SECOND_NS // 2, 5 * SECOND_NS // 2)
POINT = ["workload.verb", "seed"]


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment(
        "rogue-paper/recovery", tmp_path_factory.mktemp("cut"), "transports=[rogue]", MTU_OF_BOUNDS
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    out = tmp_path_factory.mktemp("whole")
    return run_experiment("rogue-paper/recovery", out, "transports=[rogue]", "faults=[]", MTU_OF_BOUNDS)


@pytest.mark.long
class TestTwoSecondCut:
    def test_every_transfer_ends_well(self, cut: ExperimentRun) -> None:
        flows = cut.table("flows")
        assert len(flows) == 10
        assert set(flows["status"]) == {"ok"}
        assert (flows["end_ns"] > CUT_NS[1]).all()

    def test_the_delay_is_the_cut_and_the_search_for_its_end(
        self, cut: ExperimentRun, whole: ExperimentRun
    ) -> None:
        ends_ns = [run.table("flows").set_index(POINT)["end_ns"] for run in (cut, whole)]
        delay_ns = ends_ns[0] - ends_ns[1]
        assert (delay_ns <= 3 * SECOND_NS).all(), delay_ns

    def test_what_happened_is_told(self, cut: ExperimentRun) -> None:
        points = cut.table("events").groupby(POINT)
        assert len(points) == 10
        for point, events in points:
            told = set(events.sort_values("t_ns")["event"])
            assert {"link_cut", "qp_failed", "shadow_switch", "resynchronised", "link_restored"} <= told, (
                point
            )
