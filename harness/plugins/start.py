"""`rogue new`: a commented experiment, or a plug-in and its test, to start from."""

import re
from pathlib import Path
from string import Template
from typing import Final

from rogue.harness.errors import UsageError
from rogue.workloads.printable import did_you_mean

STARTS: Final = Path(__file__).parent / "starts"
ONLY_COMPILED: Final = ("switch-control", "receiver-control")
"""Kinds that must be written in C++."""
COMPILED: Final = ("nic-control", *ONLY_COMPILED)
"""Kinds that may be written in C++."""
KINDS: Final = ("control", "workload", "topology", *COMPILED, "measure", "figure")
EXPERIMENT: Final = "experiment"
LANGUAGES: Final[dict[str, str]] = {"python": ".py", "c++": ".h"}
"""File suffix by language."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


def write_start(kind: str, name: str, directory: Path, language: str | None = None) -> list[Path]:
    """Write an experiment, or a plug-in and its test; UsageError if a file exists or the name is wrong.

    language: of a plug-in; Python unless the kind has C++ alone.
    """
    known = (*KINDS, EXPERIMENT)
    if kind not in known:
        expected, advice = f"one of {', '.join(known)}", did_you_mean(kind, known)
        raise UsageError(f"new: got {kind!r}, expected {expected}; {advice}.")
    if not _NAME.fullmatch(name):
        expected = "lower-case letters, digits and _, with a letter first"
        raise UsageError(f"new: got the name {name!r}, expected {expected}; choose another name.")
    if kind == EXPERIMENT:
        plugin = f"{name}.yaml"
        files = {directory / plugin: kind}
    else:
        language = language or ("c++" if kind in ONLY_COMPILED else "python")
        plugin = f"{name}{_ending(kind, language)}"
        start = kind if language == "python" else f"{kind}-compiled"
        files = {directory / plugin: start, directory / f"test_{name}.py": "test"}
    there = [file for file in files if file.exists()]
    if there:
        raise UsageError(f"new: got {there[0]}, which is there already, expected a name that is free.")
    title = "".join(part.capitalize() for part in name.split("_"))
    words = {"name": name, "file": plugin, "kind": kind.replace("-", "_"), "title": title}
    for file, start in files.items():
        file.write_text(Template((STARTS / f"{start}.txt").read_text()).substitute(words))
    return list(files)


def _ending(kind: str, language: str) -> str:
    if language not in LANGUAGES:
        expected = f"one of {', '.join(LANGUAGES)}"
        raise UsageError(
            f"new: got the language {language!r}, expected {expected}; {did_you_mean(language, LANGUAGES)}."
        )
    if language != "python" and kind not in COMPILED:
        only = f"{', '.join(COMPILED[:-1])} and {COMPILED[-1]}"
        raise UsageError(f"new: got a {kind} in {language}, expected python; only {only} may be C++.")
    if language == "python" and kind in ONLY_COMPILED:
        raise UsageError(f"new: got a {kind} in python, expected c++; leave --language out.")
    return LANGUAGES[language]
