"""Cells in kernels: how a kernel that is lost ends a cell, and the real kernel where it has been built."""

from pathlib import Path

import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of

from harness.testbeds.kernel import KernelTestbed, testbed
from virtual.errors import VirtualTestbedError
from virtual.kernel.boot import CONSOLE, Kernel, KernelPanicError, KernelTimeoutError
from workloads.records import FailureKind

INCAST = """\
name: kernel-incast
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, mtu: 1024}
workload: {kind: incast, senders: 2, size: 1MB, repeat_for: 10ms}
probe: {kind: write0, interval: 1ms}
transports: [rogue, roce]
measure: [{kind: throughput, interval: 1ms}, latency, {kind: queues, interval: 100us}, rtt]
"""


@pytest.fixture(scope="session")
def bed() -> KernelTestbed:
    """A testbed whose kernel is there already: building it takes minutes."""
    return built_testbed()


@pytest.mark.parametrize(
    ("error", "kind"),
    [(KernelPanicError, FailureKind.NODE_LOST), (KernelTimeoutError, FailureKind.TIMEOUT)],
)
def test_a_kernel_that_is_lost_costs_its_cell_alone(
    error: type[VirtualTestbedError], kind: FailureKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def boot(_kernel: Kernel, folder: Path, *, limit_s: float) -> None:
        assert limit_s > 0
        (folder / CONSOLE).write_text("last words")
        raise error("gone; the last that was said: last words")

    monkeypatch.setattr(testbed, "boot", boot)
    result = KernelTestbed(Kernel(tmp_path)).run(cell_of(tmp_path), lambda _fraction: None)
    assert result.failure is not None
    assert result.failure.kind is kind
    assert "last words" in result.failure.message
    assert result.raw == {CONSOLE: b"last words"}


def test_a_missing_program_is_named_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "virtual.prerequisites.find_program", lambda program: None if program == "bc" else "/"
    )
    assert KernelTestbed().obstacles() == [
        "building the kernel needs programs that are not installed; "
        "run: sudo apt-get install --yes --no-install-recommends bc"
    ]


@pytest.mark.parametrize("index", [0, 1], ids=["rogue", "roce"])
def test_two_senders_fill_a_port_of_the_real_kernel(bed: KernelTestbed, tmp_path: Path, index: int) -> None:
    """soft-RoCE behind htb at 10 Gb/s: nine tenths of the link's payload at least, and nothing is lost."""
    result = bed.run(cell_of(tmp_path, text=INCAST, index=index), lambda _fraction: None)
    assert result.failure is None, result.failure
    flows, rows = result.tables["flows"], result.tables["throughput"]
    assert {"ok"} <= set(flows["status"]) <= {"ok", "unfinished"}
    delivered_bps = sum(map(int, rows["delivered_bytes"])) * 8 / 10e-3  # type: ignore[call-overload]
    ideal_bps = result.facts["ideal_goodput_bps"]
    assert isinstance(ideal_bps, float)
    assert 0.85 * ideal_bps < delivered_bps < 1.2 * ideal_bps
    assert list(result.tables["latency"]["status"]).count("ok") >= 8
    assert sum(map(int, result.tables["queues"]["drops"])) == 0  # type: ignore[call-overload]
    assert ("rtt" in result.tables) is (index == 0)
