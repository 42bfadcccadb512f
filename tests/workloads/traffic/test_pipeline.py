"""Stages in a row, worked by hand."""

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.pipeline import Pipeline
from rogue.workloads.traffic.workload import Flow, Predecessor

HOSTS = Placement(("h0", "h1", "h2"), "h2", 9.26e9, 10_000_000_000)


def flows() -> dict[str, Flow]:
    """Three stages, two micro-batches; 10 ns forward, 20 ns back."""
    pipeline = Pipeline.model_validate(
        {
            "kind": "pipeline",
            "stages": 3,
            "microbatches": 2,
            "size": "1KB",
            "forward": "10ns",
            "backward": "20ns",
        }
    )
    return {flow.ends: flow for flow in pipeline.flows(HOSTS, 1)}


def test_what_goes_forward_goes_back() -> None:
    assert {ends: len(flow.arrivals) for ends, flow in flows().items()} == {
        "h0->h1": 2, "h1->h2": 2, "h2->h1": 2, "h1->h0": 2,
    }  # fmt: skip


def test_a_stage_computes_one_after_the_other() -> None:
    first, second = flows()["h0->h1"].arrivals
    assert first.after == ()
    assert second.after == (Predecessor("h0->h1", 0, "start", 10),)
    assert set(flows()["h1->h2"].arrivals[1].after) == {
        Predecessor("h0->h1", 1, "arrival", 10),
        Predecessor("h1->h2", 0, "start", 10),
    }


def test_the_last_stage_turns_when_it_has_computed_everything() -> None:
    """Both forward (10 each) and one back (20): 40 after the first came, 30 after the second."""
    assert set(flows()["h2->h1"].arrivals[0].after) == {
        Predecessor("h1->h2", 0, "arrival", 40),
        Predecessor("h1->h2", 1, "arrival", 30),
    }


def test_a_stage_has_done_its_part_forward_before_it_works_on_what_comes_back() -> None:
    assert set(flows()["h1->h0"].arrivals[0].after) == {
        Predecessor("h2->h1", 0, "arrival", 20),
        Predecessor("h1->h2", 1, "start", 20),
    }
