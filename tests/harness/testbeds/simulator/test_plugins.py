"""Controls of NICs that plug-ins add: known everywhere under one name, and gone again."""

from collections.abc import Iterator

import pytest
from helpers.plugin_files import plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.testbeds.simulator.plugins import ControlParameter, register_nic_control
from rogue.simulator import CONTROLS, RECEIVER_CONTROLS, SWITCH_CONTROLS, PrototypeControl
from rogue.workloads.switch_controls import SWITCH_CONTROLS as NAMES
from rogue.workloads.transports import BASES, NIC_CONTROLS, TransportNameError, parse_transport
from rogue.workloads.transports import RECEIVER_CONTROLS as RECEIVERS


class Marked(PrototypeControl):
    """It wants marks. And more."""

    wants_marks = True
    wants_telemetry = True


class Fair(PrototypeControl):
    """It wants fair rates."""

    wants_feedback = True


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    unload_plugins()


def test_needs_of_a_control_reach_the_network() -> None:
    register_nic_control("marked", Marked)
    register_nic_control("fair", Fair)
    marked, fair = (parse_transport(f"irn+{name}") for name in ("marked", "fair"))
    assert (marked.has_marked_control, marked.has_fair_rates) == (True, False)
    assert (fair.has_marked_control, fair.has_fair_rates) == (False, True)
    assert (CONTROLS["marked"].wants_acknowledgements, CONTROLS["fair"].wants_acknowledgements) == (
        True,
        False,
    )
    assert marked.wants_telemetry
    assert NIC_CONTROLS["fair"].meaning == "It wants fair rates (a prototype in Python, slow)"
    assert parse_transport("roce+pfc+fair").outside == ("fair", "a prototype in Python, slow")
    assert parse_transport("roce+dcqcn").outside is None


def test_control_is_allowed_like_built_in_ones_and_alone() -> None:
    register_nic_control("fair", Fair)
    takers = {base for base in BASES if "fair" in BASES[base].allowed}
    assert takers == {base for base in BASES if "hpcc" in BASES[base].features}
    with pytest.raises(TransportNameError, match="at most one of"):
        parse_transport("roce+fair+dcqcn")
    unload_plugins()
    assert "fair" not in {*CONTROLS, *NIC_CONTROLS}
    with pytest.raises(TransportNameError):
        parse_transport("roce+fair")


@pytest.mark.parametrize(
    ("name", "control", "parameters", "expected"),
    [
        ("dcqcn", Fair, (), "a second nic_control dcqcn"),
        ("pfc", Fair, (), "a second nic_control pfc"),
        ("Fair", Fair, (), "expected lower-case letters"),
        ("fair", dict, (), "expected a subclass of PrototypeControl"),
        ("fair", Fair, ("g",), "expected ControlParameter"),
        ("fair", Fair, (ControlParameter("g", 2, 0, 1, "too much"),), "with its value in between"),
        ("fair", Fair, (ControlParameter("", 1, 0, 1, "none"),), "'' as the name of a parameter of fair"),
        ("fair", Fair, (ControlParameter("variant", 1, 0, 1, "ours"),), "not name or variant"),
        ("fair", Fair, (ControlParameter("g", 1, 0, 1, "one"),) * 2, "'g' as .* each once"),
    ],
)
def test_impossible_registrations_are_refused(
    name: str, control: type[PrototypeControl], parameters: tuple[ControlParameter, ...], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        register_nic_control(name, control, parameters)
    assert "fair" not in {*CONTROLS, *NIC_CONTROLS}


SWITCH = """\
#include <rogue/switch_control.h>
class Mine final : public rogue::SwitchControl {{
 public:
  Mine(const rogue::Parameters&, const rogue::Place&) {{}}
  std::uint32_t choose(const rogue::Choice& choice) override {{ return choice.hashed; }}
}};
ROGUE_SWITCH_CONTROL(Mine, "{name}", "it is mine.", {parameters});
"""
GAP = '{"gap_ns", 1, 0, 2, "a pause"}'


def test_switch_control_is_registered_and_unregistered() -> None:
    load_plugins([plugin(SWITCH.format(name="mine", parameters=GAP), "mine.h")])
    assert (SWITCH_CONTROLS["mine"].meaning, SWITCH_CONTROLS["mine"].is_aqm) == ("it is mine", False)
    entry = NAMES["mine"]
    assert (entry.selects_ports, entry.is_aqm, entry.trims) == (True, False, False)
    assert [(each.key, each.unit) for each in entry.parameters] == [("gap", "ns")]
    unload_plugins()
    assert "mine" not in {*SWITCH_CONTROLS, *NAMES}


RECEIVER = """\
#include <rogue/receiver_control.h>
class Mine final : public rogue::ReceiverControl {{
 public:
  Mine(const rogue::Parameters&, const rogue::Host&) {{}}
  void on_arrival(const rogue::Received&) override {{}}
  std::int64_t next_turn_ps() const override {{ return rogue::kNever; }}
  rogue::Grant on_turn(std::int64_t) override {{ return {{}}; }}
}};
ROGUE_RECEIVER_CONTROL(Mine, "{name}", "it is mine.", {parameters});
"""


def test_receiver_control_is_registered_and_unregistered() -> None:
    load_plugins([plugin(RECEIVER.format(name="mine", parameters=GAP), "mine.h")])
    assert RECEIVER_CONTROLS["mine"].meaning.startswith("it is mine (a control of receivers")
    name = parse_transport("uet+mine")
    assert (name.receiver_control, name.has_credits, name.outside) == (
        "mine",
        True,
        ("mine", RECEIVERS["mine"].made_as),
    )
    assert name.recovery == parse_transport("uet+rccc").recovery
    assert [base for base in BASES if "mine" in BASES[base].allowed] == ["uet"]
    with pytest.raises(TransportNameError, match="at most one of rccc, mine"):
        parse_transport("uet+rccc+mine")
    unload_plugins()
    assert "mine" not in {*RECEIVER_CONTROLS, *RECEIVERS}


@pytest.mark.parametrize(
    ("text", "name", "parameters", "words"),
    [
        (SWITCH, "Mine", GAP, "the name 'Mine' of a switch_control, expected lower-case letters"),
        (SWITCH, "mine", '{"name", 1, 0, 2, "a"}', "'name' as the name of a parameter of mine, expected"),
        (SWITCH, "mine", '{"name_ns", 1, 0, 2, "a"}', "expected names that differ without their units, and"),
        (SWITCH, "mine", GAP + ', {"gap_bytes", 1, 0, 2, "a"}', "'gap_bytes' as the name of a parameter"),
        (SWITCH, "mine", '{"gap_ns", 3, 0, 2, "a"}', "with its value in between"),
        (RECEIVER, "rccc", GAP, "a second receiver_control rccc, expected a name that no other"),
        (RECEIVER, "mine", '{"credit_max_bytes", 1, 0, 2, "a"}', "'credit_max_bytes' as the name of a"),
    ],
)
def test_impossible_names_of_compiled_controls_are_refused(
    text: str, name: str, parameters: str, words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_plugins([plugin(text.format(name=name, parameters=parameters), "mine.h")])
    assert words in str(caught.value)
    assert NAMES == RECEIVERS == {}
