"""What PCI adds to timestamps. Without drift and offset they are host time otherwise."""

from dataclasses import replace

import pytest
from helpers.networks import MILLISECOND_NS, ReferenceSimulation, Star, connect

from rogue.simulator import CX3PRO, IDEAL, NicProfile, Simulation

CX3PRO_WITH_PCI = replace(CX3PRO, pci_rc_ns=2_000, pci_late_ns=2_000, pci_late_probability=0.125)
PCI = replace(IDEAL, pci_rc_ns=2_000, pci_uc_ns=6_000, pci_late_ns=2_000, pci_late_probability=0.125)


def added_ns(profile: NicProfile, length_bytes: int, verbs: int = 1) -> list[int]:
    """Timestamp minus host time of the completions of RC WRITEs."""
    simulation = Star(hosts=2, profile=profile).build()
    queue_pair = connect(simulation, "h0", "h1")
    added: list[int] = []
    queue_pair.attach(
        lambda now, completions: added.extend(nic_ns - now for _, _, nic_ns, _, _ in completions),
        lambda now, state: None,
    )
    for wr_id in range(verbs):
        queue_pair.post_write(wr_id, length_bytes, True)
    simulation.run_until(20 * MILLISECOND_NS)
    return added


def test_a_verb_with_data_takes_two_microseconds_and_sometimes_four() -> None:
    added = added_ns(PCI, 100, verbs=4_000)
    assert set(added) == {2_000, 4_000}
    assert added.count(4_000) == pytest.approx(500, abs=4 * 21)  # sigma = sqrt(4000 * .125 * .875)


def test_an_empty_verb_takes_none() -> None:
    assert added_ns(PCI, 0) == [0]


def test_the_terms_can_be_switched_off() -> None:
    assert added_ns(IDEAL, 100) == [0]
    assert set(added_ns(replace(PCI, pci_late_probability=0.0), 100, verbs=100)) == {2_000}


def test_the_acknowledgement_over_uc_has_the_terms_of_the_exchange() -> None:
    simulation = Star(hosts=2, profile=PCI).build()
    ends = simulation.connect("h0", "h1", mtu_bytes=1024, retry_count=0, timeout_exponent=0, service="uc")
    added: list[list[int]] = [[], [], []]
    for at, end in enumerate(ends):
        end.attach(
            lambda now, completions: added[2].extend(nic_ns - now for _, _, nic_ns, _, _ in completions),
            lambda now, state: None,
            lambda now, receives, at=at: added[at].extend(nic_ns - now for _, _, nic_ns, _, _ in receives),
        )
    ends[0].post_write(1, 5_000, True, imm=1)
    ends[1].post_write(1, 0, True, imm=2)
    simulation.run_until(MILLISECOND_NS)
    assert added == [[6_000], [0], [0, 0]]


def test_both_engines_add_the_same() -> None:
    def stamps(simulation_type: type[Simulation]) -> list[tuple[int, int]]:
        simulation = Star(hosts=3, profile=CX3PRO_WITH_PCI).build(simulation_type)
        found: list[tuple[int, int]] = []
        for i in range(2):
            queue_pair = connect(simulation, f"h{i}", "h2")
            queue_pair.attach(
                lambda now, completions: found.extend((wr_id, at) for wr_id, _, at, _, _ in completions),
                lambda now, state: None,
            )
            for wr_id in range(200):
                queue_pair.post_write(wr_id, 3_000, True)
        simulation.run_until(5 * MILLISECOND_NS)
        return found

    assert len(stamps(Simulation)) == 400
    assert stamps(Simulation) == stamps(ReferenceSimulation)
