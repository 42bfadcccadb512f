"""Test the ideal times of transfers, and rates against those of the wire."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from helpers.cell_kinds import TOPOLOGIES_OWN
from helpers.experiments import cell_of, load_text, simulated
from helpers.sample_run import write_manifest
from helpers.small_runs import cell as entry_of
from helpers.small_runs import manifest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rogue.harness.cell.cell import Cell
from rogue.harness.experiment.load import resolve
from rogue.harness.plan.plan import plan_cells
from rogue.harness.results.tables import encode, to_arrow
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.reports.metrics import METRICS
from rogue.reports.quantities import Unit
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.transports import BASES

WIDE = "initial_window_segments: 1000, receive_window: 30MB"
FREE: Final = (
    "roce", "roce+pfc", "roce-uc", "irn-nobdp", "roce-lossy", "roce-go-back-0",
    "{name: rogue, cc: fixed, batches_min: 64}", "{name: rogue-uc, cc: fixed, batches_min: 64}",
    "{name: irn, cap_packets: 100000}",
    "{name: irn-gbn, cap_packets: 100000}", "{name: uet, nscc: 0, window_packets: 10000}",
    *(f"{{name: {tcp}, {WIDE}{more}}}" for tcp in ("dctcp", "cubic", "reno", "iwarp")
      for more in ("", ", timestamps: 1", ", ack_every_segments: 5")),
)  # fmt: skip
"""Transports whose control does not hold back a transfer that is alone."""
FREE_AT_FIRST: Final = (
    "roce+dcqcn", "roce+timely", "roce+timely-patched", "roce+rocc", "roce+hpcc", "roce+swift",
    "roce+powertcp", "roce+theta-powertcp", "irn", "irn+hpcc", "resilient_roce", "dctcp", "cubic", "reno",
    "iwarp", "uet",
)  # fmt: skip
"""Those that let the first packets of a connection go."""
OTHERS: Final = ("uet+rccc", "rogue", "rogue-uc", "roce+spray", "irn+spray", "roce-lossy+pfc+dcqcn")
KINDS: Final = tuple(
    kind for kind in TOPOLOGIES_OWN if kind != "links"
)  # a file's network would need the file
MTUS_BYTES: Final = (256, 1024, 4096)
FIRST_BYTES: Final = 2_500
SIZES_BYTES: Final = st.one_of(
    st.sampled_from((1, 2, 1024, 1025, 1440, 1460, 1461, 4096, 2**16, 2**20)),
    st.integers(1, 300),
    st.integers(1, 100_000),
    st.integers(1, 1_400_000),
)


@dataclass(frozen=True)
class Lone:
    """One transfer of an experiment."""

    transport: str
    topology: Mapping[str, object]
    workload: Mapping[str, object]
    seed: int

    def cell(self, directory: Path) -> Cell:
        keys = f"topology: {json.dumps(self.topology)}\nworkload: {json.dumps(self.workload)}\n"
        return cell_of(directory, text=f"name: x\n{keys}transports: [{self.transport}]\nseed: {self.seed}\n")


@st.composite
def topologies(draw: st.DrawFn) -> Mapping[str, object]:
    """Any kind, with links of 10 Gb/s and more."""
    kind, faster = draw(st.sampled_from(KINDS)), draw(st.sampled_from((100, 1000)))
    own = dict(TOPOLOGIES_OWN[kind][draw(st.booleans())])
    for key in own:
        if key.endswith("rate"):
            number, unit = str(own[key])[:-4], str(own[key])[-4:]
            own[key] = f"{int(number) * (faster if unit == 'Mbps' else faster // 10)}{unit}"
    return {
        "kind": kind,
        **own,
        "nic": draw(st.sampled_from(("ideal", "cx4"))),
        "framing": draw(st.sampled_from(("rocev2", "ns3", "uec"))),
        "mtu": draw(st.sampled_from(MTUS_BYTES)),
        "delay": draw(st.sampled_from(("777ns", "1us", "3us"))),
        "delay_spread": draw(st.sampled_from(("0ns", "5ns", "1us"))),
        "switch": draw(st.sampled_from(("shared", "voq"))),
    }


@st.composite
def lone(draw: st.DrawFn, transports: tuple[str, ...], most_bytes: int = 1_400_000) -> Lone:
    size_bytes = min(draw(SIZES_BYTES), most_bytes)
    workload: dict[str, object] = {
        "kind": "incast",
        "senders": 1,
        "size": f"{size_bytes}B",
        "verb": draw(st.sampled_from(("write", "read", "send"))),
    }
    if draw(st.booleans()):
        workload["verb_size"] = f"{-(-size_bytes // draw(st.integers(1, 5)))}B"
    topology = {**draw(topologies())}
    if most_bytes <= FIRST_BYTES and draw(st.booleans()):
        topology["nic"] = "soft_roce"  # which has a window of 129 packets
    return Lone(draw(st.sampled_from(transports)), topology, workload, draw(st.integers(0, 99)))


def times_ns(each: Lone, directory: Path) -> tuple[int, int, bool]:
    """Measured and ideal, and whether packets have one path."""
    cell, testbed = each.cell(directory), SimulatorTestbed()
    assume(testbed.unsupported(cell) is None)  # some controls learn nothing from READs
    result = testbed.run(cell, lambda _fraction: None)
    assert result.failure is None
    (row,) = to_arrow("flows", result.tables["flows"]).to_pylist()
    is_sprayed = cell.groups[0].transport.is_sprayed
    has_one_path = not is_sprayed or cell.topology.shortest_paths.is_single(row["src"], row["dst"])
    return row["fct_ns"], row["ideal_fct_ns"], has_one_path


def check(each: Lone, directory: Path) -> None:
    took_ns, ideal_ns, has_one_path = times_ns(each, directory)
    assert took_ns >= ideal_ns
    assert not has_one_path or took_ns == ideal_ns


KEPT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@settings(KEPT, max_examples=60)
@given(lone(FREE))
def test_transfer_alone_takes_exactly_the_ideal_time(tmp_path: Path, each: Lone) -> None:
    check(each, tmp_path)


@settings(KEPT, max_examples=40)
@given(lone(FREE_AT_FIRST, FIRST_BYTES))
def test_first_bytes_under_a_control_take_the_ideal_time(tmp_path: Path, each: Lone) -> None:
    check(each, tmp_path)


@settings(KEPT, max_examples=60)
@given(lone((*FREE, *FREE_AT_FIRST, *OTHERS)))
def test_no_transfer_is_faster_than_ideal(tmp_path: Path, each: Lone) -> None:
    took_ns, ideal_ns, _ = times_ns(each, tmp_path)
    assert took_ns >= ideal_ns


@pytest.mark.long
@settings(KEPT, max_examples=2_000)
@given(lone(FREE) | lone(FREE_AT_FIRST, FIRST_BYTES))
def test_two_thousand_transfers_alone_take_the_ideal_time(tmp_path: Path, each: Lone) -> None:
    check(each, tmp_path)


STAR = "name: x\ntopology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, delay_spread: 0ns, nic: ideal"


@pytest.mark.parametrize(
    ("transport", "framing", "bytes_on_a_link"),
    [
        ("dctcp", "ns3", (1 + 58) + 64),
        ("dctcp", "uec", (1 + 58) + 64),
        ("dctcp", "rocev2", (1 + 58 + 20) + (64 + 20)),
        ("iwarp", "ns3", (1 + 78) + 64),
        ("roce", "ns3", (1 + 30) + 30),
        ("roce+hpcc", "rocev2", (1 + 62 + 16 + 42 + 20) + (66 + 42 + 20)),
    ],
)
def test_ideal_time_of_one_byte(tmp_path: Path, transport: str, framing: str, bytes_on_a_link: int) -> None:
    text = f"{STAR}, framing: {framing}}}\nworkload: {{kind: incast, senders: 1, size: 1B}}\n"
    result = simulated(tmp_path, text=f"{text}transports: [{transport}]\n")
    assert list(result.tables["flows"]["ideal_fct_ns"]) == [4_000 + int(2 * bytes_on_a_link * 0.8)]


@pytest.mark.parametrize("transport", ["roce", "roce-uc", "irn", "uet", "dctcp"])
def test_telemetry_of_another_group_lengthens_packets(tmp_path: Path, transport: str) -> None:
    """Two pairs of hosts have nothing but the switch in common."""
    group = (
        "{{name: {0}, transport: {1}, workload: {{kind: pairs, size: 1000B, run_for: 20us, flows: [{2}]}}}}"
    )
    one, other = "{source: h0, destination: h1}", "{source: h2, destination: h3}"
    groups = f"[{group.format('a', transport, one)}, {group.format('b', 'roce+hpcc', other)}]"
    text = f"{STAR}}}\ntraffic: {groups}\ntransports: [roce]\n"
    result = simulated(tmp_path, text=text)
    rows = to_arrow("flows", result.tables["flows"]).to_pylist()
    one, other = (row for row in rows if row["transfer_id"] == 1)
    assert (one["fct_ns"], other["fct_ns"]) == (one["ideal_fct_ns"], other["ideal_fct_ns"])
    assert all(row["fct_ns"] >= row["ideal_fct_ns"] for row in rows if row["fct_ns"] is not None)


@pytest.mark.parametrize(
    "workload",
    ["{kind: collective, hosts: 4, size: 64KiB}", "{kind: ping, size: 100B, count: 50}"],
)
def test_following_transfers_are_not_faster_than_ideal(tmp_path: Path, workload: str) -> None:
    """They start at any picosecond, of which tables have whole nanoseconds."""
    text = f"{STAR}}}\nworkload: {workload}\ntransports: [roce]\n"
    result = simulated(tmp_path, text=text)
    assert min(result.tables["flows"]["slowdown"]) >= 1


@pytest.mark.parametrize("transport", ["{name: uet, nscc: 0, window_packets: 10000}", "irn-nobdp+spray"])
@pytest.mark.parametrize("size_bytes", [1, 4096, 4097, 16_384, 65_537])
def test_sprayed_packets_reach_their_bound(tmp_path: Path, transport: str, size_bytes: int) -> None:
    """All paths are alike, so that chance decides only whether a short last packet overtakes a full one."""
    tree = "{kind: fat_tree, k: 4, rate: 100Gbps, delay_spread: 0ns, nic: ideal, mtu: 4096, framing: uec}"
    over_ns = []
    for seed in (1, 2, 3):
        text = f"name: x\ntopology: {tree}\nworkload: {{kind: incast, senders: 1, size: {size_bytes}B}}\n"
        result = simulated(tmp_path, text=f"{text}transports: [{transport}]\nseed: {seed}\n")
        (row,) = to_arrow("flows", result.tables["flows"]).to_pylist()
        over_ns.append(row["fct_ns"] - row["ideal_fct_ns"])
    assert min(over_ns) == 0
    assert max(over_ns) <= 6  # a packet of 65 bytes takes 5.2 ns


RATE_BPS = 10_000_000_000
# At the edges of a window the packet of one edge may be counted in full: one of 1700 in 2 ms.
ONE_PACKET = 1.001
ALONE = """\
name: wire
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 9MB}
workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}
transports: [rogue]
measure: [{kind: throughput, interval: 100us}]
"""
BESIDE = """\
name: wire
topology: {kind: star, hosts: 6, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 9MB}
traffic:
  - {name: rdma, workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}}
  - {name: other, workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}, transport: dctcp}
