"""A trace on a network from a file: every transport moves what is written, when it is written."""

from pathlib import Path

import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import FLOWS, NETWORK, OTHER_NETWORK, cell_of, trace_rows

from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.transports import BASES

TEXT = f"""\
name: traced
topology: {{kind: links, file: {NETWORK}}}
workload: {{kind: trace, file: {FLOWS}}}
transports: [roce]
measure: [throughput]
"""
ROWS = trace_rows(FLOWS.read_text())
WRITTEN = sorted(
    (row.start_ns, row.source, row.destination, row.size_bytes, f"main.{row.group}")
    for row in ROWS.rows(slice(0, len(ROWS)))
)


@pytest.mark.parametrize("connection", ["per_transfer", "per_pair"])
@pytest.mark.parametrize("transport", BASES)
def test_every_transport_moves_what_is_written(transport: str, connection: str, tmp_path: Path) -> None:
    settings = (f"transports=[{transport}]", f"workload.connection={connection}")
    result = SimulatorTestbed().run(cell_of(tmp_path, *settings, text=TEXT), lambda _fraction: None)
    assert result.failure is None
    flows = result.tables["flows"]
    columns = (flows[name] for name in ("start_ns", "src", "dst", "size_bytes", "group"))
    assert sorted(zip(*columns, strict=True)) == WRITTEN
    assert set(flows["status"]) == {"ok"}


def test_a_transfer_alone_takes_as_long_as_in_an_empty_network(tmp_path: Path) -> None:
    """The last row of the file starts a millisecond after all others, over three links.

    The card is the ideal one: others show a completion later, by their time on PCI.
    """
    cell = cell_of(tmp_path, "topology.nic=ideal", text=TEXT)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    flows = result.tables["flows"]
    last = list(flows["src"]).index("h1")
    assert flows["slowdown"][last] == pytest.approx(1.0, rel=0.02)


@pytest.mark.needs("kernel")
def test_a_kernel_moves_the_same(tmp_path: Path) -> None:
    settings = ("transports=[dctcp]", "workload.connection=per_pair", f"topology.file={OTHER_NETWORK}")
    result = built_testbed().run(cell_of(tmp_path, *settings, text=TEXT), lambda _fraction: None)
    assert result.failure is None
    flows = result.tables["flows"]
    columns = (flows[name] for name in ("src", "dst", "size_bytes", "group", "status"))
    assert sorted(zip(*columns, strict=True)) == sorted((*row[1:], "ok") for row in WRITTEN)
