"""Tests: run a cell in a kernel with a virtual clock."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of

from rogue.agent.node.orders import REACHED
from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import CellResult, Failure, TestbedError
from rogue.harness.testbeds.kernel import KernelTestbed, testbed
from rogue.harness.testbeds.kernel.testbed import memory_mib as memory_mib_of
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.kernel.boot import CONSOLE, Kernel, KernelPanicError, KernelTimeoutError
from rogue.workloads.records import FailureKind

INCAST = """\
name: kernel-incast
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, mtu: 1024}
workload: {kind: incast, senders: 2, size: 1MB, repeat_for: 20ms}
probe: {kind: write0, interval: 1ms}
transports: [rogue]
measure: [{kind: throughput, interval: 1ms}, latency, {kind: queues, interval: 100us}, rtt, control]
"""
MIXED = """\
name: kernel-mixed
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, mtu: 1024}
traffic:
  - name: verbs
    workload: {kind: pairs, flows: [{source: h0, destination: h2}], size: 1MB, run_for: 10ms}
  - name: streams
    transport: dctcp
    workload: {kind: pairs, flows: [{source: h1, destination: h2}], size: 1MB, run_for: 10ms}
transports: [rogue]
faults: [{kind: link_cut, target: h2, at: 5ms, duration: 2ms}]
measure: [{kind: throughput, interval: 1ms}]
"""


def pretended(directory: Path) -> Kernel:
    """Return a kernel that exists and is never started."""
    kernel = Kernel(directory)
    directory.mkdir(exist_ok=True)
    kernel.program.touch()
    return kernel


@pytest.fixture(scope="session")
def bed() -> KernelTestbed:
    return built_testbed()


Play = Callable[[Path, Callable[[], None]], None]
"""What a kernel does with its folder, and the function that it calls while it waits."""


def boots(monkeypatch: pytest.MonkeyPatch, play: Play) -> None:
    """Let a kernel play instead of starting."""

    def boot(
        _kernel: Kernel, folder: Path, *, limit_s: float, memory_mib: int, on_wait: Callable[[], None]
    ) -> None:
        assert limit_s > 0
        assert memory_mib == memory_mib_of(3)
        play(folder, on_wait)

    monkeypatch.setattr(testbed, "boot", boot)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(KernelPanicError, FailureKind.NODE_LOST), (KernelTimeoutError, FailureKind.TIMEOUT)],
)
def test_lost_kernel_fails_its_cell(
    error: type[VirtualTestbedError], kind: FailureKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(folder: Path, _on_wait: Callable[[], None]) -> None:
        (folder / CONSOLE).write_text("last words")
        raise error("gone; the last that was said: last words")

    boots(monkeypatch, end)
    result = KernelTestbed(pretended(tmp_path)).run(cell_of(tmp_path), lambda _fraction: None)
    assert result.failure == Failure(kind, "gone; the last that was said: last words")
    assert result.raw == {CONSOLE: b"last words"}


def test_progress_is_the_fraction_of_virtual_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(folder: Path, on_wait: Callable[[], None]) -> None:
        on_wait()
        for reached_ns in (25_000_000, 300_000_000):
            (folder / REACHED).write_text(str(reached_ns))
            on_wait()
        (folder / CONSOLE).touch()
        raise KernelTimeoutError("it is enough")

    boots(monkeypatch, end)
    fractions: list[float] = []
    cell = cell_of(tmp_path, "workload.repeat_for=100ms")
    KernelTestbed(pretended(tmp_path)).run(cell, fractions.append)
    assert fractions == [0.0, 0.0, 0.25, 1.0]


@pytest.mark.parametrize(("error", "words"), [(None, ""), (VirtualTestbedError("no apt"), r" \(no apt\)")])
def test_worker_without_a_kernel_says_how_to_build_it(
    error: Exception | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel that was found before the run is on another computer."""

    def present(_kernels: Path) -> Kernel | None:
        if error is not None:
            raise error
        return None

    monkeypatch.setattr(testbed, "present", present)
    expected = f" has no kernel for cells{words}; have it built there: rogue testbed kernel build"
    with pytest.raises(TestbedError, match=expected) as raised:
        KernelTestbed(Kernel(tmp_path)).run(cell_of(tmp_path), lambda _fraction: None)
    assert raised.value.kind is FailureKind.CONFIGURATION


