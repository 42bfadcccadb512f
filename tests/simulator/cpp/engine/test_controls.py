"""What controls of NICs are told of losses: recoveries of their own sender, begun by what came back."""

from collections.abc import Mapping
from operator import sub

import pytest
from helpers.networks import MILLISECOND_NS, ReferenceSimulation, Star, counter

from rogue.simulator import CONTROLS, ControlKind, NicControl, PrototypeControl, Reliability, Simulation


class Losing(PrototypeControl):
    """Sends at line rate, and notes how often its sender has begun to repeat."""

    wants_acknowledgements = True
    recoveries: list[list[int]] = []  # noqa: RUF012 - of the test's

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        self._told: list[int] = []
        self.recoveries.append(self._told)

    def on_acknowledgement(self, *told: object) -> None:
        self._told.append(int(told[4]))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("reliability", "recoveries"), [(None, [1, 1]), ("irn", [1, 2]), ("go-back-n", [6, 11]), ("uet", [0, 0])]
)
@pytest.mark.parametrize("simulation_type", [Simulation, ReferenceSimulation])
def test_recoveries_are_told_with_the_acknowledgement_that_begins_them(
    simulation_type: type[Simulation],
    reliability: str | None,
    recoveries: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A switch of 40 KB drops. Each recovery has had its NAK; timeouts, all that UET knows here, are none."""
    kind = ControlKind("losing", "of a test", (), True, False, Losing)
    monkeypatch.setitem(CONTROLS, "losing", kind)
    Losing.recoveries.clear()
    simulation = Star(3, buffer_bytes=40_000).build(simulation_type)
    for sender in ("h0", "h1"):
        pair, _ = simulation.connect(
            sender,
            "h2",
            mtu_bytes=1024,
            retry_count=7,
            timeout_exponent=14,
            control=NicControl("losing"),
            reliability=Reliability(reliability) if reliability else None,
        )
        pair.post_write(1, 300_000, True)
    simulation.run_until(2 * MILLISECOND_NS)
    told = [each for each in Losing.recoveries if each]
    assert [each[-1] for each in told] == recoveries
    assert counter(simulation, "naks") >= sum(recoveries)
    for each in told:
        assert set(map(sub, each[1:], each)) <= {0, 1}


@pytest.mark.parametrize("simulation_type", [Simulation, ReferenceSimulation])
def test_gaps_in_responses_to_reads_are_no_recovery(
    simulation_type: type[Simulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are lost on the way here, which is not the way that the control governs."""
    monkeypatch.setitem(CONTROLS, "losing", ControlKind("losing", "of a test", (), True, False, Losing))
    Losing.recoveries.clear()
    simulation = Star(3, buffer_bytes=40_000).build(simulation_type)
    (reader, _), (rival, _) = (
        simulation.connect(
            source,
            destination,
            mtu_bytes=1024,
            retry_count=7,
            timeout_exponent=14,
            control=NicControl("losing"),
        )
        for source, destination in (("h0", "h1"), ("h2", "h0"))
    )
    for number in range(8):
        reader.post_read(2 * number, 40_000, True)
        reader.post_write(2 * number + 1, 40_000, True)
    rival.post_write(1, 300_000, True)
    simulation.run_until(2 * MILLISECOND_NS)
    of_reader, *_ = Losing.recoveries
    gaps = sum(
        value
        for _, port, name, value in simulation.counters()
        if port.startswith("h0") and name.endswith("naks")
    )
    assert gaps > 0
    assert len(of_reader) > 1
    assert set(of_reader) == {0}
