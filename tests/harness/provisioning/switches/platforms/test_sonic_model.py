"""The constraints of SONiC's YANG models, restated."""

import pytest
from helpers.fake_switch import LOSSLESS, wanted

from rogue.harness.provisioning.switches.platforms.sonic import wanted_tables
from rogue.harness.provisioning.switches.platforms.sonic_model import check_tables
from rogue.remote.errors import NodeError

COLOURS = ("green", "yellow", "red")
GOOD = {f"{colour}_{end}_threshold": "5" for colour in COLOURS for end in ("min", "max")}


def test_what_we_write_is_allowed() -> None:
    settings = {"3": {**LOSSLESS["3"], "headroom_bytes": 1}, "0": {"dscp": [0, 63]}}
    check_tables(wanted_tables(wanted("sonic", switch_priorities=settings)))
    check_tables({"QUEUE": {"Ethernet0|3": None}})


@pytest.mark.parametrize(
    ("table", "entry", "fields", "words"),
    [
        ("WRED_PROFILE", "a" * 33, GOOD, "got a key"),
        ("WRED_PROFILE", "-a", GOOD, "got a key"),
        ("WRED_PROFILE", "a", {**GOOD, "green_max_threshold": "4"}, "maximum threshold of at least"),
        ("WRED_PROFILE", "a", {**GOOD, "red_drop_probability": "101"}, "red_drop_probability: got '101'"),
        ("WRED_PROFILE", "a", {**GOOD, "ecn": "ecn_some"}, "ecn: got 'ecn_some'"),
        ("WRED_PROFILE", "a", {**GOOD, "wred": "true"}, "wred: got 'true'"),
        ("WRED_PROFILE", "a", {**GOOD, "red_min_threshold": "-1"}, "red_min_threshold: got '-1'"),
        ("QUEUE", "Ethernet0", {}, "got a key"),
        ("QUEUE", "Ethernet0|8", {}, "got a key"),
        ("BUFFER_PG", "Ethernet0|3-9", {"profile": "a"}, "got a key"),
        ("PORT_QOS_MAP", "Ethernet0", {"pfc_enable": "3, 4"}, "pfc_enable: got '3, 4'"),
        ("PORT_QOS_MAP", "Ethernet0", {"pfc_enable": "8"}, "pfc_enable: got '8'"),
        ("DSCP_TO_TC_MAP", "a", {"64": "3"}, "got 64: 3"),
        ("DSCP_TO_TC_MAP", "a", {"63": "8"}, "got 63: 8"),
        ("TC_TO_QUEUE_MAP", "a", {"8": "1"}, "got 8: 1"),
        ("BUFFER_PROFILE", "a", {"pool": "p", "size": "0", "xoff": "1", "dynamic_th": "9"}, "dynamic_th"),
        ("PORT", "Ethernet0", {"mtu": "1"}, "got a table that is not ours"),
    ],
)
def test_what_yang_would_refuse(table: str, entry: str, fields: dict[str, str], words: str) -> None:
    with pytest.raises(NodeError) as told:
        check_tables({table: {entry: fields}})
    assert str(told.value).startswith(f"SONiC: {table}|{entry}: ")
    assert words in str(told.value)
