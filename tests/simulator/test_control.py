"""Congestion controls in NICs, alone and in a network."""

from dataclasses import replace

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, ReferenceSimulation, Star, connect, counter

from rogue.simulator import CONTROLS, CX3PRO, Marking, NicControl, QueuePair, Simulation, SimulationError
from rogue.simulator._core import Controller

DCQCN = NicControl("dcqcn")
MARKING = Marking(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01)


def incast(
    star: Star, control: NicControl | None = DCQCN, simulation_type: type[Simulation] = Simulation
) -> tuple[Simulation, list[QueuePair]]:
    """Every host sends 100 MB to the last one."""
    simulation = star.build(simulation_type)
    last = star.hosts - 1
    pairs = [connect(simulation, f"h{i}", f"h{last}", control=control) for i in range(last)]
    for queue_pair in pairs:
        queue_pair.post_write(1, 10**8, True)
    return simulation, pairs


def test_reading_a_control_changes_nothing() -> None:
    """The byte counter raises rates between two reads: it must continue from its value."""
    star = Star(hosts=4, buffer_bytes=9_000_000, marking=MARKING)

    def hops(step_ns: int, simulation_type: type[Simulation]) -> int:
        control = NicControl("dcqcn", {"byte_counter_bytes": 150_000})
        simulation, _ = incast(star, control, simulation_type)
        for at_ns in range(step_ns, 20 * MILLISECOND_NS + 1, step_ns):
            simulation.run_until(at_ns)
            simulation.control_metrics()
        return simulation.statistics()["packet_hops"]

    looked_at_once = hops(20 * MILLISECOND_NS, Simulation)
    assert hops(50_000, Simulation) == looked_at_once
    assert hops(50_000, ReferenceSimulation) == looked_at_once


