"""What stands in SONiC's configuration database. Tables as in SONiC's Configuration.md."""

import pytest

from rogue.harness.provisioning.switches.platforms.sonic_standing import state_of
from rogue.harness.provisioning.switches.readback import marking_reported, priority_reported
from rogue.harness.provisioning.switches.settings import Marking, PrioritySettings

WRED = {
    "ecn": "ecn_all",
    "wred_green_enable": "true",
    "green_min_threshold": "98670",
    "green_max_threshold": "200000",
    "green_drop_probability": "5",
}
TABLES = {
    "PORT": {"Ethernet0": {"speed": "25000", "mtu": "9100"}},
    "QUEUE": {"Ethernet0|3-4": {"wred_profile": "AZURE_LOSSLESS"}, "Ethernet4|0": {"wred_profile": "X"}},
    "WRED_PROFILE": {"AZURE_LOSSLESS": WRED},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "4"}},
    "BUFFER_PG": {"Ethernet0|4": {"profile": "pg"}},
    "BUFFER_PROFILE": {"pg": {"xoff": "35776", "dynamic_th": "-4"}},
    "BUFFER_POOL": {"ingress_lossless_pool": {"size": "12766208"}},
}


def test_numbers_of_a_port_and_of_the_buffer() -> None:
    """25 000 Mb/s; alpha is 2^-4."""
    found = state_of(TABLES, ("Ethernet0",))
    port = found.ports["Ethernet0"]
    marks = Marking(from_bytes=98_670, to_bytes=200_000, probability=0.05)
    assert (port.rate_bps, port.mtu_bytes, found.buffer_bytes) == (25_000_000_000, 9_100, 12_766_208)
    assert port.priorities == {
        3: PrioritySettings(marks=marks),
        4: PrioritySettings(marks=marks, pauses=True, headroom_bytes=35_776, pause_alpha=1 / 16),
    }


def test_what_nobody_has_set_is_not_told() -> None:
    found = state_of({"PORT": {"Ethernet0": {}}}, ("Ethernet0",))
    port = found.ports["Ethernet0"]
    assert (port.rate_bps, port.mtu_bytes, found.buffer_bytes, port.priorities) == (None, None, None, {})


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"ecn": "ecn_none"}, {}),
        ({"wred_green_enable": "false"}, {}),
        (
            {"green_drop_probability": None},
            {3: priority_reported(marks=marking_reported(98_670, 200_000, 100))},
        ),
        ({"green_drop_probability": "0"}, {3: priority_reported(marks=marking_reported(98_670, 200_000, 0))}),
    ],
)
def test_which_profiles_mark(changed: dict[str, str | None], expected: dict[int, object]) -> None:
    """Without a probability it is 100."""
    wred = {field: value for field, value in {**WRED, **changed}.items() if value is not None}
    tables = {"WRED_PROFILE": {"A": wred}, "QUEUE": {"Ethernet0|3": {"wred_profile": "A"}}}
    assert state_of(tables, ("Ethernet0",)).ports["Ethernet0"].priorities == expected


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("Ethernet0,Ethernet4|3-4", "AZURE_LOSSLESS"),
        ("Ethernet8,Ethernet0|3", "AZURE_LOSSLESS"),
        ("Ethernet0|3", "[WRED_PROFILE|AZURE_LOSSLESS]"),
    ],
)
def test_lists_of_ports_and_earlier_names_are_resolved(place: str, name: str) -> None:
    ports = place.partition("|")[0]
    tables = {
        **TABLES, "QUEUE": {place: {"wred_profile": name}}, "PORT_QOS_MAP": {ports: {"pfc_enable": "3"}},
        "BUFFER_PG": {place: {"profile": "pg"}},
    }  # fmt: skip
    told = state_of(tables, ("Ethernet0",)).ports["Ethernet0"].of_priority(3)
    assert told is not None
    assert (told.marks, told.pauses, told.headroom_bytes) == (
        marking_reported(98_670, 200_000, 5),
        True,
        35_776,
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"WRED_PROFILE": {}},
        {"BUFFER_PROFILE": {}},
        {"QUEUE": {"Ethernet0|3,4": {"wred_profile": "AZURE_LOSSLESS"}}},
        {"WRED_PROFILE": {"AZURE_LOSSLESS": {**WRED, "green_min_threshold": "half"}}},
    ],
)
def test_what_cannot_be_resolved_is_not_known(changed: dict[str, dict[str, dict[str, str]]]) -> None:
    port = state_of({**TABLES, **changed}, ("Ethernet0",)).ports["Ethernet0"]
    assert (port.priorities, list(port.not_known)) == (None, list(range(8)))
