"""Rates on the wire, by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS


@pytest.fixture
def view(tmp_path: Path) -> CellView:
    """Two flows for 4 s with packets of 1024 bytes; the first gets 1.024 then 2.048 MB/s, the other 2.048."""
    rows, flows = [], []
    for host, rates in ((0, (1, 1, 2, 2)), (1, (2, 2, 2, 2))):
        flow_id = f"main/h{host}->h2"
        flows.append(transfer(flow_id, src=f"h{host}", end_ns=None, status="unfinished"))
        rows += [
            delivery(flow_id, (second + 1) * SECOND, rate * 1_024_000) | {"src": f"h{host}"}
            for second, rate in enumerate(rates)
        ]
    return tiny_view(
        tmp_path, {"flows": flows, "throughput": rows}, mtu_bytes=1024, payload_fraction=1024 / 1106
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("frames_per_second", 3_500),
        ("frames_bps", 3_500 * 1086 * 8),
        ("sender_frames_bps", 1_750 * 1086 * 8),
        ("least_flow_wire_bps", 2_000 * 1106 * 8),  # the second half only
        ("median_flow_wire_bps", 2_000 * 1106 * 8),
        ("most_flow_wire_bps", 2_000 * 1106 * 8),
    ],
)
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_without_the_packet_size_there_is_no_wire_rate(tmp_path: Path) -> None:
    flow_id = "main/h0->h2"
    rows = [delivery(flow_id, second * SECOND, 1000) for second in (1, 2)]
    view = tiny_view(tmp_path, {"flows": [transfer(flow_id)], "throughput": rows})
    assert METRICS["frames_bps"].of(view, SECOND) is None
    assert METRICS["most_flow_wire_bps"].of(view, SECOND) is None
