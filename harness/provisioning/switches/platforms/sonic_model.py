"""What SONiC's YANG models allow in the tables that we write, in words of our own.

Source: sonic-buildimage, src/sonic-yang-models/yang-models: sonic-wred-profile (names of 1 to 32 letters,
bytes, percent, max at least min), sonic-port-qos-map (pfc_enable), sonic-queue, sonic-buffer-pg,
sonic-buffer-profile, sonic-dscp-tc-map, sonic-tc-queue-map, sonic-tc-priority-group-map and
sonic-pfc-priority-queue-map.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rogue.remote.errors import NodeError

_NAME: Final = r"^[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}$"
_PLACE: Final = r"^[^|]+\|[0-7](-[0-7])?$"
_DIGIT: Final = r"^[0-7]$"
_KEYS: Final = {"PORT_QOS_MAP": r"^[^|]+$", "QUEUE": _PLACE, "BUFFER_PG": _PLACE}
"""How entries are called; by a name of their own elsewhere."""
Name = Annotated[str, Field(pattern=_NAME)]
Count = Annotated[str, Field(pattern=r"^\d+$")]
Percent = Annotated[str, Field(pattern=r"^(\d|[1-9]\d|100)$")]
Switch = Literal["true", "false"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Open(BaseModel):
    """An entry that has fields of others, too."""

    model_config = ConfigDict(extra="allow")


class WredProfile(_Entry):
    """WRED_PROFILE."""

    ecn: Literal[
        "ecn_none", "ecn_green", "ecn_yellow", "ecn_red",
        "ecn_green_yellow", "ecn_green_red", "ecn_yellow_red", "ecn_all",
    ] = "ecn_none"  # fmt: skip
    wred_green_enable: Switch = "false"
    wred_yellow_enable: Switch = "false"
    wred_red_enable: Switch = "false"
    green_min_threshold: Count
    green_max_threshold: Count
    green_drop_probability: Percent = "100"
    yellow_min_threshold: Count
    yellow_max_threshold: Count
    yellow_drop_probability: Percent = "100"
    red_min_threshold: Count
    red_max_threshold: Count
    red_drop_probability: Percent = "100"

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        pairs = (
            (self.green_min_threshold, self.green_max_threshold),
            (self.yellow_min_threshold, self.yellow_max_threshold),
            (self.red_min_threshold, self.red_max_threshold),
        )
        if any(int(most) < int(least) for least, most in pairs):
            raise ValueError("a maximum threshold of at least the minimum")
        return self


class Queue(_Open):
    """QUEUE."""

    wred_profile: Name | None = None


class PortQosMap(_Open):
    """PORT_QOS_MAP."""

    dscp_to_tc_map: Name | None = None
    tc_to_queue_map: Name | None = None
    tc_to_pg_map: Name | None = None
    pfc_to_queue_map: Name | None = None
    pfc_enable: Annotated[str, Field(pattern=r"^([0-7](,[0-7])*)?$")] = ""


class BufferProfile(_Entry):
    """BUFFER_PROFILE."""

    pool: str
    size: Count
    xon: Count = "0"
    xoff: Count
    dynamic_th: Annotated[str, Field(pattern=r"^-?[0-8]$")]


class BufferGroup(_Open):
    """BUFFER_PG."""

    profile: Name


_ENTRIES: Final[dict[str, type[BaseModel]]] = {
    "WRED_PROFILE": WredProfile,
    "QUEUE": Queue,
    "PORT_QOS_MAP": PortQosMap,
    "BUFFER_PROFILE": BufferProfile,
    "BUFFER_PG": BufferGroup,
}
_MAPS: Final = {
    "DSCP_TO_TC_MAP": r"^(\d|[1-5]\d|6[0-3])$",
    "TC_TO_QUEUE_MAP": _DIGIT,
    "TC_TO_PRIORITY_GROUP_MAP": _DIGIT,
    "MAP_PFC_PRIORITY_TO_QUEUE": _DIGIT,
}
"""Tables that map numbers to numbers of 0 to 7, with what their keys look like."""


def check_tables(tables: Mapping[str, Mapping[str, Mapping[str, str] | None]]) -> None:
    """Entries that will stand there (None: none); NodeError names the first that SONiC would refuse."""
    for table, rows in tables.items():
        for entry, fields in rows.items():
            if fields is not None and (mistake := _mistake(table, entry, fields)):
                raise NodeError(f"SONiC: {table}|{entry}: {mistake}")


def _mistake(table: str, entry: str, fields: Mapping[str, Any]) -> str | None:
    if not re.match(_KEYS.get(table, _NAME), entry):
        return "got a key that its YANG model does not allow"
    if table in _MAPS:
        wrong = [
            f"{key}: {value}"
            for key, value in fields.items()
            if not (re.match(_MAPS[table], key) and re.match(_DIGIT, str(value)))
        ]
        return f"got {wrong[0]}, expected numbers of its YANG model" if wrong else None
    if table not in _ENTRIES:
        return "got a table that is not ours, expected one of the QoS tables"
    try:
        _ENTRIES[table].model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the entry"
        return f"{place}: got {first['input']!r:.60}, expected that {first['msg']}"
    return None
