"""What a release of SONiC lets a patch change.

SONiC's updater compares the configuration before a patch with the one after it, and asks a validator about
each difference in WRED_PROFILE and BUFFER_PROFILE. Until 202505 it takes only new values of a few fields;
from 202511 the table WRED_PROFILE is free, and so are whole entries of BUFFER_PROFILE.

Source: sonic-net/sonic-utilities, generic_config_updater/field_operation_validators.py,
gcu_field_operation_validators.conf.json and gu_common.py (validate_field_operation), on the branches 202205
(8e71e65628), 202305 (86aa8c46c8), 202311 (86546348f3), 202405 (ced89eb5c9), 202411 (ac66b67e13), 202505
(7511bf2f8e) and 202511 (a092c97055). Branch 202211 (91afc43748) has no validators. `show version` and its
`ASIC Count`: show/main.py on 202205, 202311, 202411 and 202511.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from rogue.harness.provisioning.switches.change import Configuration, Context

SYSTEM: Final[Context] = ("show version", "")
"""What a switch says of itself stands among its configuration under this name, which no table has."""
TUNABLE: Final = "AZURE_LOSSLESS"
"""The only profile of marks whose values a patch may change until 202411."""
TUNED_MARKS: Final = ("green_min_threshold", "green_max_threshold", "green_drop_probability")
_TUNED: Final[Mapping[str, tuple[str, ...]]] = {
    "WRED_PROFILE": TUNED_MARKS,
    "BUFFER_PROFILE": ("dynamic_th", "xoff"),
}
"""Fields that may get another value, by table that is guarded."""
_FIRST, _WITHOUT, _ANY_PROFILE, _FREE = "202205", "202211", "202505", "202511"
_BUILD: Final = re.compile(r"^SONiC Software Version: SONiC\.(\S+)", re.MULTILINE)
_ASICS: Final = re.compile(r"^ASIC Count: (\d+)", re.MULTILINE)
_DATE: Final = re.compile(r"(20\d\d(?:0[1-9]|1[0-2]))(?:\d\d)?(?!\d)")


def system_lines(text: str) -> tuple[str, ...]:
    """What `show version` says, as lines of SYSTEM: the release, as far as it is a release, and the ASICs."""
    build, asics = _BUILD.search(text), _ASICS.search(text)
    date = _DATE.match(build[1]) if build else None
    release = _FREE if build and build[1].startswith("master") else date[1] if date else ""
    return (f"release {release}", f"asics {asics[1] if asics else 1}")


def release_of(found: Configuration) -> str:
    """Year and month, such as 202311; empty if nobody knows: a build of somebody's own, or no switch."""
    return _system(found).get("release", "")


def asics_of(found: Configuration) -> int:
    """How many chips the switch has."""
    return int(_system(found).get("asics", "1"))


def is_guarded(release: str) -> bool:
    """Whether a patch may neither add a profile nor take one away."""
    return _FIRST <= release < _FREE and release != _WITHOUT


def is_refused(release: str, operation: Mapping[str, Any]) -> bool:
    """Whether the release's updater does not take an operation of a patch."""
    table, *place = operation["path"].removeprefix("/").split("/")
    if table not in _TUNED or release < _FIRST or release == _WITHOUT:
        return False
    is_tuning = operation["op"] == "replace" and len(place) == 2 and place[1] in _TUNED[table]
    if release >= _FREE:
        return table == "BUFFER_PROFILE" and len(place) != 1 and not is_tuning
    return not (is_tuning and _may_be_tuned(release, table, place[0]))


def _may_be_tuned(release: str, table: str, profile: str) -> bool:
    """Which profiles: names of buffer profiles count only where they have a digit, as pg_lossless_* do."""
    if table == "BUFFER_PROFILE":
        return any(letter.isdigit() for letter in profile)
    return release >= _ANY_PROFILE or profile == TUNABLE


def _system(found: Configuration) -> dict[str, str]:
    return dict(line.partition(" ")[::2] for line in found.get(SYSTEM, ()))
