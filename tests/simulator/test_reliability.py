"""Tests: loss recovery in NICs, and packet spraying."""

import pytest
from helpers.networks import (
    GBPS,
    MICROSECOND_PS,
    MILLISECOND_NS,
    Host,
    Star,
    connect,
    counter,
    direct,
    network,
)

from rogue.simulator import (
    RELIABILITIES,
    IpIdLoss,
    NicControl,
    QueuePair,
    QueuePairError,
    Reliability,
    Simulation,
    SimulationError,
    Spraying,
)
from rogue.simulator.reliability import check_parameters

DATA_WIRE_BYTES, FIRST_BYTES = 1024 + 62 + 20, 16
TCPS = ("reno", "dctcp", "cubic", "iwarp")


def pair(simulation: Simulation, a: str, b: str, name: str = "irn", **parameters: float) -> QueuePair:
    return connect(simulation, a, b, reliability=Reliability(name, parameters))


@pytest.mark.parametrize("name", RELIABILITIES)
class TestEveryReliability:
    def test_explains_itself(self, name: str) -> None:
        kind = RELIABILITIES[name]
        assert kind.name == name
        assert len(kind.meaning) > 10
        assert kind.shortest_timeout_ns in {parameter.name for parameter in kind.parameters}
        for parameter in kind.parameters:
            assert len(parameter.meaning) > 10, parameter.name
            assert parameter.minimum <= parameter.value <= parameter.maximum, parameter.name

    def test_refuses_what_is_out_of_bounds(self, name: str) -> None:
        for parameter in RELIABILITIES[name].parameters:
            with pytest.raises(SimulationError, match=f"{name}: expected {parameter.name} from"):
                check_parameters(name, {parameter.name: parameter.maximum + 1})

    def test_delivers_everything_over_a_lossy_link(self, name: str) -> None:
        if name in ("go-back-0", "go-back-n-hpcc"):
            pytest.skip("it does not: see its own tests")
        simulation = direct(loss_probability=0.01)
        queue_pair = pair(simulation, "a", "b", name)
        host = Host(queue_pair)
        for wr_id, size in enumerate((1, 100_000, 0, 1024, 1_000_000)):
            queue_pair.post_write(wr_id, size, True)
        simulation.run_until(5_000 * MILLISECOND_NS)
        assert host.statuses == [(wr_id, 0) for wr_id in range(5)]
        assert queue_pair.delivered_bytes == queue_pair.posted_bytes == 1_101_025
        assert queue_pair.retransmitted_bytes > 0
        assert simulation.statistics()["packets_live"] == 0
        simulation.check_invariants()

    def test_fills_an_idle_link(self, name: str) -> None:
        if name in TCPS:
            pytest.skip("starts slowly, and has other headers: tests/simulator/cpp/tcp/test_network.py")
        simulation = direct()
        queue_pair = pair(simulation, "a", "b", name)
        host = Host(queue_pair)
        queue_pair.post_write(1, 1024 * 1000, True)
        simulation.run_until(2 * MILLISECOND_NS)
        wire_bytes = 1000 * DATA_WIRE_BYTES + FIRST_BYTES
        [(done_ns, _)] = host.polls
        assert done_ns == pytest.approx(wire_bytes * 0.8 + 2_000, abs=100)


def test_a_single_packet_and_its_acknowledgement_to_the_picosecond() -> None:
    """1024 + 62 + 16 + 20 bytes at 10 Gb/s, 1 us, 66 + 20 bytes, 1 us."""
    simulation = direct()
    queue_pair = pair(simulation, "a", "b")
    simulation.record_oracle_rtt()
    queue_pair.post_write(1, 1024, True)
    simulation.run_until(MILLISECOND_NS)
    table = simulation.oracle_table()
    assert (table["t_last_ps"][0], table["t_comp_ps"][0]) == (1122 * 800, 1122 * 800 + 86 * 800 + 2_000_000)


