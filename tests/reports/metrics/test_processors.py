"""Processor time of clients and servers."""

from pathlib import Path

import pytest
from helpers.small_runs import SECOND, tiny_view, transfer

from rogue.reports.metrics import METRICS


@pytest.mark.parametrize(("verb", "client", "server"), [("write", 0.3, 0.15), ("read", 0.15, 0.3)])
def test_client_posts_the_verbs(tmp_path: Path, verb: str, client: float, server: float) -> None:
    """h0 uses 0.2 and 0.4 cores, h1 and h2 0.1 and 0.2; h3 has no part in the traffic."""
    flows = [transfer(f"main/h0->{to}", verb=verb, src="h0", dst=to) for to in ("h1", "h2")]
    loads = [("h0", 0.2), ("h0", 0.4), ("h1", 0.1), ("h2", 0.2), ("h3", 4.0)]
    cpu = [{"host": host, "t_ns": SECOND, "busy_cores": cores, "source": "dool"} for host, cores in loads]
    view = tiny_view(tmp_path, {"flows": flows, "cpu": cpu})
    assert METRICS["client_cpu_share"].of(view, SECOND) == pytest.approx(client)
    assert METRICS["server_cpu_share"].of(view, SECOND) == pytest.approx(server)


def test_hosts_without_a_record_give_no_number(tmp_path: Path) -> None:
    cpu = [{"host": "h9", "t_ns": SECOND, "busy_cores": 1.0, "source": "dool"}]
    view = tiny_view(tmp_path, {"flows": [transfer("main/h0->h1")], "cpu": cpu})
    assert METRICS["client_cpu_share"].of(view, SECOND) is None
