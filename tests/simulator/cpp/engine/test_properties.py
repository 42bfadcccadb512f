"""What holds in every network, whatever it is asked to do."""

from helpers.networks import MILLISECOND_NS, counter
from helpers.random_features import flow_controls
from helpers.random_networks import RandomNetwork, networks
from hypothesis import HealthCheck, assume, given, settings

from rogue.simulator import Simulation

# The slowest flow sends 8 * 64 KiB at 100 Mb/s, after that everything is acknowledged or has failed; but
# a control may ask for less than that.
END_NS = 200 * MILLISECOND_NS
LAST_END_NS = 10 * END_NS


# Kinds of go-back-N that early cards and other simulators have: where a buffer holds a few packets, or a
# timeout is shorter than a message, they can send what nobody wants for ever.
RESTLESS = {"go-back-0", "go-back-n-hpcc", "go-back-n-htsim"}


def comes_to_an_end(network: RandomNetwork) -> bool:
    """Whether everybody gets on, whatever is lost."""
    if network.misroutings:
        return False  # where packets never arrive TCP tries for ever, and pauses can wait in a loop
    return not any(flow.reliability and flow.reliability.name in RESTLESS for flow in network.flows)


def loses_messages_of_switches(network: RandomNetwork) -> bool:
    """Whether a switch sends fair rates in a priority that pauses: nobody can pause the switch."""
    covered = () if network.flow_control is None else network.flow_control.priorities
    controls = (flow.control for flow in network.flows if flow.control and flow.control.name == "rocc")
    return network.fair_rates is not None and any(each.cnp_priority in covered for each in controls)


def run_until_nothing_is_left(simulation: Simulation) -> None:
    for until_ns in range(END_NS, LAST_END_NS + 1, END_NS):
        simulation.run_until(until_ns)
        simulation.check_invariants()
        if simulation.statistics()["packets_live"] == 0:
            return
    raise AssertionError(f"{simulation.statistics()['packets_live']} packets after {LAST_END_NS} ns")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_nothing_is_lost_track_of_and_nothing_is_left(network: RandomNetwork) -> None:
    assume(comes_to_an_end(network))
    simulation = network.build(Simulation)
    for until_ns in (7, 12_345, 100_000, 1_000_001):
        simulation.run_until(until_ns)
        simulation.check_invariants()
    run_until_nothing_is_left(simulation)
    table = simulation.queue_table()
    assert not table["bytes"][table["t_ns"] == table["t_ns"].max()].any()
    assert (table["max_bytes"] >= table["bytes"]).all()
    for i, buffer_bytes in enumerate(network.buffers_bytes):
        if buffer_bytes is not None:
            most_bytes = table["max_bytes"][table["node"] == f"s{i}"].max()
            assert most_bytes <= network.capacity_bytes(i, buffer_bytes)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(flow_controls()))
def test_flow_control_loses_nothing_and_everybody_goes_on_in_the_end(network: RandomNetwork) -> None:
    assume(comes_to_an_end(network))
    simulation = network.build(Simulation)
    for until_ns in (12_345, 100_000, 1_000_001):
        simulation.run_until(until_ns)
        simulation.check_invariants()
    run_until_nothing_is_left(simulation)
    assert counter(simulation, "lossless_drops") == 0 or loses_messages_of_switches(network)
    pauses = simulation.pause_table()
    assert (pauses["duration_ns"] >= 0).all()
    assert not (pauses["start_ns"] + pauses["duration_ns"] == simulation.now_ns).any()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_the_same_seed_gives_the_same_digest_however_the_run_is_sliced(network: RandomNetwork) -> None:
    whole, sliced = network.build(Simulation), network.build(Simulation)
    whole.run_until(MILLISECOND_NS)
    for until_ns in range(0, MILLISECOND_NS + 1, 50_021):
        sliced.run_until(until_ns)
        sliced.counters()  # looking at a network must not change it
    sliced.run_until(MILLISECOND_NS)
    assert sliced.digest() == whole.digest()
    assert sliced.counters() == whole.counters()
