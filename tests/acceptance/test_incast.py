"""Test incasts over RC and UC, and recovery from losses, against the bounds of the RoGUE paper."""

import pandas as pd
import pytest
from helpers.paper_runs import MTU_OF_BOUNDS, ExperimentRun, jain, nearest_rank, run_experiment

SHARE_BPS = 10e9 * 1024 / 1106 / 8


def goodput_shares(run: ExperimentRun, transport: str) -> pd.DataFrame:
    """One row per seed, flow and second: goodput as a fraction of the ideal share."""
    rows = run.table("throughput", transport)
    return rows.assign(share=rows["goodput_bps"] / SHARE_BPS)


def receiver_queue(run: ExperimentRun, transport: str) -> pd.DataFrame:
    """The samples of the switch port that all senders share."""
    rows = run.table("queues", transport)
    return rows[rows["port"] == "s0->h8"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("rogue-paper/incast", tmp_path_factory.mktemp("incast"), MTU_OF_BOUNDS)


@pytest.mark.long
class TestTwentySecondsFiveSeeds:
    def test_median_goodput_is_the_ideal_share(self, full: ExperimentRun) -> None:
        medians = goodput_shares(full, "rogue").groupby("seed")["share"].apply(nearest_rank, percent=50)
        assert sorted(medians.index) == [1, 2, 3, 4, 5]
        assert abs(medians.median() - 1) <= 0.03, medians
        # 0.946 to 0.998 with the values of ADR 18; within 0.05 with links of 1 us and estimator `drained`.
        assert (abs(medians - 1) <= 0.06).all(), medians

    def test_slow_seconds_stay_near_the_share(self, full: ExperimentRun) -> None:
        tenths = goodput_shares(full, "rogue").groupby("seed")["share"].apply(nearest_rank, percent=10)
        assert (tenths >= 0.85).all(), tenths

    def test_flows_are_treated_alike(self, full: ExperimentRun) -> None:
        per_flow = goodput_shares(full, "rogue").groupby(["seed", "flow_id"])["share"].mean()
        fairness = per_flow.groupby("seed").apply(jain)
        assert (fairness >= 0.98).all(), fairness

    def test_queue_stays_short(self, full: ExperimentRun) -> None:
        medians = receiver_queue(full, "rogue").groupby("seed")["bytes"].apply(nearest_rank, percent=50)
        assert sorted(medians.index) == [1, 2, 3, 4, 5]
        assert (medians <= 200_000).all(), medians

    def test_rtt_estimates_are_true(self, full: ExperimentRun) -> None:
        samples = full.table("rtt", "rogue").query("accepted")
        error_ns = (samples["rtt_ns"] - samples["true_rtt_ns"]).groupby(samples["seed"]).median()
        assert sorted(error_ns.index) == [1, 2, 3, 4, 5]
        assert (error_ns.abs() <= 3_000).all(), error_ns

    def test_native_roce_starves_some_flows(self, full: ExperimentRun) -> None:
        tenths = {
            transport: goodput_shares(full, transport)
            .groupby("seed")["share"]
            .apply(nearest_rank, percent=10)
            for transport in ("rogue", "roce")
        }
        assert tenths["roce"].median() <= tenths["rogue"].median() / 2, tenths


IDEAL_BPS = 10e9 * 1024 / 1106
VERBS = ("write", "read")
FLOOR_WITH_CARD = "transports=[{name: rogue, label: rogue, base_rtt_floor: 52us}]"


def shares(run: ExperimentRun) -> pd.DataFrame:
    """One row per cell, flow and second: goodput as a fraction of the ideal share."""
    rows = run.table("throughput")
    rows = rows[rows["flow_id"].str.startswith("main/")].rename(columns={"workload.senders": "senders"})
    return rows.assign(share=rows["goodput_bps"] * rows["senders"] / IDEAL_BPS)


@pytest.fixture(scope="module", params=VERBS)
def few(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    out = tmp_path_factory.mktemp(f"incast-{request.param}")
    return shares(
        run_experiment("rogue-paper/incast-sizes", out, MTU_OF_BOUNDS, f"workload.verb={request.param}")
    )


@pytest.fixture(scope="module", params=VERBS)
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    out = tmp_path_factory.mktemp(f"two-{request.param}")
    factors = f"factors={{workload.senders: [2], workload.verb: [{request.param}]}}"
    return shares(run_experiment("rogue-paper/incast-sizes", out, MTU_OF_BOUNDS, factors, FLOOR_WITH_CARD))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return shares(
        run_experiment("rogue-paper/many-senders", tmp_path_factory.mktemp("many-senders"), MTU_OF_BOUNDS)
    )


@pytest.mark.long
class TestTwoToEight:
    def test_every_second_of_every_flow(self, few: pd.DataFrame) -> None:
        counts = few.groupby(["senders", "seed"]).size()
        assert [(*key, count) for key, count in counts.items()] == [
            (senders, seed, senders * 20) for senders in range(2, 9) for seed in range(1, 6)
        ]

    def test_utilisation(self, few: pd.DataFrame) -> None:
        by_second = few.groupby(["senders", "seed", "t_ns"])["goodput_bps"].sum()
        utilisation = by_second.groupby(["senders", "seed"]).mean() / IDEAL_BPS
        assert (utilisation >= 0.97).all(), utilisation

    def test_slow_tenth_of_two(self, two: pd.DataFrame) -> None:
        tenths = two.groupby("seed")["share"].apply(nearest_rank, percent=10)
        assert len(tenths) == 5
        assert (tenths >= 0.70).all(), tenths

    @pytest.mark.parametrize(("senders", "bound"), [((3,), 0.70), ((4, 5, 6, 7, 8), 0.85)])
    def test_slow_tenth(self, few: pd.DataFrame, senders: tuple[int, ...], bound: float) -> None:
        chosen = few[few["senders"].isin(senders)]
        tenths = chosen.groupby(["senders", "seed"])["share"].apply(nearest_rank, percent=10)
        assert (tenths >= bound).all(), tenths


@pytest.mark.long
class TestTwelveToThirty:
    def test_fairness(self, many: pd.DataFrame) -> None:
        per_flow = many.groupby(["senders", "seed", "flow_id"])["share"].mean()
        fairness = per_flow.groupby(["senders", "seed"]).apply(jain)
        assert len(fairness) == 20
        assert (fairness >= 0.85).all(), fairness

    def test_nobody_below_half(self, many: pd.DataFrame) -> None:
        least = (
            many.groupby(["senders", "seed", "flow_id"])["share"].mean().groupby(["senders", "seed"]).min()
        )
        assert (least >= 0.5).all(), least


POINT = ["workload.senders", "seed"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    out = tmp_path_factory.mktemp("uc-incast")
    return run_experiment(
        "rogue-paper/figure-14b", out, MTU_OF_BOUNDS, "workload.senders=[2, 3, 4, 5, 6, 7, 8]"
    )


def delivered_share(run: ExperimentRun, transport: str) -> pd.Series:
    asked = run.table("flows", transport).groupby(POINT)["size_bytes"].sum()
    arrived = run.table("throughput", transport).groupby(POINT)["delivered_bytes"].sum()
    assert len(asked) == 35
    share: pd.Series = arrived.reindex(asked.index, fill_value=0) / asked
    return share


@pytest.mark.long
class TestUnreliable:
    def test_slow_tenth(self, run: ExperimentRun) -> None:
        flows = run.table("flows", "rogue-uc")
        flows["share"] = flows["goodput_bps"].fillna(0) * flows["workload.senders"] / IDEAL_BPS
        tenths = flows.groupby(POINT)["share"].apply(nearest_rank, percent=10)
        medians = tenths.groupby("workload.senders").median()
        assert (medians >= 0.95).all(), tenths

    def test_nearly_everything_arrives(self, run: ExperimentRun) -> None:
        share = delivered_share(run, "rogue-uc")
        assert (share >= 0.99).all(), share

    def test_without_rogue_no_more_arrives_than_the_port_and_its_buffer_can_take(
        self, run: ExperimentRun
    ) -> None:
        """1/N of what N senders at line rate send fits through the port; 4.5 MB of 128 MB * N wait in it."""
        share = delivered_share(run, "roce-uc")
        senders = share.index.get_level_values("workload.senders").to_numpy()
        assert (share <= (1 + 4.5 / 128) / senders).all(), share
        assert (share[senders > 2] < 0.5).all(), "most is lost"


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
CUT_POINT = ["workload.verb", "seed"]


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("rogue-paper/recovery", tmp_path_factory.mktemp("cut"), "transports=[rogue]")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    out = tmp_path_factory.mktemp("whole")
    return run_experiment("rogue-paper/recovery", out, "transports=[rogue]", "faults=[]")


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
        ends_ns = [run.table("flows").set_index(CUT_POINT)["end_ns"] for run in (cut, whole)]
        delay_ns = ends_ns[0] - ends_ns[1]
        assert (delay_ns <= 3 * SECOND_NS).all(), delay_ns

    def test_what_happened_is_told(self, cut: ExperimentRun) -> None:
        points = cut.table("events").groupby(CUT_POINT)
        assert len(points) == 10
        for point, events in points:
            told = set(events.sort_values("t_ns")["event"])
            assert {"link_cut", "qp_failed", "shadow_switch", "resynchronised", "link_restored"} <= told, (
                point
            )
