"""What an agent did in a run it does again when its recorded inputs are fed to it: ten runs of each workload.

Every connection of every run is recorded and replayed, for WRITE and READ over RC and WRITE over UC, as far
as the workload has them. Many pairs keep more connections busy than a card has limiters; in the last run a
cable is cut, so that queue pairs are lost and come back.
"""

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.drivers.replay import replay
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.harness.testbeds.simulator import SimulatorTestbed, flows

SEEDS = (1, 2, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 11)))
STAR = "topology: {kind: star, hosts: 10, rate: 10Gbps, delay: 1us, mtu: 1024, nic: cx3pro}"
WORKLOADS = {
    "incast": (STAR, "workload: {kind: incast, senders: 4, size: 1MB, verb: VERB, repeat_for: 10ms}"),
    "staggered": (STAR, "workload: {kind: staggered, senders: 3, step: 3ms, size: 500KB, verb: VERB}"),
    "many_pairs": (STAR, "workload: {kind: many_pairs, hosts: 10, load: 0.9, arrive_for: 4ms}"),
    "ping": (STAR, "workload: {kind: ping, size: 16KiB, verb: VERB, count: 100}"),
    "rtt_accuracy": (STAR, "workload: {kind: rtt_accuracy, run_for: 20ms, size: 4MB, verb: VERB}"),
    "parking_lot": (
        "topology: {kind: parking_lot, rate: 10Gbps, delay: 1us, mtu: 1024, nic: cx3pro}",
        "workload: {kind: incast, senders: 4, size: 1MB, verb: VERB, repeat_for: 10ms}",
    ),
    "cut": (
        STAR,
        "workload: {kind: incast, senders: 2, size: 20MB, verb: VERB}\n"
        "faults: [{kind: link_cut, target: h0, at: 5ms, duration: 200ms}]",
    ),
}
CARRIERS = {"rc": ("rogue", "write"), "uc": ("rogue-uc", "write"), "read": ("rogue", "read")}
POINTS = [
    (workload, carrier)
    for workload in WORKLOADS
    for carrier in CARRIERS
    if not (workload == "many_pairs" and carrier == "read")
]


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[io.StringIO]]:
    """One log per connection that a testbed makes."""
    written: list[io.StringIO] = []

    def recorded(*arguments: object, **named: object) -> SimulatedFlow:
        written.append(io.StringIO())
        make = partial(SimulatedFlow, record_inputs=written[-1])
        return make(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(flows, "SimulatedFlow", recorded)
    return written


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("workload", "carrier"), POINTS)
def test_the_same_inputs_give_the_same_actions(
    workload: str, carrier: str, seed: int, tmp_path: Path, logs: list[io.StringIO]
) -> None:
    transport, verb = CARRIERS[carrier]
    topology, traffic = WORKLOADS[workload]
    lines = ["name: small", topology, traffic.replace("VERB", verb), f"transports: [{transport}]"]
    text = "\n".join([*lines, f"seed: {seed}", "measure: [rtt]"]) + "\n"
    result = SimulatorTestbed().run(cell_of(tmp_path, text=text), lambda _fraction: None)
    assert result.failure is None
    recorded = [log.getvalue() for log in logs]
    inputs = sum(replay(log.splitlines()) for log in recorded)
    assert inputs > 200
    if workload == "many_pairs" and carrier == "rc":
        assert any('["on_turn",[false]' in log for log in recorded)
    if workload == "cut" and carrier != "uc":
        assert any("ReadyQueuePair" in log for log in recorded)
