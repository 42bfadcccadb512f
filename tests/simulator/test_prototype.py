"""Controls of NICs in Python, in the engine and in the eager one that it is compared with."""

from collections.abc import Iterator, Mapping

import pytest
from helpers.networks import GBPS, MILLISECOND_NS, ReferenceSimulation, Star, connect, network

from rogue.simulator import (
    CONTROLS,
    ControlError,
    ControlKind,
    ControlParameter,
    Marking,
    NicControl,
    PathFacts,
    PrototypeControl,
    Reliability,
    Simulation,
    SimulationError,
)
from rogue.simulator.control import checked

TABLE = (ControlParameter("rate_bps", 1e9, 1, 1e13, "of wire bytes"),)


class Steady(PrototypeControl):
    """A rate that stays."""

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        self.rate_bps = int(parameters["rate_bps"])


class Curious(PrototypeControl):
    """One packet in flight, and a record of all calls."""

    wants_acknowledgements = True
    wants_telemetry = True
    window_bytes = 1024
    made: list["Curious"] = []  # noqa: RUF012 - of the test's

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        self.heard: list[tuple[object, ...]] = []
        self.deadline_ps = 1_000_000
        self.made.append(self)

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        self.heard.append(("sent", now_ps, wire_bytes))

    def on_acknowledgement(self, *told: object) -> None:
        self.heard.append(("acknowledged", *told))

    def on_timer(self, now_ps: int) -> None:
        self.heard.append(("timer", now_ps))
        self.deadline_ps = None

    def metrics(self, now_ps: int) -> dict[str, float]:
        return {"calls": len(self.heard)}


class Knowing(PrototypeControl):
    """Keeps its PathFacts."""

    wants_path = True
    told: list[PathFacts] = []  # noqa: RUF012 - of the test's

    def __init__(self, parameters: Mapping[str, float], path: PathFacts) -> None:
        super().__init__(parameters, path)
        self.told.append(path)


class Broken(Steady):
    """Whatever a test puts into its class."""


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    mine = {
        name: ControlKind(name, "of a test", TABLE, kind.wants_acknowledgements, kind.wants_telemetry, kind)
        for name, kind in (("steady", Steady), ("curious", Curious), ("knowing", Knowing), ("broken", Broken))
    }
    CONTROLS.update(mine)
    Curious.made.clear()
    Knowing.told.clear()
    yield
    for name in mine:
        del CONTROLS[name]


def sending(
    control: NicControl, kind: type[Simulation] = Simulation, size_bytes: int = 10**6, **switch: object
) -> Simulation:
    simulation = Star(hosts=2, **switch).build(kind)  # type: ignore[arg-type]
    connect(simulation, "h0", "h1", control=control).post_write(1, size_bytes, True)
    return simulation


@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
def test_a_rate_in_python_is_a_rate(kind: type[Simulation]) -> None:
    """As the engine's own `constant` with the same one, to the picosecond."""
    digests = []
    for name in ("steady", "constant"):
        simulation = sending(NicControl(name, {"rate_bps": 2e9}), kind)
        simulation.run_until(10 * MILLISECOND_NS)
        assert simulation.statistics()["verbs_done"] == 1
        digests.append(simulation.digest())
    assert digests[0] == digests[1]


def test_a_prototype_gets_the_calls_of_a_compiled_control() -> None:
    simulation = sending(NicControl("curious"), size_bytes=2048)
    simulation.run_until(MILLISECOND_NS)
    heard = Curious.made[0].heard
    assert [each[0] for each in heard] == ["sent", "timer", "acknowledged", "sent", "acknowledged"]
    assert heard[1] == ("timer", 1_000_000)
    first = heard[2]
    assert (first[2], first[3:6], first[6]) == (heard[0][1], (1, 1, 0), False)
    assert sorted(metrics["calls"] for metrics in simulation.control_metrics().values()) == [1, 5]


@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
def test_telemetry_comes_with_acknowledgements(
    monkeypatch: pytest.MonkeyPatch, kind: type[Simulation]
) -> None:
    """Telemetry implies acknowledgements."""
    heard: list[int] = []
    monkeypatch.setattr(Broken, "wants_telemetry", True)
    monkeypatch.setattr(Broken, "on_acknowledgement", lambda _self, now_ps, *_: heard.append(now_ps))
    monkeypatch.setitem(CONTROLS, "broken", ControlKind("broken", "", TABLE, False, True, Broken))
    assert NicControl("broken").wants_acknowledgements
    sending(NicControl("broken"), kind, size_bytes=2048).run_until(MILLISECOND_NS)
    assert len(heard) == 2


class Narrowing(Steady):
    """A window that shrinks as something leaves, when it is too late."""

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        self.window_bytes = 1024


@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
def test_a_window_does_not_change_as_something_leaves(
    monkeypatch: pytest.MonkeyPatch, kind: type[Simulation]
) -> None:
    narrowing = ControlKind("broken", "", TABLE, False, False, Narrowing)
    monkeypatch.setitem(CONTROLS, "broken", narrowing)
    expected = r"Narrowing.window_bytes: expected no other window after on_sent than before, got 1024"
    with pytest.raises(ControlError, match=expected):
        sending(NicControl("broken"), kind).run_until(MILLISECOND_NS)


def raising(*_: object) -> None:
    raise ZeroDivisionError("mine")


