"""Test the contracts of controls in NICs, switches and receivers."""

from collections.abc import Iterator, Mapping

import pytest
from helpers import receiver_files, switch_files
from helpers.plugin_files import plugin

from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.testbeds.simulator.control_contract import (
    nic_control_faults,
    receiver_control_faults,
    switch_control_faults,
)
from rogue.harness.testbeds.simulator.plugins import ControlParameter, register_nic_control
from rogue.simulator import CONTROLS, PrototypeControl, SimulationError


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    unload_plugins()


@pytest.mark.parametrize("name", CONTROLS)
def test_every_shipped_control_keeps_its_contract(name: str) -> None:
    assert nic_control_faults(name) == []


class Kept(PrototypeControl):
    """It does nothing, and that right."""

    wants_marks = True
    cnp_gap_ps = 50_000_000


class Unbuildable(Kept):
    """Its least value is one too small."""

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        self.rate_bps = int(line_rate_bps / parameters["part"])


class Contradicting(Kept):
    """It refuses a bound in words, and may."""

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        if parameters["part"] == 0:
            raise SimulationError("part: expected more")


class Raising(Kept):
    """It raises at the first CNP."""

    def on_cnp(self, now_ps: int) -> None:
        raise KeyError("mine")


class Stopping(Kept):
    """Its rate falls to nothing."""

    def on_cnp(self, now_ps: int) -> None:
        self.rate_bps //= 2


class Shared(Kept):
    """It depends on the number of all CNPs."""

    calls = 0

    def on_cnp(self, now_ps: int) -> None:
        Shared.calls += 1
        self.rate_bps = 10**9 + Shared.calls


class Hurried(Kept):
    """A timer that is always due."""

    def on_cnp(self, now_ps: int) -> None:
        self.deadline_ps = now_ps

    def on_timer(self, now_ps: int) -> None:
        self.deadline_ps = now_ps + 1


class Undefined(Kept):
    """Its metric is NaN."""

    def metrics(self, now_ps: int) -> dict[str, float]:
        return {"ratio": float("nan")}


class Infinite(Kept):
    """Its metric is infinite."""

    def metrics(self, now_ps: int) -> dict[str, float]:
        return {"ratio": float("inf")}


class Growing(Kept):
    """Its metrics change their names."""

    heard = 0

    def on_cnp(self, now_ps: int) -> None:
        self.heard += 1

    def metrics(self, now_ps: int) -> dict[str, float]:
        return {f"after_{self.heard}": 1.0}


class Telemetric(Kept):
    """It takes what switches write for granted, and hears of no CNP."""

    wants_telemetry = True

    def on_acknowledgement(self, *arguments: object) -> None:
        hops = arguments[-1]
        assert isinstance(hops, list)
        self.rate_bps = hops[0][3]


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (Unbuildable, "with part = 0, at 10000000000 bit/s: Unbuildable cannot be made: ZeroDivisionError"),
        (Raising, "it raises KeyError: 'mine' (line rate 10000000000 bit/s, sequence 0)"),
        (Stopping, "Stopping.rate_bps: expected a whole number from 1, got 0 (line rate"),
        (Shared, "the last on_cnp: the same calls gave another result, expected no clock"),
        (Hurried, "on_timer asked to be called again 1000 times within 500 us"),
        (Infinite, "the last on_cnp: metrics() has a value that is not finite: {"),
        (Undefined, "the last on_cnp: metrics() has a value that is not finite: {'ratio': nan}"),
        (Growing, "metrics() has other names than before: after_0, after_1"),
    ],
)
def test_broken_contract_is_a_sentence(control: type[PrototypeControl], words: str) -> None:
    register_nic_control("mine", control, [ControlParameter("part", 1, 0, 2, "of the line's rate")])
    assert words in nic_control_faults("mine")[0]


@pytest.mark.parametrize("control", [Kept, Contradicting, Telemetric])
def test_kept_contract_has_no_faults(control: type[PrototypeControl]) -> None:
    register_nic_control("mine", control, [ControlParameter("part", 1, 0, 2, "of the line's rate")])
    assert nic_control_faults("mine") == []


def test_control_that_sends_nothing_is_a_fault() -> None:
    class Silent(Kept):
        """Its rate is one bit per second."""

        def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
            self.rate_bps = 1

    register_nic_control("mine", Silent)
    assert nic_control_faults("mine") == [
        "in a network of 4 hosts: nothing arrived within 3 ms, expected some transfers to end"
    ]


def test_parameter_without_a_meaning_is_a_fault() -> None:
    register_nic_control("mine", Kept, [ControlParameter("part", 1, 0, 2, " ")])
    assert nic_control_faults("mine") == ["part has no meaning in words"]


