"""Tests: facts about a host's kernel."""

from pathlib import Path

from rogue.agent.node.host_facts import idle_states, interrupt_moderation, offloads

FEATURES = """Features for eth1:
rx-checksumming: on
tcp-segmentation-offload: on
\ttx-tcp-segmentation: on
generic-receive-offload: on
large-receive-offload: off [fixed]
"""
COALESCING = """Coalesce parameters for eth1:
Adaptive RX: on  TX: off
stats-block-usecs: n/a
rx-usecs: 8
rx-frames: 128
rx-usecs-irq: n/a
"""


def test_facts_from_ethtool() -> None:
    outputs = {"-k": FEATURES, "-c": COALESCING}
    assert offloads("eth1", lambda command: outputs[command[1]]) == "TSO on, GRO on, LRO off"
    found = interrupt_moderation("eth1", lambda command: outputs[command[1]])
    assert found == "adaptive-rx on, rx-usecs 8"
    assert {offloads("eth1", lambda _: ""), interrupt_moderation("eth1", lambda _: "")} == {"unknown"}


def test_idle_states_that_are_enabled(tmp_path: Path) -> None:
    for number, (name, latency_us, disable) in enumerate((("POLL", 0, 0), ("C1", 2, 0), ("C6", 133, 1))):
        state = tmp_path / f"state{number}"
        state.mkdir()
        for file, value in (("name", name), ("latency", latency_us), ("disable", disable)):
            (state / file).write_text(f"{value}\n")
    assert idle_states(tmp_path) == "POLL 0 us, C1 2 us"
    assert idle_states(tmp_path / "absent") == "none"