def test_a_negative_acknowledgement_is_four_bytes_larger() -> None:
    """Of 12 packets, the buffer of the bottleneck takes those that two packets' room allows."""
    simulation = slow_receiver(buffer_bytes=3_000)
    pair(simulation, "h0", "h1").post_write(1, 12 * 1024, True)
    simulation.run_until(10 * MILLISECOND_NS)
    ack_bytes = counter(simulation, "tx_bytes", "h1->s0")
    assert counter(simulation, "drops") > 0
    nacks = counter(simulation, "naks")
    acks = 12 + counter(simulation, "retransmitted_packets") - counter(simulation, "drops") - nacks
    assert ack_bytes == 66 * acks + 70 * nacks


def slow_receiver(buffer_bytes: int) -> Simulation:
    links = [("h0", "s0", {"rate_bps": 40 * GBPS}), ("s0", "h1")]
    return network(links, switch={"buffer_bytes": buffer_bytes, "alpha": 1000.0}, delay_ps=2 * MICROSECOND_PS)


@pytest.mark.parametrize("packets", [20, 1_000, 10_000])
def test_as_many_packets_are_sent_again_as_the_switch_dropped(packets: int) -> None:
    simulation = slow_receiver(buffer_bytes=30_000)
    queue_pair = pair(simulation, "h0", "h1")
    host = Host(queue_pair)
    queue_pair.post_write(1, packets * 1024, True)
    simulation.run_until(100 * MILLISECOND_NS)
    assert host.statuses == [(1, 0)]
    assert counter(simulation, "retransmitted_packets") == counter(simulation, "drops")
    assert (packets < 30) == (counter(simulation, "drops") == 0)


def every_256th_is_lost(name: str, message_bytes: int) -> tuple[Host, QueuePair, Simulation]:
    """One of 256 packets is lost, by its IP ID, at 40 Gb/s for 100 ms."""
    simulation = network([("h0", "h1")], rate_bps=40 * GBPS, loss=IpIdLoss(0xFF))
    queue_pair = pair(simulation, "h0", "h1", name)
    host = Host(queue_pair)
    for wr_id in range(500_000_000 // message_bytes):
        queue_pair.post_write(wr_id, message_bytes, True)
    simulation.run_until(100 * MILLISECOND_NS)
    simulation.check_invariants()
    return host, queue_pair, simulation


def test_go_back_0_delivers_no_message_of_more_packets_than_there_are_between_losses() -> None:
    """Guo et al., SIGCOMM 2016, section 4.1: the link is full, and nothing arrives."""
    host, queue_pair, simulation = every_256th_is_lost("go-back-0", 4_000 * 1024)
    assert host.completions == []
    assert queue_pair.delivered_bytes == 0
    assert counter(simulation, "tx_bytes", "h0->h1") > 0.9 * 40 * GBPS / 8 / 10


def test_go_back_n_delivers_in_spite_of_the_same_losses() -> None:
    """Efficiency (1 - p) / (1 + p (W - 1)) while it sends; W packets leave until the NAK is back after 2 us.

    Lost NAKs wait for their timeout.
    """
    host, queue_pair, simulation = every_256th_is_lost("go-back-n", 4_000 * 1024)
    assert len(host.completions) > 50
    packet_ps = 1106 * 200
    window, loss = 1 + (2 * MICROSECOND_PS + packet_ps) / packet_ps, 1 / 256
    efficiency = (1 - loss) / (1 + loss * (window - 1))
    sending_ps = 100_000 * MICROSECOND_PS - counter(simulation, "timeouts") * 320 * MICROSECOND_PS
    ideal_bytes = sending_ps / packet_ps * 1024
    assert queue_pair.delivered_bytes == pytest.approx(efficiency * ideal_bytes, rel=0.01)


def test_without_timeouts_a_lost_tail_is_never_repaired() -> None:
    """Of ten packets the last ones are lost without notice."""
    for name, done in (("go-back-n-hpcc", []), ("go-back-n-conweave", [(1, 0)])):
        simulation = direct()
        queue_pair = pair(simulation, "a", "b", name)
        host = Host(queue_pair)
        simulation.cut_link("a", "b", start_ns=7_000, duration_ns=5_000)
        queue_pair.post_write(1, 10 * 1024, True)
        simulation.run_until(1_000 * MILLISECOND_NS)
        assert host.statuses == done
        simulation.check_invariants()


@pytest.mark.parametrize("post", ["immediate", "send", "read"])
def test_only_plain_writes(post: str) -> None:
    queue_pair = pair(direct(), "a", "b")
    with pytest.raises(QueuePairError, match="expected a WRITE without immediate data"):
        if post == "immediate":
            queue_pair.post_write(1, 10, True, imm=1)
        elif post == "send":
            queue_pair.post_send(1, 10, True)
        else:
            queue_pair.post_read(1, 10, True)


def test_no_reset() -> None:
    with pytest.raises(QueuePairError, match="cannot be reset"):
        pair(direct(), "a", "b").reset()


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("irm", {}, r"expected a reliability named irn, irn-gbn.*, got irm"),
        ("irn", {"cap": 3}, r"irn: expected one of the parameters cap_packets.*, got cap"),
        ("go-back-n", {"rto_low_ns": 400_000}, "go-back-n: expected rto_low_ns not above rto_high_ns"),
        ("irn", {"rto_low_ns": 2_000}, "rto_low_ns above the delay of the round trip, 2000000 ps"),
        ("reno", {"rto_min_ns": 2_000, "delayed_ack_ns": 10}, "rto_min_ns above the delay of the round trip"),
    ],
)
def test_invalid_kinds_and_parameters_are_refused(
    name: str, parameters: dict[str, float], sentence: str
) -> None:
    with pytest.raises(SimulationError, match=sentence):
        pair(direct(), "a", "b", name, **parameters)