@pytest.mark.parametrize("name", CONTROLS)
class TestEveryControl:
    def test_explains_itself(self, name: str) -> None:
        assert CONTROLS[name].name == name
        assert len(CONTROLS[name].meaning) > 10
        for parameter in CONTROLS[name].parameters:
            assert len(parameter.meaning) > 10, parameter.name

    def test_has_parameters_within_their_bounds(self, name: str) -> None:
        for parameter in CONTROLS[name].parameters:
            assert parameter.minimum <= parameter.value <= parameter.maximum, parameter.name
            for value in (parameter.minimum, parameter.maximum):
                try:
                    Controller(name, line_rate_bps=10 * GBPS, parameters={parameter.name: value})
                except SimulationError as error:  # it does not go with another one's usual value
                    assert parameter.name in str(error)

    def test_never_exceeds_the_line_rate(self, name: str) -> None:
        control = Controller(name, line_rate_bps=10 * GBPS)
        assert 0 < control.rate_bps <= 10 * GBPS
        for step in range(2_000):
            if step % 97 < 3:
                control.on_cnp(step * MICROSECOND_PS)
            control.on_sent(step * MICROSECOND_PS, 100_000)
            sent_ps = max(0, step - 50 - step // 10) * MICROSECOND_PS
            control.on_acknowledgement(
                step * MICROSECOND_PS, sent_ps=sent_ps, acknowledged_psn=step, sent_psn=step + 50
            )
            while control.deadline_ps is not None and control.deadline_ps <= step * MICROSECOND_PS:
                control.on_timer(control.deadline_ps)
            assert 0 < control.rate_bps <= 10 * GBPS


def test_it_keeps_the_queue_short_and_the_port_busy() -> None:
    star = Star(hosts=5, rate_bps=40 * GBPS, buffer_bytes=12_000_000, marking=MARKING)
    simulation, pairs = incast(star)
    simulation.run_until(15 * MILLISECOND_NS)  # alpha falls slowly from 1
    simulation.sample_queues(10_000)
    before = [queue_pair.delivered_bytes for queue_pair in pairs]
    simulation.run_until(25 * MILLISECOND_NS)
    simulation.check_invariants()
    delivered = [pair.delivered_bytes - old for pair, old in zip(pairs, before, strict=True)]
    assert sum(delivered) * 8 * 100 > 0.95 * 40 * GBPS * 1024 / 1106
    assert min(delivered) > 0.7 * sum(delivered) / 4
    table = simulation.queue_table()
    port = (table["port"] == "s0->h4") & (table["priority"] == 0)
    assert 0 < table["bytes"][port].mean() < 200_000
    assert table["marks"][port].sum() > 0
    assert all(0 < queue_pair.control_rate_bps < 40 * GBPS for queue_pair in pairs)


def test_without_marks_it_never_acts() -> None:
    """Nothing exceeds kmin: the same digest as without a control."""
    deaf = Marking(kmin_bytes=10**9, kmax_bytes=10**9, pmax=1)
    runs = []
    for control in (None, DCQCN):
        simulation, pairs = incast(Star(hosts=5, buffer_bytes=10**6, marking=deaf), control)
        simulation.run_until(5 * MILLISECOND_NS)
        runs.append(simulation.digest())
        assert all(queue_pair.control_rate_bps in (0, 10 * GBPS) for queue_pair in pairs)
    assert runs[0] == runs[1]


def test_cnps_are_one_gap_apart_at_most_often() -> None:
    """Two senders that never slow down enough: packets wait, and are marked, all the time."""
    everything = Marking(kmin_bytes=0, kmax_bytes=0, pmax=1)
    stubborn = NicControl("dcqcn", {"rate_min_bps": 8 * GBPS})
    simulation, _ = incast(Star(hosts=3, marking=everything), stubborn)
    simulation.run_until(10 * MILLISECOND_NS)
    sent, received = (counter(simulation, name) for name in ("cnps_sent", "cnps_received"))
    assert received == pytest.approx(sent, abs=2)
    assert 0.95 * 400 < sent <= 400


def test_host_software_cannot_set_the_rate_too() -> None:
    simulation, pairs = incast(Star(hosts=3, profile=CX3PRO, marking=MARKING))
    with pytest.raises(SimulationError, match="set_rate: the NIC controls the rate of queue pair 2"):
        pairs[0].set_rate(GBPS)
    with pytest.raises(SimulationError, match="use_limiter: the NIC controls the rate of queue pair 2"):
        pairs[0].use_limiter(0)
    assert simulation.now_ns == 0


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(SimulationError, match="cnp_priority as an integer from 0 to 7, got 8"):
        incast(Star(hosts=2), NicControl("dcqcn", cnp_priority=8))
    with pytest.raises(SimulationError, match=r"expected a control named constant, dcqcn, .*, got vegas"):
        incast(Star(hosts=2), NicControl("vegas"))
    with pytest.raises(SimulationError, match="dcqcn: expected g from"):
        incast(Star(hosts=2), NicControl("dcqcn", {"g": 7}))


class TestConstant:
    """Rate and window stay, and it measures."""

    def test_round_trip_of_a_single_packet(self) -> None:
        """A WRITE of one packet and the ACK over two links each: 2 (897.6 + 1000) + 2 (68.8 + 1000) ns."""
        simulation = Star(hosts=2).build()
        queue_pair = connect(simulation, "h0", "h1", control=NicControl("constant"))
        queue_pair.post_write(1, 1024, True)
        simulation.run_until(MILLISECOND_NS)
        metrics = simulation.control_metrics()[queue_pair.qp_num]
        assert metrics["acknowledgements"] == 1
        assert metrics["round_trip_ps"] == 2 * (897_600 + 1_000_000) + 2 * (68_800 + 1_000_000)

    @pytest.mark.parametrize(("window_bytes", "packets"), [(1, 1), (1024, 1), (1025, 2), (4096, 4)])
    def test_a_window(self, window_bytes: int, packets: int) -> None:
        """So many packets per round trip, which lasts 5907.2 ns if they do not fill it."""
        simulation = Star(hosts=2).build()
        control = NicControl("constant", {"window_bytes": window_bytes})
        queue_pair = connect(simulation, "h0", "h1", control=control, ack_every_packets=1)
        queue_pair.post_write(1, 10**6, True)
        simulation.run_until(MILLISECOND_NS)
        metrics = simulation.control_metrics()[queue_pair.qp_num]
        assert metrics["in_flight_packets_max"] == packets - 1  # one has just been acknowledged
        assert metrics["round_trip_min_ps"] == 5_907_200
        assert queue_pair.delivered_bytes == pytest.approx(packets * 1024 * 1_000_000 / 5_907.2, rel=0.01)

    def test_a_rate(self) -> None:
        simulation = Star(hosts=2).build()
        queue_pair = connect(simulation, "h0", "h1", control=NicControl("constant", {"rate_bps": 2e9}))
        assert queue_pair.control_rate_bps == 2 * GBPS
        queue_pair.post_write(1, 10**7, True)
        simulation.run_until(10 * MILLISECOND_NS)
        assert queue_pair.delivered_bytes == pytest.approx(2.5e6 * 1024 / 1106, rel=0.01)

    def test_marks_come_back_with_the_acknowledgement(self) -> None:
        """Of two that send at once, each packet but the first of all finds one waiting."""
        simulation = Star(hosts=3, marking=Marking(kmin_bytes=0, kmax_bytes=0, pmax=1)).build()
        ends = [connect(simulation, f"h{i}", "h2", control=NicControl("constant")) for i in range(2)]
        for queue_pair in ends:
            queue_pair.post_write(1, 50 * 1024, True)
        simulation.run_until(MILLISECOND_NS)
        marked = counter(simulation, "marked_packets")
        metrics = simulation.control_metrics()
        assert marked > 90
        assert sum(metrics[queue_pair.qp_num]["marked_acknowledgements"] for queue_pair in ends) == marked
        assert counter(simulation, "cnps_sent") == 0


@pytest.mark.parametrize("engine", [Simulation, ReferenceSimulation])
def test_the_limiter_of_a_controlled_queue_pair_is_not_shared(engine: type[Simulation]) -> None:
    simulation = Star(hosts=2, profile=replace(CX3PRO, limiters=2)).build(engine)
    controlled = connect(simulation, "h0", "h1", control=DCQCN)
    with pytest.raises(SimulationError, match="limiter_of: the NIC controls the rate of queue pair 2"):
        connect(simulation, "h0", "h1", limiter_of=controlled)
    other = connect(simulation, "h0", "h1")
    other.use_limiter(1)
    with pytest.raises(SimulationError, match="use_limiter: the NIC controls the rate of queue pair 2"):
        other.use_limiter(2)
