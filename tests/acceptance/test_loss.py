"""A 2-to-1 incast that loses packets: what RoGUE must keep, with large and with small verbs.

Fixed before the first run; a later change needs an ADR that quotes both figures.
  run        experiments/rogue-paper/figure-9.yaml: RC WRITE, 2 senders repeating 128 MB for 5 s, MTU 1024,
             framing `rocev2`, profile `cx3pro`, 1 us links, base-RTT floor 50 us, seeds 1 to 5; the
             receiver's link drops one packet in 65536 to 1024 by its IP ID, or none; verbs of
             64 KiB and of 1 KiB
  goodput    payload delivered in order per flow, mean over the 5 seconds; of each point the median over the
             two flows of the five seeds
  bounds     falls from 1/65536 to 1/4096 to 1/1024; 64 KiB verbs keep more than 1 KiB verbs from 1/65536 on;
             at 1/65536 verbs of 64 KiB lose at most 5 % of what they get without loss
"""

import pandas as pd
import pytest
from helpers.experiment_run import MTU_OF_BOUNDS, run_experiment

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
