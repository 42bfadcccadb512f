"""Write a command that a user can copy into a shell."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

NAME: Final = "rogue"


def call_again(*words: object) -> str:
    """Return a shell command that works in this directory, with a path if `rogue` is not on PATH.

    It is one line for any words: another author may have written one of them.
    """
    return " ".join(_quoted(str(word)) for word in (_program(), *words))


def _quoted(word: str) -> str:
    """Quote a word for a shell; Bash, Zsh and POSIX of 2024 know the quotes in which letters are numbers."""
    if word.isprintable():
        return shlex.quote(word)
    shown = (_escaped(letter) if letter in "\\'" or not letter.isprintable() else letter for letter in word)
    return f"$'{''.join(shown)}'"


def _escaped(letter: str) -> str:
    """Return the bytes of a letter as octal numbers, of which none is longer than three digits."""
    half_of_a_pair = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", half_of_a_pair))


def _program() -> str:
    """The installed command as it was called; for `python -m rogue` the command beside that python."""
    called = Path(sys.argv[0])
    command = called if called.name == NAME else Path(sys.executable).parent / NAME
    if shutil.which(NAME) is not None or not command.exists():
        return NAME
    return str(command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command)
