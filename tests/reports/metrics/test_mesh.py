"""Latency of a mesh, by hand."""

import math
from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, tiny_view

from rogue.reports.metrics import METRICS

US = 1_000


def row(n: int, rtt_ns: int | None, **changes: object) -> dict[str, object]:
    status = "ok" if rtt_ns else "error"
    return {
        "t_ns": n * 100 * US,
        "rtt_ns": rtt_ns,
        "status": status,
        "group": "pings",
        "service": "rc",
        **changes,
    }


def test_percentiles_per_service_without_the_probe(tmp_path: Path) -> None:
    rows = [row(n, n * US) for n in range(1, 201)]
    rows += [row(n, 5 * US, service="tcp") for n in range(1, 11)]
    rows += [row(n, 900 * US, group="probe") for n in range(1, 11)]
    view = tiny_view(tmp_path, {"latency": rows})
    assert METRICS["mesh_rc_p50_ns"].of(view, SECOND) == 100 * US
    assert METRICS["mesh_rc_p99_ns"].of(view, SECOND) == 198 * US
    assert METRICS["mesh_rc_p999_ns"].of(view, SECOND) == 200 * US  # rank ceil(199.8)
    assert METRICS["mesh_tcp_p999_ns"].of(view, SECOND) == 5 * US
    assert METRICS["probe_p50_ns"].of(view, SECOND) == 900 * US


def test_a_lost_request_is_slower_than_any(tmp_path: Path) -> None:
    view = tiny_view(
        tmp_path, {"latency": [*(row(n, 5 * US) for n in range(1, 99)), row(99, None), row(100, None)]}
    )
    assert METRICS["mesh_rc_p50_ns"].of(view, SECOND) == 5 * US
    assert METRICS["mesh_rc_p99_ns"].of(view, SECOND) == math.inf


@pytest.mark.parametrize(("age", "counts"), [(1, False), (9, True)])
def test_a_request_on_its_way_at_the_end_counts_if_it_is_old(tmp_path: Path, age: int, counts: bool) -> None:
    """The slowest that came back took 300 us: one that was posted 100 us before the end may still do so."""
    rows = [row(n, 300 * US) for n in range(1, 51)]
    rows.append(row(50 - age, None, status="unfinished"))
    view = tiny_view(tmp_path, {"latency": rows})
    assert (METRICS["mesh_rc_p99_ns"].of(view, SECOND) == math.inf) == counts