def test_what_it_raises_passes_through_and_ends_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broken, "on_timer", raising)
    monkeypatch.setattr(Broken, "deadline_ps", 500_000)
    simulation = sending(NicControl("broken"))
    with pytest.raises(ZeroDivisionError, match="mine"):
        simulation.run_until(MILLISECOND_NS)
    with pytest.raises(SimulationError, match="has raised: the simulation cannot continue"):
        simulation.control_metrics()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("window_bytes", 0, r"Broken.window_bytes: expected a whole number from 1, got 0"),
        ("window_bytes", 1.5, r"Broken.window_bytes: expected a whole number, got 1.5"),
        ("deadline_ps", "soon", r"Broken.deadline_ps: expected a whole number, got 'soon'"),
        ("cnp_gap_ps", -1, r"Broken.cnp_gap_ps: expected a whole number from 0, got -1"),
        ("deadline_ps", 0, r"Broken.deadline_ps: expected 1 or later after on_timer, got 0"),
    ],
)
def test_an_attribute_that_makes_no_sense_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, expected: str
) -> None:
    monkeypatch.setattr(Broken, name, value)
    with pytest.raises(SimulationError, match=expected):
        sending(NicControl("broken")).run_until(MILLISECOND_NS)


def test_metrics_are_numbers_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broken, "metrics", lambda _self, _now_ps: {"alpha": "high"})
    simulation = sending(NicControl("broken"))
    with pytest.raises(SimulationError, match=r"Broken.metrics\(\): expected names with numbers"):
        simulation.control_metrics()


def test_a_marked_packet_brings_a_cnp(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    monkeypatch.setattr(Broken, "cnp_gap_ps", 50_000_000)
    monkeypatch.setattr(Broken, "on_cnp", lambda _self, now_ps: heard.append(now_ps))
    marking = Marking(kmin_bytes=0, kmax_bytes=0, pmax=1)
    simulation = Star(hosts=3, marking=marking).build()
    for host in ("h0", "h1"):
        control = NicControl("broken", {"rate_bps": 10 * GBPS})
        connect(simulation, host, "h2", control=control).post_write(1, 10**6, True)
    simulation.run_until(MILLISECOND_NS)
    assert len(heard) > 10


def test_parameters_are_checked_as_the_engine_does() -> None:
    assert checked("steady", TABLE, {}) == {"rate_bps": 1e9}
    assert checked("steady", TABLE, {"rate_bps": 5}) == {"rate_bps": 5.0}
    with pytest.raises(SimulationError, match="one of the parameters rate_bps, got speed"):
        NicControl("steady", {"speed": 1}).check(10 * GBPS)
    with pytest.raises(SimulationError, match=r"expected rate_bps from 1 to 1e\+13, got 0"):
        NicControl("steady", {"rate_bps": 0}).check(10 * GBPS)


@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
def test_each_end_gets_its_own_path_facts(kind: type[Simulation]) -> None:
    """1106 bytes there and 86 back over a fast and a slow link, 1 us each: stored and forwarded."""
    simulation = network([("h0", "s0"), ("h1", "s0", {"rate_bps": GBPS})], kind)
    queue_pair = connect(simulation, "h0", "h1", control=NicControl("knowing"))
    base_rtt_ps = 884_800 + 8_848_000 + 688_000 + 68_800 + 4_000_000
    assert Knowing.told == [
        PathFacts(10 * GBPS, base_rtt_ps, mtu_bytes=1024, packet_bytes=1106, hops=1),
        PathFacts(GBPS, base_rtt_ps, mtu_bytes=1024, packet_bytes=1106, hops=1),
    ]
    queue_pair.post_write(1, 1024, True)
    simulation.record_oracle_rtt()
    simulation.run_until(MILLISECOND_NS)
    table = simulation.oracle_table()
    reth_ps = 16 * 8 * 1_000  # of a first packet, on the slow link
    [rtt_ps] = table["t_comp_ps"] - table["t_last_ps"]
    assert rtt_ps + 884_800 + 16 * 800 == pytest.approx(base_rtt_ps + reth_ps + 16 * 800, abs=10)


class Echoed(PrototypeControl):
    """Sends at line rate, and notes when the packets left that acknowledgements answer."""

    wants_acknowledgements = True
    sent_ps: list[int] = []  # noqa: RUF012 - of the test's

    def on_acknowledgement(self, now_ps: int, sent_ps: int, *_told: object) -> None:
        assert 0 < sent_ps < now_ps
        self.sent_ps.append(sent_ps)


@pytest.mark.parametrize("simulation_type", [Simulation, ReferenceSimulation])
def test_credit_is_no_acknowledgement(
    simulation_type: type[Simulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver of Ultra Ethernet grants in packets that answer nothing: no packet left at 0."""
    kind = ControlKind("echoed", "of a test", TABLE, True, False, Echoed)
    monkeypatch.setitem(CONTROLS, "echoed", kind)
    Echoed.sent_ps.clear()
    simulation = Star(2).build(simulation_type)
    transport = {"control": NicControl("echoed"), "reliability": Reliability("uet-rccc")}
    pair = connect(simulation, "h0", "h1", **transport)
    simulation.run_until(1_000)
    pair.post_write(1, 200_000, True)
    simulation.run_until(MILLISECOND_NS)
    assert simulation.statistics()["verbs_done"] == 1
    assert len(Echoed.sent_ps) >= 10
