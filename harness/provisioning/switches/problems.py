"""Problems of a switch in an inventory that its platform cannot set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.provisioning.switches.platform import PLATFORMS, load_platform
from rogue.harness.provisioning.switches.settings import DECLARED, HardwareSwitchVariables
from rogue.workloads.printable import did_you_mean

_ADVICE: Final = "docs/how-to/hardware-switches.md says what each platform takes"


def switch_problems(path: Path, name: str, variables: Mapping[str, Any]) -> list[Problem]:
    """Return at most one problem with its place; the variables themselves are right.

    path: of the inventory.
    """
    wanted = HardwareSwitchVariables.model_validate(variables)
    if wanted.switch_follows_experiments and (found := _said_twice(path, name, wanted)):
        return [found]
    if wanted.switch_platform == DECLARED:
        return []
    try:
        problem = _unknown_platform(path, name, wanted) or _mistake(path, name, wanted)
    except ConfigError as error:
        return list(error.problems)
    return [] if problem is None else [problem]


def _unknown_platform(path: Path, name: str, wanted: HardwareSwitchVariables) -> Problem | None:
    platform = wanted.switch_platform
    if "/" in platform or platform in PLATFORMS:
        return None
    known = [DECLARED, *PLATFORMS]
    expected = f"one of {', '.join(known)}, or the folder of a platform such as ./mine"
    advice = did_you_mean(platform, known, "docs/how-to/hardware-switches.md describes such a folder")
    return Problem(str(path), f"{name}.switch_platform", repr(platform), expected, advice)


def _mistake(path: Path, name: str, wanted: HardwareSwitchVariables) -> Problem | None:
    if not wanted.switch_ports:
        expected = "the ports that experiments use"
        return Problem(str(path), f"{name}.switch_ports", "nothing", expected, _ADVICE)
    mistake = load_platform(wanted.switch_platform).mistake(wanted)
    if mistake is None:
        return None
    place, _, words = mistake.partition(": ")
    got, _, expected = words.removeprefix("got ").partition(", expected ")
    return Problem(str(path), f"{name}.switch_priorities, {place}", got, expected, _ADVICE)


def _said_twice(path: Path, name: str, wanted: HardwareSwitchVariables) -> Problem | None:
    """Return the problem of a switch that follows experiments and has settings, or is declared."""
    advice = "leave switch_follows_experiments out, or correct it"
    if wanted.switch_platform == DECLARED:
        expected = "a platform that is set here, as nobody logs in to a declared switch"
        return Problem(str(path), f"{name}.switch_platform", repr(DECLARED), expected, advice)
    for number, each in sorted(wanted.switch_priorities.items()):
        if each.asks:
            key = f"{name}.switch_priorities, priority {number}"
            return Problem(str(path), key, str(each), "dscp alone, as an experiment says the rest", advice)
    return None
