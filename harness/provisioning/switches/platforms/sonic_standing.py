"""What a SONiC switch has, in numbers, from its configuration database.

`speed` of a port is in Mb/s, `mtu` in bytes. A pool has a `size` only where somebody has set it; otherwise
the switch's buffer manager makes it, and nothing is told.

Source: sonic-net/SONiC, Configuration.md (PORT, QUEUE, WRED_PROFILE, PORT_QOS_MAP, BUFFER_PG, BUFFER_PROFILE,
BUFFER_POOL).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from rogue.harness.provisioning.switches.platforms.sonic_patch import Tables, split_numbers
from rogue.harness.provisioning.switches.readback import (
    NotKnownError,
    PortState,
    SwitchState,
    marking_reported,
    priority_reported,
    read_port,
    that_do_something,
    whole_number,
)
from rogue.harness.provisioning.switches.settings import Marking, PrioritySettings

MARKS_GREEN: Final = ("ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all")
"""Values of `ecn` with which green packets are marked, and all packets are green that nobody has coloured."""
_POOL: Final = "ingress_lossless_pool"
_MEGA: Final = 10**6
_SURE_PERCENT: Final = 100
"""By itself, says the YANG model."""


def state_of(tables: Tables, interfaces: tuple[str, ...]) -> SwitchState:
    """Ports and buffer."""
    pool = tables.get("BUFFER_POOL", {}).get(_POOL, {})
    return SwitchState(
        {interface: _port(tables, interface) for interface in interfaces},
        buffer_bytes=whole_number(pool.get("size")),
    )


def _port(tables: Tables, interface: str) -> PortState:
    fields = tables.get("PORT", {}).get(interface, {})
    speed_mbps = whole_number(fields.get("speed"))
    return read_port(
        partial(_priorities, tables, interface),
        rate_bps=None if speed_mbps is None else speed_mbps * _MEGA,
        mtu_bytes=whole_number(fields.get("mtu")),
    )


def _priorities(tables: Tables, interface: str) -> dict[int, PrioritySettings]:
    """Return the settings of each priority; queues and groups have the number of their priority."""
    queues, groups = (_by_number(tables, table, interface) for table in ("QUEUE", "BUFFER_PG"))
    enabled = [
        number
        for ports, fields in tables.get("PORT_QOS_MAP", {}).items()
        if interface in ports.split(",")
        for number in str(fields.get("pfc_enable", "")).split(",")
    ]
    found = {}
    for number in range(8):
        wred = _named(tables, "WRED_PROFILE", queues.get(number, {}).get("wred_profile", ""))
        buffer = _named(tables, "BUFFER_PROFILE", groups.get(number, {}).get("profile", ""))
        pauses = str(number) in enabled
        found[number] = priority_reported(
            marks=_marks(wred), pauses=pauses, **(_pause_point(buffer) if pauses else {})
        )
    return that_do_something(found)


def _by_number(tables: Tables, table: str, interface: str) -> dict[int, dict[str, Any]]:
    """Return the entries of a port: of `Ethernet0|3`, `Ethernet0|3-4` and `Ethernet0,Ethernet4|3` alike."""
    found: dict[int, dict[str, Any]] = {}
    for entry, fields in tables.get(table, {}).items():
        ports, _, numbers = entry.partition("|")
        if interface not in ports.split(","):
            continue
        for number in split_numbers(numbers):
            if not number.isdigit():
                raise NotKnownError(f"{table}|{entry}")
            found.setdefault(int(number), {}).update(fields)
    return found


def _named(tables: Tables, table: str, name: str) -> Mapping[str, Any]:
    """Return a profile by its name, which earlier releases write as `[WRED_PROFILE|name]`."""
    name = name.strip("[]").removeprefix(f"{table}|")
    if name and name not in tables.get(table, {}):
        raise NotKnownError(f"{table} {name}, which is not in the configuration")
    return tables[table][name] if name else {}


def _marks(wred: Mapping[str, Any]) -> Marking | None:
    if wred.get("ecn") not in MARKS_GREEN or wred.get("wred_green_enable") != "true":
        return None
    from_bytes, to_bytes = (whole_number(wred.get(f"green_{end}_threshold")) for end in ("min", "max"))
    percent = whole_number(wred.get("green_drop_probability", _SURE_PERCENT))
    if from_bytes is None or to_bytes is None or percent is None:
        raise NotKnownError("a WRED_PROFILE with ecn and without both thresholds of green")
    return marking_reported(from_bytes, to_bytes, percent)


def _pause_point(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Headroom and alpha, 2 to the power of `dynamic_th`."""
    exponent = str(profile.get("dynamic_th", ""))
    alpha = 2.0 ** int(exponent) if exponent.removeprefix("-").isdigit() else None
    headroom_bytes = whole_number(profile.get("xoff"))
    return {"headroom_bytes": headroom_bytes or None, "pause_alpha": alpha}