def test_uc_takes_no_reliability() -> None:
    with pytest.raises(SimulationError, match=r"expected service rc with a reliability \(irn\), got uc"):
        connect(direct(), "a", "b", service="uc", reliability=Reliability("irn"))


@pytest.mark.parametrize("paths", [0, -1, 3, 65_537, 131_072, 2.5, True, "64", None, 2**70])
def test_invalid_paths_are_refused(paths: int) -> None:
    with pytest.raises(SimulationError, match=r"expected paths as .*, got ") as caught:
        connect(Star(hosts=2).build(), "h0", "h1", spraying=Spraying(paths))
    assert "connect h0-h1" in str(caught.value)


def test_paths_that_are_no_power_of_two_name_expected_and_got() -> None:
    with pytest.raises(SimulationError) as caught:
        Spraying(48).check()
    assert caught.value.expected == "paths as a power of two from 1 to 65536"
    assert caught.value.got == "48"


def test_uc_is_refused() -> None:
    with pytest.raises(SimulationError, match="expected service rc with spraying, got uc"):
        connect(Star(hosts=2).build(), "h0", "h1", spraying=Spraying(), service="uc")


@pytest.mark.parametrize(("control", "reason"), [("rocc", "reverse path"), ("hpcc", "same ports")])
def test_controls_whose_packets_keep_one_way_are_refused(control: str, reason: str) -> None:
    simulation = Star(hosts=2, features={"has_telemetry": True}).build()
    with pytest.raises(SimulationError, match=f"no spraying beside {control}, .*{reason}"):
        connect(simulation, "h0", "h1", spraying=Spraying(), control=NicControl(control))


def test_a_host_that_switches_have_a_rule_for_is_refused() -> None:
    simulation = Star(hosts=3).build()
    simulation.flood("s0", "h1")
    with pytest.raises(SimulationError, match=r"no rule \(forward, flood\) for 'h1'"):
        connect(simulation, "h0", "h1", spraying=Spraying())
    connect(simulation, "h0", "h2", spraying=Spraying())
