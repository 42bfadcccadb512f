"""Check that a switch platform keeps the rules of `Platform`; each violation is a sentence."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rogue.harness.provisioning.switches.change import Configuration, Context, Line, sentences
from rogue.harness.provisioning.switches.operations import plan_from_nothing
from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables

_STEP: Final = {"from_bytes": 208_000, "to_bytes": 208_000}
"""A whole number of KB, and of the cells below."""
TRIED: Final[tuple[Mapping[str, Any], ...]] = (
    {"marks": {"from_bytes": 150_000, "to_bytes": 1_500_000, "probability": 0.1}},
    {"marks": _STEP},
    {"marks": _STEP, "pauses": True},
    {"marks": _STEP, "pauses": True, "headroom_bytes": 104_000},
)
"""Settings of a priority; a platform takes some of them."""


def platform_faults(name: str) -> list[str]:
    """Return the violations of a registered platform, over every setting in TRIED that it accepts."""
    platform = PLATFORMS[name]
    try:
        return list(_faults(platform))
    except Exception as error:
        return [f"it raises {type(error).__name__}: {error}"]


def _faults(platform: Platform) -> Iterator[str]:
    if platform.abort and not platform.end:
        yield "abort without end, expected the commands after which changes count"
    mistakes: list[str] = []
    taken: dict[tuple[Line, ...], HardwareSwitchVariables] = {}
    for settings in TRIED:
        wanted = _wanted(platform.name, settings)
        if (mistake := platform.mistake(wanted)) is None:
            yield from _faults_of_lines(platform, wanted)
            other = taken.setdefault(tuple(platform.lines(wanted)), wanted)
            if other is not wanted:
                yield f"lines() are the same for {other} and for {wanted}"
            continue
        mistakes.append(mistake)
        if not mistake.partition(": ")[2].startswith("got ") or ", expected " not in mistake:
            yield f"mistake() says {mistake!r}, expected `priority 3: got ..., expected ...`"
    if len(mistakes) == len(TRIED):
        yield f"it takes none of the settings that were tried: {mistakes[0]}"


def _wanted(name: str, settings: Mapping[str, Any]) -> HardwareSwitchVariables:
    ports = [{"bridge": "s0", "interface": f"1/{number}", "peer": f"h{number}"} for number in (1, 2)]
    return HardwareSwitchVariables.model_validate(
        {
            "switch_platform": name,
            "switch_ports": ports,
            "switch_priorities": {3: {"dscp": [26], **settings}},
            "switch_cell_bytes": 208,
        }
    )


def _faults_of_lines(platform: Platform, wanted: HardwareSwitchVariables) -> Iterator[str]:
    """Of a setting that it takes."""
    lines = platform.lines(wanted)
    if not lines:
        yield f"lines() are none for {wanted}"
    if lines != platform.lines(wanted):
        yield f"lines() differ from call to call for {wanted}"
    found: dict[Context, tuple[str, ...]] = {}
    for line in lines:
        found[line.context] = (*found.get(line.context, ()), line.text)
        if line.text != line.key and not line.text.startswith(f"{line.key} "):
            yield f"the line {line.text!r} does not begin with its key {line.key!r}"
    commands = plan_from_nothing(platform, wanted)
    for text in [*(line.text for line in lines), *(command.text for command in commands)]:
        if not text or len(text.splitlines()) != 1:
            yield f"{text!r} is not one line"
    if left := platform.changes(wanted, found):
        yield f"once all lines stand there, it still wants: {sentences(left[:1])[0]}"
    yield from _faults_of_numbers(platform, wanted, found)


def _faults_of_numbers(
    platform: Platform, wanted: HardwareSwitchVariables, found: Configuration
) -> Iterator[str]:
    """What it tells of its own lines, if it tells anything; headroom and alpha it may leave out."""
    for port in platform.standing(found, "", wanted).ports.values():
        for number, asked in wanted.switch_priorities.items():
            told = port.of_priority(number)
            if told is not None and (told.marks, told.pauses) != (asked.marks, asked.pauses):
                yield f"once all lines stand there, standing() tells `{told}`, expected `{asked}`"
                return
