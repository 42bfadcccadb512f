"""NIC profiles in YAML: the profile that they are like, and measured values."""

from collections.abc import Mapping
from typing import Final, get_args

import yaml

from rogue.harness.data.source import DataSource
from rogue.harness.data.yaml_text import YamlError, parse_yaml
from rogue.workloads.printable import did_you_mean
from rogue.workloads.topologies.nic_file import NicName, NicOfFile

LIKE: Final = "like"
VALUES: Final = "values"
MEASURED: Final = "measured"
"""Key of what was measured besides, which no experiment reads."""
NUMBERS: Final = (
    "ack_every_packets",
    "unacknowledged_packets_max",
    "packets_after_nak_max",
    "nak_delay_ns",
    "resend_delay_ns",
    "cnp_delay_ns",
    "cnp_interval_ns",
    "timeout_min_ns",
)
RETRY_RULES: Final = (
    "refills_per_verb",
    "ignores_naks",
    "is_endless_at_seven",
    "waits_at_read_gap",
    "keeps_ack_count",
)
RULES: Final = (*RETRY_RULES, "cnp_with_nak")
"""Fields that are true or false."""
MEASURABLE: Final = (*NUMBERS, *RULES)
"""Fields of a profile that a card can have measured values of."""
DELAY_MAX_NS: Final = 10**10
PACKETS_MAX: Final = 2**31 - 1


def read_nic_profile(source: DataSource) -> NicOfFile:
    """Read a profile; a mistake names the key."""
    try:
        content = parse_yaml(source.text).value
    except YamlError as error:
        raise source.wrong(error.got, error.expected, error.advice, f"line {error.line}") from error
    shape = f"a mapping with {LIKE} and {VALUES}, as `rogue conformance --write-profile` writes it"
    if not isinstance(content, dict) or not {LIKE, VALUES} <= set(content) <= {LIKE, VALUES, MEASURED}:
        raise source.wrong("another content", shape)
    like, values = content[LIKE], content[VALUES]
    names = get_args(NicName)
    if like not in names:
        raise source.wrong(repr(like), f"one of {', '.join(names)}", did_you_mean(like, names), f"{LIKE}")
    if not isinstance(values, dict):
        raise source.wrong(repr(values), "a mapping of measured values", place=VALUES)
    for name, value in values.items():
        if name not in MEASURABLE:
            advice = did_you_mean(name, MEASURABLE)
            raise source.wrong(str(name), f"one of {', '.join(MEASURABLE)}", advice, VALUES)
        low, high = _range_of(name)
        expected = "true or false" if name in RULES else f"a whole number from {low} to {high}"
        is_right = isinstance(value, bool) if name in RULES else is_in_range(name, value)
        if not is_right:
            raise source.wrong(repr(value), expected, place=f"{VALUES}.{name}")
    return NicOfFile(source.file, like, tuple(values.items()))


def _range_of(name: str) -> tuple[int, int]:
    if name.endswith("_ns"):
        return 0, DELAY_MAX_NS
    return int(name == "ack_every_packets"), PACKETS_MAX


def is_in_range(name: str, value: object) -> bool:
    """Tell whether a number of a profile can have a value."""
    low, high = _range_of(name)
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def profile_text(comment: str, like: str, values: Mapping[str, int], measured: Mapping[str, object]) -> str:
    """Return the text of a profile's file."""
    content = {LIKE: like, VALUES: dict(values), MEASURED: dict(measured)}
    return f"# {comment}\n{yaml.safe_dump(content, sort_keys=False)}"
