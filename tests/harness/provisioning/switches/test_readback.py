"""Recorded answers of switches and the numbers in them: marks and pauses, none, or not known."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from helpers.fake_switch import wanted

from rogue.harness.provisioning.switches.platform import load_platform
from rogue.harness.provisioning.switches.readback import (
    PortState,
    SwitchState,
    marking_reported,
    priority_reported,
)
from rogue.harness.provisioning.switches.settings import PrioritySettings

INTERFACE = {
    "comware": "Ten-GigabitEthernet1/0/1", "cumulus": "swp1", "eos": "Ethernet1",
    "onyx": "1/2", "sonic": "Ethernet0",
}  # fmt: skip
NOT_KNOWN = None


def state_of(platform: str, reply: str, ports: str = "", **variables: Any) -> SwitchState:
    loaded = load_platform(platform)
    requested = wanted(platform, (INTERFACE[platform],), **variables)
    return loaded.state(loaded.configuration(reply), ports, requested)


def check(platform: str, reply: str, expected: Mapping[int, PrioritySettings] | None, **given: Any) -> None:
    (port,) = state_of(platform, reply, **given).ports.values()
    assert port.priorities == expected
    if expected is NOT_KNOWN:
        assert (port.of_priority(3), list(port.not_known)) == (None, list(range(8)))
        assert all(port.not_known.values()), "the line is named"


def marks(from_bytes: int, to_bytes: int, percent: int, **others: Any) -> PrioritySettings:
    return priority_reported(marks=marking_reported(from_bytes, to_bytes, percent), **others)


PORT, QUEUE = "interface Ethernet1\n", "   uc-tx-queue 3\n"
PFC = "   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"
ECN = "      random-detect ecn minimum-threshold {} maximum-threshold {} max-mark-probability 10 weight 0\n"
SMALL, LARGE = ECN.format("1 bytes", "2 bytes"), ECN.format("3 bytes", "4 bytes")
USES, PROFILE = "   service-profile P\n", "qos profile P\n"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (PORT, {}),
        (PORT + PFC, {3: priority_reported(pauses=True)}),
        (PORT + "   priority-flow-control priority 3 no-drop\n", {}),
        (PORT + QUEUE + ECN.format("150 kbytes", "1500000 bytes"), {3: marks(150_000, 1_500_000, 10)}),
        (PORT + QUEUE + ECN.format("1 mbytes", "2 mbytes"), {3: marks(1_000_000, 2_000_000, 10)}),
        (PORT + "   tx-queue 3\n" + SMALL, {3: marks(1, 2, 10)}),
        (PORT + USES + PROFILE + PFC + QUEUE + SMALL, {3: marks(1, 2, 10, pauses=True)}),
        (PORT + USES + QUEUE + SMALL + PROFILE + QUEUE + SMALL, {3: marks(1, 2, 10)}),
        (PORT + QUEUE + "      random-detect ecn count\n", {}),
        (PORT + USES, NOT_KNOWN),
        (PORT + "   channel-group 7 mode active\n", NOT_KNOWN),
        (PORT + "   profile rack\n", NOT_KNOWN),
        (PORT + QUEUE + ECN.format("700 segments", "7000 segments"), NOT_KNOWN),
        (PORT + QUEUE + ECN.format("10 microseconds", "20 microseconds"), NOT_KNOWN),
        (PORT + USES + "   priority-flow-control on\n" + PROFILE + PFC, NOT_KNOWN),
        (PORT + USES + QUEUE + SMALL + PROFILE + QUEUE + LARGE, NOT_KNOWN),
    ],
)
def test_eos(reply: str, expected: Mapping[int, PrioritySettings] | None) -> None:
    check("eos", f"{reply}end\n", expected)


TEN, TABLE = "interface Ten-GigabitEthernet1/0/1\n", "qos wred queue table theirs\n"
LEVELS = [
    f" queue 5 drop-level {each} low-limit 10 high-limit 11 discard-probability 100\n" for each in range(3)
]
STEP = "".join((*LEVELS, " queue 5 ecn\n"))
APPLIES, LISTED = " qos wred apply theirs\n", " priority-flow-control no-drop dot1p 3,4\n"


INSTANTANEOUS = " queue 5 weighting-constant 0\n"


def wred(from_bytes: int, to_bytes: int, percent: int, average_weight: float) -> PrioritySettings:
    """Return the marks of Comware, which drops beyond them."""
    return priority_reported(
        marks=marking_reported(from_bytes, to_bytes, percent, average_weight, drops_above=True)
    )


@pytest.mark.parametrize(
    ("reply", "cell_bytes", "expected"),
    [
        (TEN + APPLIES + TABLE + STEP, 208, {5: wred(2_080, 2_080, 100, 2**-9)}),
        (TEN + APPLIES + TABLE + STEP + INSTANTANEOUS, 208, {5: wred(2_080, 2_080, 100, 1)}),
        (
            TEN + APPLIES + TABLE + STEP.replace("high-limit 11", "high-limit 90"),
            208,
            {5: wred(2_080, 18_720, 100, 2**-9)},
        ),
        (
            TEN + APPLIES + TABLE + STEP.replace("probability 100", "probability 50"),
            208,
            {5: wred(2_080, 2_080, 50, 2**-9)},
        ),
        (TEN + APPLIES + TABLE + STEP, None, NOT_KNOWN),
        (TEN + APPLIES + TABLE + "".join(LEVELS), 208, NOT_KNOWN),
        (TEN + APPLIES + TABLE + "".join((*LEVELS[:2], " queue 5 ecn\n")), 208, NOT_KNOWN),
        (TEN + APPLIES + TABLE + STEP.replace("low-limit 10", "low-limit 9", 1), 208, NOT_KNOWN),
        (TEN + APPLIES, 208, NOT_KNOWN),
        (TEN + " port link-aggregation group 4\n", 208, NOT_KNOWN),
        (TEN + " priority-flow-control auto\n" + LISTED, 208, NOT_KNOWN),
        (TEN + LISTED, 208, {}),
        (
            TEN + " priority-flow-control enable\n" + LISTED,
            208,
            {3: priority_reported(pauses=True), 4: priority_reported(pauses=True)},
        ),
    ],
)
def test_comware(reply: str, cell_bytes: int | None, expected: Mapping[int, PrioritySettings] | None) -> None:
    check("comware", f"#\n{reply}return\n", expected, switch_cell_bytes=cell_bytes)


BINDS = "nv set interface swp1 qos congestion-control profile theirs\n"
CLASS = "nv set qos congestion-control {} traffic-class 3 {}\n"
NUMBERS = ("ecn enable", "min-threshold 1", "max-threshold 2", "probability 3")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (BINDS, {}),
        (BINDS + "".join(CLASS.format("theirs", each) for each in NUMBERS), {3: marks(1, 2, 3)}),
        (
            "nv set qos pfc default-global switch-priority 4\n"
            + "".join(CLASS.format("default-global", each) for each in NUMBERS),
            {3: marks(1, 2, 3), 4: priority_reported(pauses=True)},
        ),
        (BINDS + CLASS.format("theirs", "ecn disable"), {}),
        (BINDS + CLASS.format("theirs", "ecn enable"), NOT_KNOWN),
        ("nv set qos roce\nnv set qos roce mode lossless\n", NOT_KNOWN),
    ],
)
def test_cumulus(reply: str, expected: Mapping[int, PrioritySettings] | None) -> None:
    check("cumulus", reply, expected)


def test_cumulus_marks_priority_0_by_a_profile_that_no_line_shows() -> None:
    (port,) = state_of("cumulus", "").ports.values()
    assert (port.of_priority(0), port.of_priority(3)) == (None, PrioritySettings())
    assert port.not_known == {0: "no profile of congestion-control, so that default-global counts"}


ETHERNET, CONGESTION = "interface ethernet 1/2 ", "traffic-class 3 congestion-control "
PRIORITY = "dcb priority-flow-control enable\ndcb priority-flow-control priority 3 enable\n"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", {}),
        (
            f"{ETHERNET}{CONGESTION}ecn minimum-absolute 70 maximum-absolute 80\n",
            {3: marks(70_000, 80_000, 100)},
        ),
        (PRIORITY, {}),
        (
            f"{PRIORITY}interface ethernet 1/1-1/4 dcb priority-flow-control mode on force\n",
            {3: priority_reported(pauses=True)},
        ),
        (f"{ETHERNET}{CONGESTION}red minimum-absolute 70\n", NOT_KNOWN),
        ("roce lossless\n", NOT_KNOWN),
        (f"{ETHERNET}channel-group 5 mode on\n", NOT_KNOWN),
        (f"{ETHERNET}mlag-channel-group 5 mode active\n", NOT_KNOWN),
    ],
)
def test_onyx(reply: str, expected: Mapping[int, PrioritySettings] | None) -> None:
    check("onyx", reply, expected)


WRED = {
    "ecn": "ecn_all",
    "wred_green_enable": "true",
    "green_min_threshold": "98670",
    "green_max_threshold": "200000",
    "green_drop_probability": "5",
}
TABLES: dict[str, Any] = {
    "PORT": {"Ethernet0": {"speed": "25000", "mtu": "9100"}},
    "QUEUE": {"Ethernet0|3-4": {"wred_profile": "AZURE_LOSSLESS"}, "Ethernet4|0": {"wred_profile": "X"}},
    "WRED_PROFILE": {"AZURE_LOSSLESS": WRED},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "4"}},
    "BUFFER_PG": {"Ethernet0|4": {"profile": "pg"}},
    "BUFFER_PROFILE": {"pg": {"xoff": "35776", "dynamic_th": "-4"}},
    "BUFFER_POOL": {"ingress_lossless_pool": {"size": "12766208"}},
}
PAUSES = {"pauses": True, "headroom_bytes": 35_776, "pause_alpha": 1 / 16}
BOTH = {3: marks(98_670, 200_000, 5), 4: marks(98_670, 200_000, 5, **PAUSES)}
LIST = "Ethernet8,Ethernet0"


def wred(**fields: str) -> dict[str, Any]:
    return {"WRED_PROFILE": {"AZURE_LOSSLESS": {**WRED, **fields}}}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, BOTH),
        (wred(ecn="ecn_none"), {4: priority_reported(**PAUSES)}),
        (wred(wred_green_enable="false"), {4: priority_reported(**PAUSES)}),
        (wred(green_drop_probability="0"), {
            3: marks(98_670, 200_000, 0), 4: marks(98_670, 200_000, 0, **PAUSES),
        }),
        ({"PORT_QOS_MAP": {LIST: {"pfc_enable": "3,4"}}, "BUFFER_PG": {}}, {
            number: marks(98_670, 200_000, 5, pauses=True) for number in (3, 4)
        }),
        ({"QUEUE": {f"{LIST}|3-4": {"wred_profile": "[WRED_PROFILE|AZURE_LOSSLESS]"}}}, BOTH),
        ({"BUFFER_PG": {f"{LIST}|3-4": {"profile": "[BUFFER_PROFILE|pg]"}}}, BOTH),
        ({"QUEUE": {"Ethernet0|3,4": {"wred_profile": "AZURE_LOSSLESS"}}}, NOT_KNOWN),
        ({"WRED_PROFILE": {}}, NOT_KNOWN),
        ({"BUFFER_PROFILE": {}}, NOT_KNOWN),
        (wred(green_min_threshold="half"), NOT_KNOWN),
    ],
)  # fmt: skip
def test_sonic(changed: dict[str, Any], expected: Mapping[int, PrioritySettings] | None) -> None:
    """`dynamic_th` -4 is alpha 1/16; without a probability it is 100."""
    check("sonic", json.dumps({**TABLES, **changed}), expected)


def test_wred_profile_without_a_probability_marks_every_packet() -> None:
    fields = {name: value for name, value in WRED.items() if name != "green_drop_probability"}
    tables = {"WRED_PROFILE": {"A": fields}, "QUEUE": {"Ethernet0|3": {"wred_profile": "A"}}}
    check("sonic", json.dumps(tables), {3: marks(98_670, 200_000, 100)})


EOS_PORT, NVUE_PORT = '{{"interfaces": {{"Ethernet1": {}}}}}', '{{"swp1": {{"link": {}}}}}'


@pytest.mark.parametrize(
    ("platform", "ports", "rate_bps", "mtu_bytes"),
    [
        ("eos", EOS_PORT.format('{"bandwidth": 10000000000, "mtu": 9214}'), 10_000_000_000, 9214),
        ("eos", EOS_PORT.format('{"bandwidth": 0}'), None, None),
        ("eos", "% Invalid input", None, None),
        ("eos", '{"interfaces": [', None, None),
        ("eos", '{"interfaces": 3}', None, None),
        ("cumulus", NVUE_PORT.format('{"speed": "100G", "mtu": 9216}'), 100_000_000_000, 9216),
        ("cumulus", NVUE_PORT.format('{"speed": "2.5G", "mtu": "9216"}'), 2_500_000_000, 9216),
        ("cumulus", NVUE_PORT.format('{"speed": "100M", "mtu": true}'), 100_000_000, None),
        ("cumulus", NVUE_PORT.format('{"speed": "auto"}'), None, None),
    ],
)
def test_rates_and_mtus(platform: str, ports: str, rate_bps: int | None, mtu_bytes: int | None) -> None:
    (port,) = state_of(platform, "", ports).ports.values()
    assert (port.rate_bps, port.mtu_bytes) == (rate_bps, mtu_bytes)


def test_sonic_keeps_rate_mtu_and_buffer_in_its_database() -> None:
    found = state_of("sonic", json.dumps(TABLES))
    (port,) = found.ports.values()
    assert (port.rate_bps, port.mtu_bytes, found.buffer_bytes) == (25_000_000_000, 9_100, 12_766_208)
    empty = state_of("sonic", '{"PORT": {"Ethernet0": {}}}')
    assert (empty.ports["Ethernet0"], empty.buffer_bytes) == (PortState({}), None)
