"""Packet records against times and sizes worked by hand."""

from typing import Any

import pandas as pd
import pytest
from helpers.networks import MILLISECOND_NS, Star, connect

from rogue.simulator import Marking, PriorityFlowControl, Reliability, Simulation, SimulationError

GAP_PS = 800
"""A byte at 10 Gb/s."""


def recorded(simulation: Simulation) -> pd.DataFrame:
    return pd.DataFrame(simulation.packet_table())


def two_hosts(**choice: Any) -> Simulation:
    """A WRITE of 2500 bytes from h0 to h1, 1 us per link."""
    simulation = Star(hosts=2).build()
    simulation.record_packets(**choice)
    connect(simulation, "h0", "h1").post_write(1, 2500, True)
    simulation.run_until(MILLISECOND_NS)
    return simulation


def test_each_packet_of_a_write_and_its_acknowledgement() -> None:
    rows = recorded(two_hosts(ports=["h0->s0", "s0->h0"]))
    # Payload and 62 bytes of headers, 16 more on the first; 20 bytes of preamble and gap between frames.
    assert list(rows["bytes"]) == [1024 + 62 + 16, 1024 + 62, 452 + 62, 66]
    assert list(rows["payload_bytes"]) == [1024, 1024, 452, 0]
    starts = [0, 1122 * GAP_PS, (1122 + 1106) * GAP_PS]
    arrived = (1122 + 1122 + 1106 + 534) * GAP_PS + 2 * 1_000_000  # the switch also sends them back to back
    assert list(rows["t_ps"]) == [*starts, arrived + 86 * GAP_PS + 1_000_000]
    assert list(rows["kind"]) == ["write"] * 3 + ["ack"]
    assert list(rows["psn"]) == [0, 1, 2, 2]
    assert list(rows["flags"].fillna("")) == ["first ect", "ect", "last ack_request ect", ""]
    assert list(rows["message_bytes"].fillna(0)) == [2500, 0, 0, 0]
    assert list(rows["port"]) == ["h0->s0"] * 3 + ["s0->h0"]
    assert list(rows["src"]) == ["h0"] * 3 + ["h1"]
    assert list(zip(rows["src_qp_num"], rows["qp_num"], strict=True)) == [(2, 3)] * 3 + [(3, 2)]


@pytest.mark.parametrize(
    ("reliability", "numbers"),
    [("irn", [0, 1, 2]), ("go-back-n", [0, 1, 2]), ("cubic", [2, 3])],
)
def test_an_ack_names_the_last_packet_and_tcp_the_next_one(reliability: str, numbers: list[int]) -> None:
    """Source: InfiniBand architecture, volume 1, 9.7.5.1.2; RFC 9293, 3.4."""
    simulation = Star(hosts=2).build()
    simulation.record_packets(["h0->s0", "h1->s0"])
    connect(simulation, "h0", "h1", reliability=Reliability(reliability)).post_write(1, 2500, True)
    simulation.run_until(MILLISECOND_NS)
    rows = recorded(simulation)
    assert list(rows["psn"][rows["kind"] == "write"]) == [0, 1, 2]
    assert list(rows["psn"][rows["kind"] == "ack"]) == numbers


def test_only_chosen_times() -> None:
    second_ns = 1122 * GAP_PS // 1000 + 1
    assert len(recorded(two_hosts(ports=["h0->s0"], until_ns=second_ns))) == 2
    assert list(recorded(two_hosts(ports=["h0->s0"], from_ns=second_ns))["psn"]) == [2]


def test_only_chosen_queue_pairs() -> None:
    simulation = Star(hosts=3).build()
    ends = [connect(simulation, host, "h2") for host in ("h0", "h1")]
    simulation.record_packets(queue_pairs=[ends[1].qp_num])
    for end in ends:
        end.post_write(1, 100, True)
    simulation.run_until(MILLISECOND_NS)
    assert set(recorded(simulation)["port"]) == {"h1->s0", "s0->h2", "h2->s0", "s0->h1"}


def test_so_many_and_no_more() -> None:
    simulation = two_hosts(packets_max=3)
    assert len(recorded(simulation)) == 3
    assert simulation.packets_missed == 5  # 3 packets and 1 acknowledgement, over 2 links each


def test_reasons_of_losses() -> None:
    marking = Marking(kmin_bytes=5_000, kmax_bytes=5_000, pmax=1.0, drops_above=True, at="arrival")
    stars = {
        "buffer": Star(hosts=3, buffer_bytes=20_000),
        "link": Star(hosts=3, loss_probability=0.01),
        "marker": Star(hosts=3, marking=marking),
    }
    for reason, star in stars.items():
        simulation = star.build()
        simulation.record_packets()
        for host in ("h0", "h1"):
            connect(simulation, host, "h2").post_write(1, 100_000, True)
        simulation.run_until(MILLISECOND_NS)
        rows = recorded(simulation)
        assert set(rows["reason"].dropna()) == {reason}
        assert list(rows["dropped"]) == list(rows["reason"].notna())
        missing = sum(value for *_, name, value in simulation.counters() if name in ("drops", "lost_packets"))
        assert rows["dropped"].sum() == missing > 0


def test_pause_frames_name_their_priorities() -> None:
    flow_control = PriorityFlowControl(xoff_bytes=20_000, priorities=(0, 3))
    simulation = Star(hosts=3, flow_control=flow_control).build()
    simulation.record_packets(["s0->h0"])
    for host in ("h0", "h1"):
        connect(simulation, host, "h2", priority=3).post_write(1, 100_000, True)
    simulation.run_until(MILLISECOND_NS)
    pauses = recorded(simulation).query("kind == 'pause'")
    assert set(pauses["told_priorities"]) == {0b1001}
    assert list(pauses["paused_priorities"])[:2] == [0b1000, 0]
    assert set(pauses["bytes"]) == {64}
    assert pauses["qp_num"].isna().all()


def test_datagrams_carry_both_ends() -> None:
    simulation = Star(hosts=2).build()
    ends = [simulation.datagram_queue_pair(host) for host in ("h0", "h1")]
    simulation.record_packets(["h0->s0"])
    ends[0].post_send(1, ends[1], b"hello")
    simulation.run_until(MILLISECOND_NS)
    (row,) = recorded(simulation).to_dict("records")
    assert (row["kind"], row["service"], row["src"], row["dst"]) == ("datagram", "ud", "h0", "h1")
    assert (row["src_qp_num"], row["qp_num"]) == (ends[0].qp_num, ends[1].qp_num)
    assert row["payload_bytes"] == 5


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ({"ports": ["h0->h1"]}, "expected a port such as 'h0->s0', got 'h0->h1'"),
        ({"from_ns": -1}, "from_ns"),
        ({"from_ns": 5, "until_ns": 4}, "until_ns as an integer from 5"),
        ({"packets_max": 0}, "packets_max"),
    ],
)
def test_choices_that_make_no_sense(choice: dict[str, Any], text: str) -> None:
    simulation = Star(hosts=2).build()
    with pytest.raises(SimulationError, match=text):
        simulation.record_packets(**choice)
