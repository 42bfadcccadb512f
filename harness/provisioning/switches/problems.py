"""What of a switch in an inventory its platform cannot do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rogue.harness.errors import Problem
from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.harness.provisioning.switches.settings import DECLARED, HardwareSwitchVariables
from rogue.workloads.printable import did_you_mean


def switch_problems(path: Path, name: str, variables: Mapping[str, Any]) -> list[Problem]:
    """At most one, with its place; the variables themselves are right."""
    wanted = HardwareSwitchVariables.model_validate(variables)
    if wanted.switch_follows_experiments and (found := _said_twice(path, name, wanted)):
        return [found]
    if wanted.switch_platform == DECLARED:
        return []
    if wanted.switch_platform not in PLATFORMS:
        known = [DECLARED, *PLATFORMS]
        expected = f"one of {', '.join(known)}"
        advice = did_you_mean(wanted.switch_platform, known, "name the plug-in that has it with --plugin")
        key = f"{name}.switch_platform"
        return [Problem(str(path), key, repr(wanted.switch_platform), expected, advice)]
    advice = "docs/SWITCHES.md says what each platform takes"
    if not wanted.switch_ports:
        key = f"{name}.switch_ports"
        return [Problem(str(path), key, "nothing", "the ports that experiments use", advice)]
    mistake = platform_mistake(PLATFORMS[wanted.switch_platform], wanted)
    if mistake is None:
        return []
    place, _, words = mistake.partition(": ")
    got, _, expected = words.removeprefix("got ").partition(", expected ")
    return [Problem(str(path), f"{name}.switch_priorities, {place}", got, expected, advice)]


def _said_twice(path: Path, name: str, wanted: HardwareSwitchVariables) -> Problem | None:
    """What an experiment says, or nobody sets, of a switch that follows experiments."""
    advice = "leave switch_follows_experiments out, or correct it"
    if wanted.switch_platform == DECLARED:
        expected = "a platform that is set here, as nobody logs in to a declared switch"
        return Problem(str(path), f"{name}.switch_platform", repr(DECLARED), expected, advice)
    for number, each in sorted(wanted.switch_priorities.items()):
        if each.asks:
            key = f"{name}.switch_priorities, priority {number}"
            return Problem(str(path), key, str(each), "dscp alone, as an experiment says the rest", advice)
    return None


def platform_mistake(platform: Platform, wanted: HardwareSwitchVariables) -> str | None:
    """What of it the platform cannot do, as `priority N: got ..., expected ...`; None if nothing."""
    for number, each in sorted(wanted.switch_priorities.items()):
        if each.pause_alpha is not None and not platform.sets_pause_alpha:
            expected = f"none, as nobody here can tell {platform.name} when to pause"
            return f"priority {number}: got pause_alpha {each.pause_alpha:g}, expected {expected}"
    return platform.mistake(wanted)
