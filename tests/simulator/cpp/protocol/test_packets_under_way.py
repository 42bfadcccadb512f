"""soft-RoCE lets so many packets of a reliable connection be under way, and no more."""

from dataclasses import replace

from helpers.networks import GBPS, MILLISECOND_NS, connect

from rogue.simulator import IDEAL, NicProfile, Simulation

MTU = 1024
CAPPED = replace(IDEAL, unacknowledged_packets_max=129)
FIRST_PS = 897_600
PACKET_PS = 884_800
"""The first one of a WRITE says where the bytes go."""
DELAY_PS = 100_000_000
ACKNOWLEDGED_PS = 2 * DELAY_PS + 68_800
"""From a packet's last byte until its ACK is there."""


def completed_ps(profile: NicProfile, packets: int, service: str = "rc") -> int:
    simulation = Simulation(seed=1)
    for name in ("a", "b"):
        simulation.add_host(name, profile)
    simulation.add_link("a", "b", rate_bps=10 * GBPS, delay_ps=DELAY_PS)
    simulation.record_oracle_rtt()
    connect(simulation, "a", "b", service=service).post_write(1, packets * MTU, True)
    simulation.run_until(2 * MILLISECOND_NS)
    simulation.check_invariants()
    return int(simulation.oracle_table()["t_comp_ps"][0])


def test_a_long_way_is_filled_with_so_many_packets() -> None:
    # The 64th packet asks for an ACK, which lets 64 more leave; so does the 63rd of these, the 192nd of all.
    first_ps = FIRST_PS + 63 * PACKET_PS + ACKNOWLEDGED_PS
    second_ps = first_ps + 63 * PACKET_PS + ACKNOWLEDGED_PS
    assert completed_ps(CAPPED, 258) == second_ps + PACKET_PS + ACKNOWLEDGED_PS


def test_what_fits_leaves_at_once() -> None:
    alone_ps = FIRST_PS + 128 * PACKET_PS + ACKNOWLEDGED_PS
    assert completed_ps(CAPPED, 129) == completed_ps(IDEAL, 129) == alone_ps


def test_an_unreliable_connection_has_no_such_limit() -> None:
    assert completed_ps(CAPPED, 258, "uc") == completed_ps(IDEAL, 258, "uc")
