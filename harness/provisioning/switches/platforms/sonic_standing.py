"""What a SONiC switch has, in numbers, from its configuration database.

`speed` of a port is in Mb/s, `mtu` in bytes. A pool has a `size` only where somebody has set it; otherwise
the switch's buffer manager makes it, and nothing is told.

Source: sonic-net/SONiC, Configuration.md (PORT, QUEUE, WRED_PROFILE, PORT_QOS_MAP, BUFFER_PG, BUFFER_PROFILE,
BUFFER_POOL).
"""

from collections.abc import Mapping
from typing import Any, Final

from rogue.harness.provisioning.switches.platforms.sonic_patch import Tables, split_numbers
from rogue.harness.provisioning.switches.settings import Marking, PrioritySettings
from rogue.harness.provisioning.switches.standing import (
    Standing,
    StandingPort,
    that_do_something,
    told_marks,
    told_priority,
    whole_number,
)

MARKS_GREEN: Final = ("ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all")
"""Values of `ecn` with which green packets are marked, and all packets are green that nobody has coloured."""
_POOL: Final = "ingress_lossless_pool"
_MEGA: Final = 10**6
_SURE_PERCENT: Final = 100
"""By itself, says the YANG model."""


def standing_of(tables: Tables, interfaces: tuple[str, ...]) -> Standing:
    """Ports and buffer."""
    pool = tables.get("BUFFER_POOL", {}).get(_POOL, {})
    return Standing(
        {interface: _port(tables, interface) for interface in interfaces},
        buffer_bytes=whole_number(pool.get("size")),
    )


def _port(tables: Tables, interface: str) -> StandingPort:
    fields = tables.get("PORT", {}).get(interface, {})
    speed_mbps = whole_number(fields.get("speed"))
    return StandingPort(
        priorities=_priorities(tables, interface),
        rate_bps=None if speed_mbps is None else speed_mbps * _MEGA,
        mtu_bytes=whole_number(fields.get("mtu")),
    )


def _priorities(tables: Tables, interface: str) -> dict[int, PrioritySettings]:
    """Queues and groups have the number of their priority."""
    queues, groups = (_by_number(tables.get(table, {}), interface) for table in ("QUEUE", "BUFFER_PG"))
    enabled = str(tables.get("PORT_QOS_MAP", {}).get(interface, {}).get("pfc_enable", ""))
    found = {}
    for number in range(8):
        wred = tables.get("WRED_PROFILE", {}).get(queues.get(number, {}).get("wred_profile", ""), {})
        buffer = tables.get("BUFFER_PROFILE", {}).get(groups.get(number, {}).get("profile", ""), {})
        pauses = str(number) in enabled.split(",")
        found[number] = told_priority(
            marks=_marks(wred), pauses=pauses, **(_pause_point(buffer) if pauses else {})
        )
    return that_do_something(found)


def _by_number(entries: Mapping[str, Any], interface: str) -> dict[int, Mapping[str, Any]]:
    """Entries of a port, `Ethernet0|3` and `Ethernet0|3-4` alike."""
    return {
        int(number): fields
        for entry, fields in entries.items()
        for port, _, numbers in [entry.partition("|")]
        if port == interface
        for number in split_numbers(numbers)
    }


def _marks(wred: Mapping[str, Any]) -> Marking | None:
    if wred.get("ecn") not in MARKS_GREEN or wred.get("wred_green_enable") != "true":
        return None
    from_bytes, to_bytes = (whole_number(wred.get(f"green_{end}_threshold")) for end in ("min", "max"))
    percent = whole_number(wred.get("green_drop_probability", _SURE_PERCENT))
    if from_bytes is None or to_bytes is None or percent is None:
        return None
    return told_marks(from_bytes, to_bytes, percent)


def _pause_point(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Headroom and alpha, 2 to the power of `dynamic_th`."""
    exponent = str(profile.get("dynamic_th", ""))
    alpha = 2.0 ** int(exponent) if exponent.removeprefix("-").isdigit() else None
    headroom_bytes = whole_number(profile.get("xoff"))
    return {"headroom_bytes": headroom_bytes or None, "pause_alpha": alpha}
