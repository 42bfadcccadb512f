"""Controls of NICs that plug-ins add: known everywhere under one name, and gone again."""

from collections.abc import Iterator

import pytest

from rogue.harness.plugins.loading import unload_plugins
from rogue.harness.testbeds.simulator.features import FEATURES
from rogue.harness.testbeds.simulator.plugins import ControlParameter, register_nic_control
from rogue.simulator import CONTROLS, PrototypeControl
from rogue.workloads.transports import BASES, NIC_CONTROLS, TransportNameError, parse_transport


class Marked(PrototypeControl):
    """It wants marks. And more."""

    wants_marks = True
    wants_telemetry = True


class Told(PrototypeControl):
    """It wants to be told."""

    wants_feedback = True


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    unload_plugins()


def test_what_it_wants_is_asked_of_the_network() -> None:
    register_nic_control("marked", Marked)
    register_nic_control("told", Told)
    assert (FEATURES["marked"].is_marked, FEATURES["marked"].has_fair_rates) == (True, False)
    assert (FEATURES["told"].is_marked, FEATURES["told"].has_fair_rates) == (False, True)
    assert (CONTROLS["marked"].wants_acknowledgements, CONTROLS["told"].wants_acknowledgements) == (
        True,
        False,
    )
    assert parse_transport("irn+marked").wants_telemetry
    assert parse_transport("irn+marked").has_marked_control
    assert NIC_CONTROLS["told"].meaning == "It wants to be told (a prototype in Python, slow)"
    assert parse_transport("roce+pfc+told").outside == ("told", "a prototype in Python, slow")
    assert parse_transport("roce+dcqcn").outside is None


def test_it_goes_where_any_control_goes_and_alone() -> None:
    register_nic_control("told", Told)
    takers = {base for base in BASES if "told" in BASES[base].allowed}
    assert takers == {base for base in BASES if "hpcc" in BASES[base].features}
    with pytest.raises(TransportNameError, match="at most one of"):
        parse_transport("roce+told+dcqcn")
    unload_plugins()
    assert "told" not in {*FEATURES, *CONTROLS, *NIC_CONTROLS}
    with pytest.raises(TransportNameError):
        parse_transport("roce+told")


@pytest.mark.parametrize(
    ("name", "control", "parameters", "expected"),
    [
        ("dcqcn", Told, (), "a second nic_control dcqcn"),
        ("pfc", Told, (), "a second nic_control pfc"),
        ("Told", Told, (), "expected lower-case letters"),
        ("told", dict, (), "expected a subclass of PrototypeControl"),
        ("told", Told, ("g",), "expected ControlParameter"),
        ("told", Told, (ControlParameter("g", 2, 0, 1, "too much"),), "with its value in between"),
        ("told", Told, (ControlParameter("", 1, 0, 1, "none"),), "'' as the name of a parameter of told"),
        ("told", Told, (ControlParameter("variant", 1, 0, 1, "ours"),), "not name or variant"),
        ("told", Told, (ControlParameter("g", 1, 0, 1, "one"),) * 2, "'g' as .* each once"),
    ],
)
def test_what_cannot_be_is_refused(
    name: str, control: type[PrototypeControl], parameters: tuple[ControlParameter, ...], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        register_nic_control(name, control, parameters)
    assert "told" not in {*FEATURES, *CONTROLS, *NIC_CONTROLS}
