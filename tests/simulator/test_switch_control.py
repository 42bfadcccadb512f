"""Parts of switches from outside: where they do what the engine does they are equal to it, on both."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

import pytest
from helpers.networks import MILLISECOND_NS, ReferenceSimulation, assert_equal_runs, counter
from helpers.random_fabrics import fabric
from helpers.switch_files import NAMES, SWITCHES, fan_in, loaded, outcome, two_tier, with_controls

from rogue.simulator import (
    ControlError,
    Marking,
    NicControl,
    PriorityFlowControl,
    Reliability,
    Simulation,
    SimulationError,
    Spraying,
    SwitchControl,
    Trimming,
)
from rogue.simulator.plugin_controls import switch_control_arguments

UNTIL_NS = 5 * MILLISECOND_NS
STEP = Marking(kmin_bytes=20_000, kmax_bytes=20_000, pmax=1.0, at="arrival")
RED = Marking(kmin_bytes=5_000, kmax_bytes=60_000, pmax=0.5)
UET = {"line_rate_bps": 10e9, "base_rtt_ns": 6_000, "target_delay_ns": 4_500, "sack_every_bytes": 1}
ENGINES = (Simulation, ReferenceSimulation)


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    with loaded(*NAMES, "grim"):
        yield


def step() -> SwitchControl:
    return SwitchControl("step", {"above_bytes": 20_000})


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(
    ("reliability", "control"),
    [(Reliability("dctcp"), None), (None, NicControl("dcqcn"))],
    ids=["dctcp", "dcqcn"],
)
def test_a_step_plugin_equals_the_engine(
    kind: type[Simulation], reliability: Reliability | None, control: NicControl | None
) -> None:
    own = outcome(fan_in(kind, [step()], reliability, control), UNTIL_NS)
    engines = fan_in(kind, (), reliability, control, marking=STEP)
    assert own == outcome(engines, UNTIL_NS)
    assert counter(engines, "marked_packets") > 10


@pytest.mark.parametrize("kind", ENGINES)
def test_what_may_not_be_marked_is_taken(kind: type[Simulation]) -> None:
    simulation = fan_in(kind, [step()], Reliability("reno"), buffer_bytes=None)
    simulation.run_until(UNTIL_NS)
    assert counter(simulation, "marked_packets") == counter(simulation, "drops") == 0


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("pause", [None, PriorityFlowControl(mtu_bytes=1024, xoff_bytes=20_000)])
def test_a_slope_plugin_equals_the_engine_with_the_same_random_numbers(
    kind: type[Simulation], pause: PriorityFlowControl | None
) -> None:
    shape = {"kmin_bytes": 5_000, "kmax_bytes": 60_000, "pmax": 0.5}
    control = NicControl("dcqcn")
    buffer = {"buffer_bytes": 2_000_000, "flow_control": pause}
    own = outcome(fan_in(kind, [SwitchControl("red", shape)], None, control, **buffer), UNTIL_NS)
    engines = fan_in(kind, (), None, control, marking=RED, **buffer)
    assert own == outcome(engines, UNTIL_NS)
    assert counter(engines, "marked_packets") > 10


@pytest.mark.parametrize("kind", ENGINES)
def test_a_trimming_plugin_equals_the_engine(kind: type[Simulation]) -> None:
    uet = Reliability("uet", UET, 7)
    own = outcome(fan_in(kind, [SwitchControl("cut")], uet), UNTIL_NS)
    engines = fan_in(kind, (), uet, trimming=Trimming(20_000))
    theirs = outcome(engines, UNTIL_NS)
    assert counter(engines, "trimmed_packets") > 10
    judged = [each for each in own["counters"] if each[2] != "marked_packets"]  # type: ignore[attr-defined]
    assert own | {"counters": judged} == theirs, "a switch that judges counts marks, too"


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("spraying", [None, Spraying(), Spraying(paths=4)])
def test_a_hash_plugin_equals_the_switch(kind: type[Simulation], spraying: Spraying | None) -> None:
    asked = {"reliability": Reliability("irn"), "spraying": spraying}
    own = outcome(two_tier(kind, [SwitchControl("hashed")], **asked), UNTIL_NS)
    assert own == outcome(two_tier(kind, **asked), UNTIL_NS)


def test_drill_leaves_less_waiting_than_one_way_per_connection() -> None:
    asked = {"reliability": Reliability("irn", {"threshold_nacks": 64})}
    longest = {}
    for name in ("hashed", "drill"):
        simulation = two_tier(controls=[SwitchControl(name)], **asked)
        simulation.run_until(UNTIL_NS)
        longest[name] = int(simulation.queue_table()["max_bytes"].max())
        assert simulation.statistics()["verbs_done"] == 4
    assert longest["drill"] < longest["hashed"] / 4


@pytest.mark.parametrize("target_ns", [20_000, 60_000])
def test_pi2_holds_the_delay_at_its_target(target_ns: int) -> None:
    """At 10 Gb/s a queueing delay of 1 ns is 1.25 wire bytes."""
    control = SwitchControl("pi2", {"target_ns": target_ns})
    simulation = fan_in(controls=[control], reliability=Reliability("dctcp"), size_bytes=4 * 10**6)
    simulation.run_until(12 * MILLISECOND_NS)
    table = simulation.queue_table()
    is_settled = (table["port"] == "s0->h0") & (table["t_ns"] > 4 * MILLISECOND_NS)
    both = [table["bytes"][is_settled & (table["priority"] == priority)] for priority in (0, 1)]
    assert median((both[0] + both[1]).tolist()) == pytest.approx(1.25 * target_ns, rel=0.2)


@pytest.mark.parametrize("kind", ENGINES)
def test_flowlets_change_their_way_after_a_gap_and_never_within_one(kind: type[Simulation]) -> None:
    """A message, a pause, another message: the ways of packets on a port of the first switch say it."""
    ways = {}
    for gap_ns in (20_000, 10**9):
        control = SwitchControl("flowlet", {"gap_ns": gap_ns})
        simulation = two_tier(kind, [control], messages=12, every_ns=100_000)
        simulation.record_packets([f"leaf0->spine{spine}" for spine in range(4)])
        simulation.run_until(UNTIL_NS)
        table = simulation.packet_table()
        data = table["payload_bytes"] > 0
        one = data & (table["qp_num"] == table["qp_num"][data][0])
        ports = [str(port) for port in table["port"][one]]
        ways[gap_ns] = [ports[0], *(later for earlier, later in pairwise(ports) if later != earlier)]
        assert counter(simulation, "naks") == 0, "nothing came out of order"
    assert len(ways[10**9]) == 1
    assert 1 < len(ways[20_000]) <= 12


def test_codel_marks_what_has_waited_for_long() -> None:
    """Worked by hand: packets wait longer than the target from early on; the first mark is an interval later.

    The next gap is an interval, and then it shrinks by the root of the number of marks: RFC 8289, section 5.
    """
    codel = SwitchControl("codel", {"target_ns": 5_000, "interval_ns": 50_000})
    simulation = fan_in(controls=[codel], buffer_bytes=None)
    simulation.record_packets(["s0->h0"])
    simulation.run_until(UNTIL_NS)
    table = simulation.packet_table()
    left_us = table["t_ps"][table["marked"] & (table["priority"] == 0)] / 1e6
    first_us = table["t_ps"][table["priority"] == 0][0] / 1e6
    assert left_us[0] > first_us + 50
    gaps_us = [round(float(later - earlier)) for earlier, later in pairwise(left_us)]
    assert gaps_us[:3] == pytest.approx([50, 50 / 2**0.5, 50 / 3**0.5], abs=3.0)


@pytest.mark.parametrize("name", [*NAMES, "grim"])
def test_both_engines_do_the_same_in_two_tiers(name: str) -> None:
    values = {"mood": 8} if name == "grim" else {}

    def build(kind: type[Simulation]) -> Simulation:
        return two_tier(kind, [SwitchControl(name, values)], reliability=Reliability("uet", UET, 7))

    assert_equal_runs(build, UNTIL_NS)


@pytest.mark.parametrize("name", ["codel", "grim"])
def test_both_engines_do_the_same_at_input_queued_switches(name: str) -> None:
    values = {"mood": 8} if name == "grim" else {"target_ns": 2_000, "interval_ns": 10_000}
    features = {"kind": "voq", "flow_control": PriorityFlowControl(mtu_bytes=1024, xoff_bytes=20_000)}

    def build(kind: type[Simulation]) -> Simulation:
        return fan_in(kind, [SwitchControl(name, values)], Reliability("irn"), **features)

    assert_equal_runs(build, UNTIL_NS)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["grim", "codel"])
def test_both_engines_do_the_same_in_random_fabrics(name: str, seed: int) -> None:
    """With pauses, watchdogs, weights, telemetry, losses, READs and connections that fail."""
    values = {"mood": 8} if name == "grim" else {"target_ns": 2_000, "interval_ns": 10_000}
    assert_equal_runs(with_controls(fabric(seed, flows=25), SwitchControl(name, values)), 400_000)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("mood", [1, 2, 3, 4, 5, 6, 7])
def test_an_error_of_a_switch_control_names_its_place(kind: type[Simulation], mood: int) -> None:
    words = {
        1: "its constructor: not today",
        2: "its constructor: there is no parameter temper",
        3: "on_arrival: tired",
        4: "grim.on_arrival: expected kTake, kMark or kDrop, got 3",
        5: "on_departure: it threw what is no std::exception",
        6: "grim.on_departure: expected kTake, kMark or kDrop, got 17",
        7: "grim.choose: expected a port below 4, got 4",
    }
    lines = (SWITCHES / "grim.h").read_text().splitlines()
    line = {2: "temper", 3: "tired"}.get(mood)
    number = next((f":{at}" for at, text in enumerate(lines, 1) if line and line in text), "")
    with pytest.raises(ControlError) as caught:
        two_tier(kind, [SwitchControl("grim", {"mood": mood})]).run_until(UNTIL_NS)
    assert str(caught.value) == words[mood]
    assert caught.value.place == f"{SWITCHES / 'grim.h'}{number}"


def test_a_plugin_that_raised_is_not_called_again() -> None:
    simulation = two_tier(controls=[SwitchControl("grim", {"mood": 3})])
    with pytest.raises(ControlError, match="tired"):
        simulation.run_until(UNTIL_NS)
    with pytest.raises(ControlError, match="grim has raised: the simulation cannot continue"):
        simulation.run_until(2 * UNTIL_NS)


@pytest.mark.parametrize(
    ("controls", "features", "words"),
    [
        (["step", "red"], {}, "expected one control that marks, drops or trims packets, got red in addition"),
        (["drill", "hashed"], {}, "expected one control that selects ports, got hashed in addition"),
        (["step"], {"marking": STEP}, "expected marking or step, which marks or drops packets, got both"),
        (["cut"], {"trimming": Trimming(1)}, "expected trimming or cut, which trims, got both"),
        (
            ["stepp"],
            {},
            "expected one of step, red, codel, drill, hashed, cut, flowlet, pi2, grim, got 'stepp'",
        ),
    ],
)
def test_incompatible_switch_controls_are_refused(
    controls: list[str], features: dict[str, object], words: str
) -> None:
    with pytest.raises(SimulationError, match=words):
        fan_in(Simulation, [SwitchControl(name) for name in controls], **features)  # type: ignore[arg-type]


def test_a_judge_and_a_chooser_may_be_combined() -> None:
    simulation = two_tier(controls=[step(), SwitchControl("drill")], reliability=Reliability("irn"))
    simulation.run_until(UNTIL_NS)
    assert simulation.statistics()["verbs_done"] == 4


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        ({"service": "uc"}, "got service uc, which drops a message"),
        ({"control": NicControl("rocc")}, "got rocc, whose switches send feedback along the reverse path"),
    ],
)
def test_connections_that_need_one_way_are_refused_where_switches_choose(
    connection: dict[str, object], words: str
) -> None:
    with pytest.raises(SimulationError, match=words):
        two_tier(controls=[SwitchControl("drill")], **connection)


def test_a_value_out_of_bounds() -> None:
    with pytest.raises(SimulationError, match="step: expected above_bytes from 0 to 1e"):
        fan_in(controls=[SwitchControl("step", {"above_bytes": -1})])


PACKET = (
    "priority 0 flow {flow} entropy 0 data 1 markable 1 marked 0 trimmable 0 "
    "rate {rate} switch {switch} host 0"
)
FIRST_PS = 1_897_600
"""A cable of 1 us and the 1122 bytes of a first packet of a WRITE, at 10 Gb/s."""


def equal_ports(sending: tuple[int, ...]) -> str:
    """Return the fields of the four ports, some of which are sending their first packet."""
    return " ".join(
        f"[rate 10000000000 queue 0 sent {1102 if port in sending else 0} number {port} "
        f"sending {int(port in sending)} ]"
        for port in (16, 18, 20, 22)
    )


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(
    ("question", "call", "told", "place"),
    [
        (0, 1, f"now {FIRST_PS} queue 0 port 0 wait 0 frame 1102", (9, 10**10, 0)),
        (0, 3, f"now {FIRST_PS + 884_800} queue 1102 port 1102 wait 1 frame 1086", (7, 10**10, 0)),
        (1, 1, f"now {FIRST_PS} waited 0 queue 0 port 0 frame 1102", (9, 10**10, 0)),
        (2, 1, f"now {FIRST_PS} hashed 2 {equal_ports(())} frame 1102", (9, 0, 1)),
        (2, 3, f"now {FIRST_PS} hashed 0 {equal_ports((16, 20))} frame 1102", (5, 0, 1)),
    ],
)
def test_each_field_has_its_unit_and_its_value(
    kind: type[Simulation], question: int, call: int, told: str, place: tuple[int, int, int]
) -> None:
    flow, rate, switch = place
    with loaded("witness"):
        control = SwitchControl("witness", {"question": question, "call": call})
        simulation = two_tier(kind, [control], reliability=Reliability("irn"))
        with pytest.raises(ControlError) as caught:
            simulation.run_until(UNTIL_NS)
    words = f"{told} {PACKET.format(flow=flow, rate=rate, switch=switch)}"
    name = ("on_arrival", "on_departure", "choose")[question]
    assert str(caught.value).strip() == f"{name}: {words}"


def test_one_that_trims_has_no_threshold_beside_it() -> None:
    arguments = switch_control_arguments("s0", [SwitchControl("cut")], {})
    assert arguments["trimming"] == {"above_bytes": None, "priority": 7}


@pytest.mark.parametrize("kind", ENGINES)
def test_a_read_request_may_be_marked_and_carries_no_data(kind: type[Simulation]) -> None:
    with loaded("witness"):
        simulation = fan_in(kind, [SwitchControl("witness", {"question": 0})], size_bytes=0)
        reader, _ = simulation.connect("h0", "h1", mtu_bytes=1024, retry_count=7, timeout_exponent=14)
        reader.post_read(1, 1024, True)
        with pytest.raises(ControlError, match=r"frame 78 .* data 0 markable 1 "):
            simulation.run_until(UNTIL_NS)