def test_worker_uses_its_own_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def boot(kernel: Kernel, folder: Path, **_: object) -> None:
        assert kernel == own
        (folder / CONSOLE).touch()
        raise KernelTimeoutError("it has started")

    own = pretended(tmp_path / "own")
    monkeypatch.setattr(testbed, "present", lambda _kernels: own)
    monkeypatch.setattr(testbed, "boot", boot)
    result = KernelTestbed(Kernel(tmp_path / "others")).run(cell_of(tmp_path), lambda _fraction: None)
    assert result.failure is not None
    assert result.failure.message == "it has started"


def test_missing_program_is_an_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "rogue.virtual.prerequisites.find_program", lambda program: None if program == "bc" else "/"
    )
    assert KernelTestbed().obstacles() == [
        "building the kernel needs programs that are not installed; "
        "run: sudo apt-get install --yes --no-install-recommends bc"
    ]


def ran(bed: KernelTestbed, directory: Path, text: str, *settings: str) -> CellResult:
    result = bed.run(cell_of(directory, *settings, text=text), lambda _fraction: None)
    assert result.failure is None, result.failure
    return result


def frame(result: CellResult, table: str) -> pd.DataFrame:
    read: pd.DataFrame = to_arrow(table, result.tables[table]).to_pandas()
    return read


def goodput_bps(result: CellResult, from_ns: int, until_ns: int) -> float:
    """Of all flows together, in intervals that end in this time."""
    rows = frame(result, "throughput")
    within = (from_ns <= rows.t_ns) & (rows.t_ns < until_ns)
    return float(rows.delivered_bytes[within].sum() * 8e9 / (until_ns - from_ns))


def counted(result: CellResult, name: str) -> int:
    """Return the increase of a counter over all ports or hosts."""
    rows = frame(result, "counters").query("name == @name")
    return int((rows.after - rows.before).sum())


@pytest.mark.needs("kernel")
@pytest.mark.parametrize("transport", ["rogue", "roce", "dctcp"])
def test_two_senders_fill_a_port_of_the_kernel(bed: KernelTestbed, tmp_path: Path, transport: str) -> None:
    """Once windows have grown the port is full: the payload is nine tenths of its share at least.

    Native RoCE sees a whole verb arrive at once: verbs of a megabyte would be a tenth of what is counted.
    """
    result = ran(bed, tmp_path, INCAST, f"transports=[{transport}]", "workload.size=100KB")
    assert {"ok"} <= set(result.tables["flows"]["status"]) <= {"ok", "unfinished"}
    ideal_bps = result.facts["ideal_goodput_bps"]
    assert isinstance(ideal_bps, float)
    assert 0.9 * ideal_bps < goodput_bps(result, 8_000_000, 18_000_000) < 1.05 * ideal_bps
    assert list(result.tables["latency"]["status"]).count("ok") >= 15
    assert frame(result, "queues").drops.sum() == counted(result, "dropped_packets") == 0
    assert ("rtt" in result.tables) is ("control" in result.tables) is (transport == "rogue")
    assert (counted(result, "marked_packets") > 0) is (transport == "dctcp")


@pytest.mark.needs("kernel")
def test_dctcp_keeps_the_queue_at_the_threshold(bed: KernelTestbed, tmp_path: Path) -> None:
    """K is 40 frames of 1518 bytes; were pieces of 64 KB queued, it would be far off."""
    result = ran(bed, tmp_path, INCAST, "transports=[{name: dctcp, mark_above: 60720B}]")
    waiting = frame(result, "queues").query("port == 's0->h3' and 8_000_000 < t_ns < 18_000_000").bytes
    assert 30_000 < waiting.median() < 75_000
    assert frame(result, "queues").marks.sum() <= counted(result, "marked_packets")


