from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.harness.testbeds.simulator.support import missing_limiters
from rogue.simulator import CX3PRO, CX4


def test_a_nic_is_as_its_profile_says_but_for_the_limiters_that_are_stated(tmp_path: Path) -> None:
    topology = cell_of(tmp_path, "topology.rate=10Gbps").topology
    assert profile_of(topology, "h0") is CX3PRO
    fewer = cell_of(tmp_path, "topology.rate=25Gbps", "topology.nic_limiters=2").topology
    stated = profile_of(fewer, "h0")
    assert (stated.limiters, stated.limiter_scope) == (3, "per_priority"), "and one that is never programmed"
    assert (stated.name, stated.rate_step_bps) == ("cx4", CX4.rate_step_bps)


def test_the_one_that_is_never_programmed_is_nobodys(tmp_path: Path) -> None:
    """Two readers keep two limiters, and a writer takes turns at what is left."""
    groups = ", ".join(
        f"{{name: {verb}s, workload: {{kind: pairs, flows: [{flows}], run_for: 1ms, verb: {verb}}}}}"
        for verb, flows in (
            ("read", "{source: h0, destination: h1}, {source: h0, destination: h2}"),
            ("write", "{source: h0, destination: h3}"),
        )
    )
    settings = (
        "topology.rate=10Gbps", "workload=null", f"traffic=[{groups}]", "probe=null", "transports=[rogue]",
    )  # fmt: skip
    assert missing_limiters(cell_of(tmp_path, *settings, "topology.nic_limiters=3")) is None
    reason = missing_limiters(cell_of(tmp_path, *settings, "topology.nic_limiters=2"))
    assert str(reason).startswith("h0 responds to the READs of 2 flows and needs 4 limiters, of which")
