"""The words with which a person can call this program again."""

import shlex
import shutil
import sys
from pathlib import Path

NAME = "rogue"


def call_again(*words: object) -> str:
    """Return a shell command that works where the person is: with the path if `rogue` is not on it."""
    return shlex.join([_program(), *map(str, words)])


def _program() -> str:
    """The installed command as it was called; for `python -m rogue` the command beside that python."""
    called = Path(sys.argv[0])
    command = called if called.name == NAME else Path(sys.executable).parent / NAME
    if shutil.which(NAME) is not None or not command.exists():
        return NAME
    return str(command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command)
