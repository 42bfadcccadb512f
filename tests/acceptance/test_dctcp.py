"""DCTCP's sawtooth: experiments/controls/dctcp-sawtooth.

Fixed before the first run:
  run     10 Gb/s, 100 us, K = 40 packets of 1518 bytes, 1, 2, 10 and 40 flows for 500 ms, seeds 1 to 3
  crest   99th percentile, trough 1st percentile of the receiver's queue (samples every 10 us, second half);
          median of the seeds
  model   crest K + N, swing 1/2 sqrt(2 N (C RTT + K)), trough the difference; 25 % of each

The first run was on a star, whose port is no faster than a host: one flow has no queue there (0
packets). Since then the hosts have 40 Gb/s. The trough of 40 flows (9 packets for 30) misses the model:
whole segments (docs/papers/dctcp.md). Claims X-5 show that; this test holds what was found within the
25 %. What was moved after a look, and why: docs/adr/0014.

Source: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3.
"""

from statistics import median

import pytest
from helpers.paper_runs import ExperimentRun, nearest_rank, run_experiment

pytestmark = pytest.mark.long
PACKET_BYTES = 1518
TRANSPORT = "dctcp,mark_above=60720B"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("controls/dctcp-sawtooth", tmp_path_factory.mktemp("sawtooth"))


def packets(run: ExperimentRun, senders: int, percent: float) -> float:
    rows = run.table("queues", TRANSPORT)
    rows = rows[(rows["workload.senders"] == senders) & (rows["port"] == "s0->s1")]
    rows = rows[(rows["priority"] == 0) & (rows["t_ns"] >= 250_000_000)]
    found = [nearest_rank(each["bytes"], percent) for _, each in rows.groupby("seed")]
    assert len(found) == 3
    return median(found) / PACKET_BYTES


@pytest.mark.parametrize(("senders", "crest"), [(1, 41), (2, 42), (10, 50), (40, 80)])
def test_crests_are_those_of_the_model(run: ExperimentRun, senders: int, crest: float) -> None:
    assert packets(run, senders, 99) == pytest.approx(crest, rel=0.25)


@pytest.mark.parametrize(("senders", "trough"), [(1, 33.1), (2, 30.9), (10, 25.2)])
def test_troughs_of_few_flows_are_those_of_the_model(run: ExperimentRun, senders: int, trough: float) -> None:
    assert packets(run, senders, 1) == pytest.approx(trough, rel=0.25)


def test_the_port_is_full(run: ExperimentRun) -> None:
    rows = run.table("throughput", TRANSPORT)
    rows = rows[rows["t_ns"] > 250_000_000]
    cells = rows.groupby(["workload.senders", "seed"])
    assert len(cells) == 4 * 3
    for (_, _), each in cells:
        total_bps = each["delivered_bytes"].sum() * 8 / 0.25
        assert total_bps == pytest.approx(10e9 * 1460 / 1538, rel=0.01)
