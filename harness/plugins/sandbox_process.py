"""Child process that tries a plug-in and reports JSON lines."""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from typing import Annotated, Final

from pydantic import AfterValidator, Field, TypeAdapter

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import PluginSource
from rogue.harness.streams import keep_standard_streams
from rogue.workloads.printable import printable

TRY: Final = "try"
"""Load all, and try what the last of them registers; say the verdict."""
LOAD: Final = "load"
"""Load each by itself; say of each whether it could be loaded."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a plug-in registers, and what is wrong with it."""

    adds: tuple[Annotated[str, Field(pattern=r"^[a-z_]+ \S+$"), AfterValidator(printable)], ...]
    faults: tuple[Annotated[str, AfterValidator(printable)], ...]


VERDICT: Final = TypeAdapter(Verdict | tuple[Problem, ...])


def question(sources: Sequence[PluginSource]) -> bytes:
    """What it reads. A name of a file may have bytes that are no UTF-8, which JSON's escapes pass on."""
    return json.dumps([asdict(source) for source in sources]).encode("ascii")


def main() -> None:
    """Called with a task and the number of the pipe's descriptor."""
    keep_standard_streams()
    task, pipe = sys.argv[1], int(sys.argv[2])
    os.set_inheritable(pipe, False)
    sources = [PluginSource(**each) for each in json.load(sys.stdin)]
    if task == TRY:
        _try(pipe, sources)
    else:
        _load(pipe, sources)


def _try(pipe: int, sources: Sequence[PluginSource]) -> None:
    from rogue.harness.plugins.contract import contract_faults

    verdict: Verdict | tuple[Problem, ...]
    try:
        loaded = load_plugins(sources)[-1]
        verdict = Verdict(loaded.adds, tuple(map(printable, contract_faults(loaded))))
    except ConfigError as error:
        verdict = tuple(Problem(*map(printable, astuple(each))) for each in error.problems)
    with suppress(Exception):  # a plug-in may have closed it
        sys.stdout.flush()  # whoever has the verdict ends this process, and what was printed would be lost
    _say(pipe, VERDICT.dump_json(verdict))


def _load(pipe: int, sources: Sequence[PluginSource]) -> None:
    """Go up to the first that could not be loaded; what they print is not ours."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    for source in sources:
        try:
            load_plugins([source])
        except Exception:
            _say(pipe, b"false")
            return
        _say(pipe, b"true")


def _say(pipe: int, line: bytes) -> None:
    rest = memoryview(line + b"\n")
    while rest:
        rest = rest[os.write(pipe, rest) :]


if __name__ == "__main__":
    main()
