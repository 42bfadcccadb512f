"""Write what checks measured as a NIC profile."""

from collections.abc import Sequence
from typing import Final

from rogue.harness.conformance.check import Outcome, Reading, Verdict
from rogue.harness.data.nic_profile import RULES, is_in_range, profile_text

NOTED: Final = {
    "resend_from": "recovery",
    "last_packet_lost": "timeout",
    "lost_again": "second recovery by",
    "retries_exhausted": "retries",
    "rate_cut": "rate after over before",
}
"""Readings for which a profile has no field, by check."""
LIKE: Final = "ideal"
"""The profile that has all other values if none was compared with."""


def measured_text(outcomes: Sequence[Outcome], device: str, like: str | None) -> str:
    """Return the file of a profile that is like another one, but for what was measured."""
    values: dict[str, int] = {}
    noted: dict[str, object] = {}
    for outcome in outcomes:
        for reading in outcome.readings:
            field = outcome.check.profile_fields.get(reading.name)
            if field is not None and (value := _value(field, reading)) is not None:
                values[field] = value
            if reading.name == NOTED.get(outcome.name):
                noted[f"{outcome.name}, {reading.name}"] = reading.value
    comment = f"Measured by `rogue conformance --write-profile` on {device}; times in ns."
    return profile_text(comment, like or LIKE, values, noted)


def _value(field: str, reading: Reading) -> int | None:
    """Return the value of a field, or None if the reading does not decide it."""
    if reading.value is None:
        return None
    if field in RULES:
        if reading.ruled is None:
            return None
        is_as_ruled = reading.ruled.holds(reading.value)
        is_decided = is_as_ruled or reading.specified is None or reading.verdict is Verdict.SPECIFIED
        return is_as_ruled if is_decided else None
    value = None if isinstance(reading.value, str) else round(reading.value)
    return value if is_in_range(field, value) else None
