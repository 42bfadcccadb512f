"""Write what a gate checked: as JUnit XML, as Markdown and as JSON."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from itertools import groupby
from typing import Final

from rogue.reports.quantities import counted
from rogue.workloads.printable import printable


class State(StrEnum):
    """Result of a check."""

    FAILED = "failed"
    CHANGED = "changed"
    """For the better, or in a measure without a better direction."""
    PASSED = "passed"
    OPEN = "not decided"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a gate: a measure of a setting, or a known weakness."""

    group: str
    name: str
    state: State
    text: str
    cells: tuple[str, ...] = ()
    """Baseline, candidate, change and interval, for the table of a summary."""


MOVED: Final = (State.FAILED, State.CHANGED)
_HEAD: Final = ("", "setting", "measure", "baseline", "candidate", "change", "95 % interval")
_MARKS: Final = {State.FAILED: "❌", State.CHANGED: "🔵", State.PASSED: "✅", State.OPEN: "❔"}


def has_failed(checks: Sequence[Check]) -> bool:
    """True if any check failed."""
    return any(each.state is State.FAILED for each in checks)


def moved(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that failed, then those of measures that moved otherwise."""
    return sorted(
        (each for each in checks if each.state in MOVED), key=lambda each: each.state is State.CHANGED
    )


def answer(checks: Sequence[Check]) -> str:
    """Return the answer of a gate; checks that are not decided are part of it."""
    if has_failed(checks):
        return "regression"
    undecided = sum(each.state is State.OPEN for each in checks)
    if not undecided:
        return "no regression"
    verb = "is" if undecided == 1 else "are"
    return f"no regression found; {undecided} of {counted(len(checks), 'check')} {verb} not decided"


def summary(checks: Sequence[Check]) -> str:
    """Count the checks in a sentence."""
    counts = [(sum(each.state is state for each in checks), state.value) for state in State]
    return f"{counted(len(checks), 'check')}: {', '.join(f'{count} {text}' for count, text in counts)}."


def junit_text(checks: Sequence[Check], name: str) -> str:
    """Return the checks as JUnit XML: a suite per group, a failure per regression."""
    suites = ET.Element("testsuites", name=printable(name))
    for group, own in groupby(sorted(checks, key=_group), key=_group):
        cases = list(own)
        failures = sum(each.state is State.FAILED for each in cases)
        skipped = sum(each.state is State.OPEN for each in cases)
        counts = {"tests": str(len(cases)), "failures": str(failures), "skipped": str(skipped)}
        suite = ET.SubElement(suites, "testsuite", {"name": printable(group), **counts})
        for each in cases:
            case = ET.SubElement(suite, "testcase", classname=printable(group), name=printable(each.name))
            if each.state is State.FAILED:
                ET.SubElement(case, "failure", message=printable(each.text))
            elif each.state is State.OPEN:
                ET.SubElement(case, "skipped", message=printable(each.text))
            else:
                ET.SubElement(case, "system-out").text = printable(each.text)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def markdown_text(checks: Sequence[Check], sentences: Sequence[str], picture: str | None) -> str:
    """Return a summary: the answer, the measures that moved, their picture, and the other checks."""
    text = answer(checks)
    mark = _MARKS[State.FAILED if has_failed(checks) else State.PASSED]
    lines = [f"## {mark} {text[0].upper()}{text[1:]}", "", *map(_safe, sentences), ""]
    measures = [each for each in moved(checks) if each.cells]
    if measures:
        lines += [_row(_HEAD), _row(["---"] * len(_HEAD))]
        lines += [_row((_MARKS[each.state], each.group, each.name, *each.cells)) for each in measures]
        lines += ["", *([f"![Measures that moved]({picture})", ""] if picture else [])]
    others = [each for each in checks if not each.cells]
    lines += [
        f"- {_MARKS[each.state]} {_safe(each.group)}, {_safe(each.name)}: {_safe(each.text)}"
        for each in others
    ]
    return "\n".join(lines).rstrip() + "\n"


def _group(check: Check) -> str:
    return check.group


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_safe, cells))} |"


def _safe(text: str) -> str:
    """Return text of an experiment that Markdown shows as it is."""
    return escape(printable(text), quote=False).replace("|", "\\|").replace("`", "\\`")


def content(checks: Sequence[Check]) -> list[dict[str, str]]:
    """Return the checks for `--json`."""
    return [
        {"group": each.group, "name": each.name, "state": each.state.value, "text": each.text}
        for each in checks
    ]