@pytest.mark.needs("kernel")
def test_memories_of_both_ends_agree(bed: KernelTestbed, tmp_path: Path) -> None:
    """Responder and requester hold the same bytes after a WRITE."""
    result = ran(bed, tmp_path, INCAST, "transports=[roce]", "workload={kind: incast, senders: 1, size: 1MB}")
    results = json.loads(result.raw["account.json"])["results"]
    sums = {results[f"flow0-{end}"]["sha256"] for end in ("requester", "responder")}
    assert len(sums) == 1
    assert None not in sums


@pytest.mark.needs("kernel")
def test_link_cut_stops_tcp_and_rdma_of_one_cell(bed: KernelTestbed, tmp_path: Path) -> None:
    result = ran(bed, tmp_path, MIXED)
    groups = dict(zip(result.tables["flows"]["group"], result.tables["flows"]["service"], strict=True))
    assert groups == {"verbs": "rc", "streams": "tcp"}
    assert list(result.tables["events"]["event"])[:2] == ["link_cut", "link_restored"]
    assert goodput_bps(result, 2_000_000, 5_000_000) > 8e9
    assert goodput_bps(result, 7_000_000, 8_000_000) == 0, "the millisecond before the link is back"
    assert counted(result, "lost_packets") > 0, "what waited in the port, full or just drained by DCTCP"
    moved = frame(result, "throughput").query("delivered_bytes > 0").flow_id
    assert {flow_id.partition("/")[0] for flow_id in moved} == {"verbs", "streams"}


@pytest.mark.needs("kernel")
def test_lost_packets_are_counted_apart_from_drops(bed: KernelTestbed, tmp_path: Path) -> None:
    """Go-back-N: packets lost by their IP ID are sent again, and every byte arrives."""
    lossy = "faults=[{kind: loss, target: h3, model: identification, one_in: 512}]"
    result = ran(bed, tmp_path, INCAST, "transports=[roce]", lossy, "workload.repeat_for=5ms")
    assert counted(result, "lost_packets") > 0
    assert counted(result, "dropped_packets") == 0
    assert "ok" in result.tables["flows"]["status"]


def plain(result: CellResult) -> dict[str, dict[str, list[object]]]:
    return {
        name: {each: list(values) for each, values in columns.items()}
        for name, columns in result.tables.items()
    }


@pytest.mark.needs("kernel")
def test_the_same_cell_twice_has_the_same_tables(bed: KernelTestbed, tmp_path: Path) -> None:
    """To the last digit, although packet numbers and keys are drawn at random."""
    one, other = (plain(ran(bed, tmp_path, INCAST, "workload.repeat_for=4ms")) for _ in range(2))
    assert {"counters", "flows", "latency", "queues", "rtt", "throughput"} <= set(one)
    assert one == other


@pytest.mark.needs("kernel")
@pytest.mark.long
@pytest.mark.parametrize("transport", ["rogue", "rogue-uc", "roce", "dctcp"])
def test_busy_computer_changes_no_table(bed: KernelTestbed, tmp_path: Path, transport: str) -> None:
    settings = f"transports=[{transport}]", "workload.repeat_for=50ms"
    alone = plain(ran(bed, tmp_path, INCAST, *settings))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        assert plain(ran(bed, tmp_path, INCAST, *settings)) == alone
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_reads_and_uc_need_a_limiter_each(tmp_path: Path) -> None:
    """READs keep theirs, and so does what goes over UC."""
    many = "workload={kind: many_pairs, hosts: 4, load: 0.5, arrive_for: 1s, verb: VERB}"
    for verb, transport, is_refused in (
        ("write", "rogue", False), ("read", "rogue", True), ("write", "rogue-uc", True),
    ):  # fmt: skip
        settings = (many.replace("VERB", verb), f"transports=[{transport}]", "probe=null")
        reason = KernelTestbed().unsupported(cell_of(tmp_path, *settings, "topology.nic_limiters=2"))
        assert ("its card has 2 limiters for them: 3 respond to READs" in str(reason)) is is_refused
