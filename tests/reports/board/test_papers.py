"""Which experiments belong to a paper."""

import pytest

from rogue.reports.board.tally import experiments_of, papers_of
from rogue.reports.claims import read_claims
from rogue.reports.claims.conditions import EXPERIMENTS
from rogue.reports.errors import ReportError

CLAIMS = read_claims()
SHIPPED = sorted(
    path.relative_to(EXPERIMENTS).with_suffix("").as_posix() for path in EXPERIMENTS.rglob("*.yaml")
)


def test_papers_have_titles_and_the_largest_comes_first() -> None:
    papers = papers_of(CLAIMS)
    assert set(papers) == {
        *("rogue", "irn", "rocc", "hpcc", "rdma-at-scale", "ecn-or-delay", "dctcp", "swift", "powertcp"),
        *("uet", "reps", "smartt"),
    }
    assert next(iter(papers)) == "rogue"
    assert papers["hpcc"] == "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019"
    assert papers["irn"] == "Mittal et al., Revisiting network support for RDMA, SIGCOMM 2018"


@pytest.mark.parametrize(
    ("paper", "some", "other"),
    [
        ("rogue", {"rogue-paper/incast", "rogue-paper/recovery"}, {"quickstart", "controls/dcqcn-queue"}),
        ("irn", {"irn-paper/figure-7", "irn-paper/figures-1-6"}, {"rocc-paper/testbed"}),
        ("rocc", {"rocc-paper/testbed", "rocc-paper/testbed-offered"}, {"irn-paper/figure-7"}),
        ("hpcc", {"rocc-paper/rivals"}, {"rocc-paper/testbed", "rocc-paper/testbed-offered"}),
        ("rdma-at-scale", {"sigcomm16-paper/figure-7-equal", "pfc-failures/storm"}, {"quickstart"}),
        ("swift", {"swift-paper/large-incast", "swift-paper/htsim-dumbbell"}, {"powertcp-paper/incast-10"}),
        ("powertcp", {"powertcp-paper/incast-10", "powertcp-paper/incast-255"}, {"rocc-paper/rivals"}),
        ("uet", {"uet-htsim", "uet-htsim-permutations", "uet-htsim-slow-link"}, {"quickstart", "spraying"}),
        ("reps", {"reps-paper/figure-1", "reps-paper/dead-uplink"}, {"uet-htsim", "link-failures"}),
        ("smartt", {"smartt-paper/incast-32-1mib", "smartt-paper/permutation"}, {"reps-paper/figure-8"}),
        ("dctcp", {"controls/dctcp-sawtooth"}, {"controls/dcqcn-queue"}),
        ("ecn-or-delay", {"controls/dcqcn-queue", "ecn-or-delay/timely-start"}, {"controls/dctcp-sawtooth"}),
    ],
)
def test_experiments_of_a_paper(paper: str, some: set[str], other: set[str]) -> None:
    found = experiments_of(paper, CLAIMS, SHIPPED)
    assert some <= set(found)
    assert not other & set(found)


def test_all_are_those_of_all_papers() -> None:
    found = experiments_of("all", CLAIMS, SHIPPED)
    assert set(found) == {
        name for paper in papers_of(CLAIMS) for name in experiments_of(paper, CLAIMS, SHIPPED)
    }
    assert set(SHIPPED) - set(found) == {
        name
        for name in SHIPPED
        if ("/" not in name and not name.startswith("uet-htsim"))
        or name.startswith(("own-traffic/", "referee/"))
        or "/why/" in name
    }, "these check no paper, or ask why a figure misses"
    assert len(found) == len(set(found))


def test_unknown_paper_is_a_sentence() -> None:
    with pytest.raises(ReportError, match="got 'vegas', expected one of rogue, "):
        experiments_of("vegas", CLAIMS, SHIPPED)
