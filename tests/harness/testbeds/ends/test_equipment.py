"""Limiter and clock in the words of facts."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.agent.node.messages import Prepared
from rogue.harness.testbeds.ends.roles import pacing_facts, plan_roles


def prepared(role: str, limiter: str) -> Prepared:
    return Prepared(role, "rc", "10.0.0.1", 10**10, 1024, "nic", "event", limiter, buffer_bytes=1)


def test_whoever_sends_the_data_is_limited(tmp_path: Path) -> None:
    """Of a READ that is the responder; a kind that has no words is called by its name."""
    flows = plan_roles(cell_of(tmp_path, "workload.verb=read"))
    ends = {"flow0-requester": "none", "flow0-responder": "dcb"}
    said = {role: prepared(role, limiter) for role, limiter in ends.items()}
    words = {"rate_limiter": "dcb maxrate (hardware)", "timestamps": "the NIC's clock (hardware)"}
    assert pacing_facts(flows, said) == words
    said["flow0-responder"] = prepared("flow0-responder", "abacus")
    assert pacing_facts(flows, said)["rate_limiter"] == "abacus"


def test_tcp_has_neither(tmp_path: Path) -> None:
    flows = plan_roles(cell_of(tmp_path, "transports=[dctcp]", "measure=[throughput]", "probe=null"))
    assert pacing_facts(flows, {}) == {"rate_limiter": "none", "timestamps": None}
