"""Between the engine and its host software."""

import pytest
from helpers.networks import Star, connect

from rogue.simulator import Simulation

SLICE_EVENTS = 1 << 16
"""So many events are done before the engine looks for Ctrl-C: anywhere within an instant."""
HOPS = 2 * 4
"""Of two packets and their acknowledgements."""
END_NS = 20_000_000


@pytest.mark.parametrize("samples", range(4))
def test_host_software_is_called_when_all_else_of_its_instant_has_happened(samples: int) -> None:
    """Two queue pairs complete a verb at one instant, about where a slice ends: samples are events, too."""
    simulation = Star(hosts=4).build(Simulation)
    if samples:
        simulation.sample_throughput(9_000_000 // samples)
    done: list[int] = []
    for host in (0, 1):
        pair = connect(simulation, f"h{host}", f"h{host + 2}", ack_every_packets=1)
        pair.attach(
            lambda _now_ns, _completions: done.append(simulation.statistics()["verbs_done"]),
            lambda _now_ns, _state: None,
        )
        pair.post_write(0, 1024 * SLICE_EVENTS // HOPS, True)
    simulation.run_until(END_NS)
    assert done == [2, 2]