SWITCH_HEADER = """\
#include <rogue/switch_control.h>
#include <cstdint>
{before}
class Mine final : public rogue::SwitchControl {{
 public:
  Mine(const rogue::Parameters&, const rogue::Place&) {{}}
  {body}
}};
ROGUE_SWITCH_CONTROL(Mine, "mine", "it is tried", {{"x", 1, 0, 2, "{meaning}"}});
"""
ARRIVAL = "rogue::Verdict on_arrival(const rogue::Arrival&) override"
TAKE = "rogue::Verdict::kTake"
CHOICE = "std::uint32_t choose(const rogue::Choice& choice) override"


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("x has no meaning in words", {"meaning": " "}),
        ("it has none of on_arrival, on_departure and choose", {"body": ""}),
        (
            "it trims, and has no on_arrival, which alone may say so",
            {"body": f"static constexpr bool trims = true; {CHOICE} {{ return choice.hashed; }}"},
        ),
        (
            "nothing arrived within 3 ms, expected some transfers to end",
            {"body": f"{ARRIVAL} {{ return rogue::Verdict::kDrop; }}"},
        ),
        (
            "the same calls gave another result",
            {
                "before": "static int calls = 0;",
                "body": f"{ARRIVAL} {{ return ++calls % 97 ? {TAKE} : rogue::Verdict::kDrop; }}",
            },
        ),
        ("mine.choose: expected a port below 3, got 3", {"body": f"{CHOICE} {{ return 3; }}"}),
        ("on_arrival: stop", {"body": f'{ARRIVAL} {{ rogue::fail("stop"); }}'}),
    ],
)
def test_broken_contract_of_a_switch_control_is_a_sentence(words: str, changed: dict[str, str]) -> None:
    usual = {"before": "", "body": f"{ARRIVAL} {{ return {TAKE}; }}", "meaning": "a"}
    load_plugins([plugin(SWITCH_HEADER.format(**usual | changed), "mine.h")])
    (fault,) = switch_control_faults("mine")
    assert words in fault


RECEIVER_HEADER = """\
#include <rogue/receiver_control.h>
#include <cstdint>
{before}
class Mine final : public rogue::ReceiverControl {{
 public:
  Mine(const rogue::Parameters&, const rogue::Host&) {{}}
  void on_arrival(const rogue::Received& packet) override {{
    next_ps_ = packet.now_ps;
    connection_ = packet.connection;
  }}
  std::int64_t next_turn_ps() const override {{ return next_ps_; }}
  rogue::Grant on_turn(std::int64_t now_ps) override {{
    next_ps_ = {next};
    {turn}
  }}

 private:
  std::int64_t next_ps_ = rogue::kNever;
  std::uint32_t connection_ = 0;
}};
ROGUE_RECEIVER_CONTROL(Mine, "mine", "it is tried", {{"x", 1, 0, 2, "{meaning}"}});
"""


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("x has no meaning in words", {"meaning": " "}),
        ("transfers ended within", {"turn": "return {};"}),
        (
            "the same calls gave another result",
            {"before": "static int calls = 0;", "turn": "return {connection_, ++calls % 97 * 100};"},
        ),
        ("expected a connection below 6 or kNobody, got 6", {"turn": "return {6, 1};"}),
        ("or later after on_turn", {"next": "now_ps", "turn": "return {};"}),
        ("on_turn: stop", {"turn": 'rogue::fail("stop");'}),
    ],
)
def test_broken_contract_of_a_receiver_control_is_a_sentence(words: str, changed: dict[str, str]) -> None:
    usual = {"before": "", "next": "rogue::kNever", "turn": "return {connection_, 9000};", "meaning": "a"}
    load_plugins([plugin(RECEIVER_HEADER.format(**usual | changed), "mine.h")])
    (fault,) = receiver_control_faults("mine")
    assert words in fault


@pytest.mark.parametrize("name", switch_files.NAMES)
def test_switch_controls_of_the_tests_keep_their_contracts(name: str) -> None:
    with switch_files.loaded(name):
        assert switch_control_faults(name) == []


@pytest.mark.parametrize("name", receiver_files.NAMES)
def test_receiver_controls_of_the_tests_keep_their_contracts(name: str) -> None:
    with receiver_files.loaded(name):
        assert receiver_control_faults("rccc_outside" if name == "rccc" else name) == []


def test_no_file_is_left_out() -> None:
    for folder, names in (
        (switch_files.SWITCHES, switch_files.NAMES),
        (receiver_files.RECEIVERS, receiver_files.NAMES),
    ):
        assert {file.stem for file in folder.glob("*.h")} == {*names, "grim", "witness"}