transports: [rogue]
measure: [{kind: throughput, interval: 100us}]
"""


def transports() -> Iterator[str]:
    """Every base, alone and with each feature, and each feature with flow control."""
    for name, base in BASES.items():
        yield name
        for feature in base.features:
            yield f"{name}+{feature}"
            if feature != "pfc" and "pfc" in base.features:
                yield f"{name}+{feature}+pfc"


def results_of(directory: Path, text: str, transport: str) -> Results:
    """Run the one cell of an experiment and read it as a report does."""
    directory.mkdir(exist_ok=True)
    loaded = load_text(directory, text, f"transports=[{transport}]")
    (cell,) = plan_cells(loaded)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    entry = entry_of("x-r1", transport=transport, facts=result.facts)
    (directory / "cells" / "x-r1").mkdir(parents=True)
    for name, content in encode(result.tables).items():
        (directory / "cells" / "x-r1" / name).write_bytes(content)
    write_manifest(directory, manifest([entry], experiment=resolve(loaded)))
    return Results(Run(directory))


@pytest.mark.parametrize("text", [ALONE, BESIDE], ids=["alone", "beside-dctcp"])
@pytest.mark.parametrize("transport", [*transports()])
def test_no_rate_exceeds_the_link(tmp_path: Path, transport: str, text: str) -> None:
    values = results_of(tmp_path, text, transport).values["x-r1"]
    rates = {name: values[name] for name, metric in METRICS.items() if metric.unit is Unit.RATE}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    assert {"aggregate_bps", "frames_bps", "most_flow_wire_bps"} <= set(known)
    too_fast = {name: rate for name, rate in known.items() if rate > ONE_PACKET * RATE_BPS}
    assert not too_fast
    share = values["aggregate_share"]
    assert share is not None
    # Beside a TCP the ideal is that of the network's own packets, which have more around them.
    assert share <= (ONE_PACKET if text is ALONE else 1.03)
