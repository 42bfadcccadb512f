"""What words may look like that reach SSH, a configuration of SSH, Ansible or a shell.

Each of these gives some characters a meaning: a quote and a new line end a value, `%` and `$` begin another
one, `{{` is a template, `-` an option. So only characters are taken that mean nothing to any of them.
"""

import re
from dataclasses import dataclass
from typing import Final

_IPV6: Final = r"(?=(?:[^:]*:){2})[0-9A-Fa-f:][0-9A-Fa-f.:]{1,44}"
_HOST: Final = rf"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{{0,251}}[A-Za-z0-9_.])?|{_IPV6}"
_USER: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_.@+\\-]{0,62}[A-Za-z0-9_.])?"
_HOP: Final = (
    rf"(?:ssh://)?(?:{_USER.replace('@', '')}@)?"
    r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?|\[[0-9A-Fa-f.:]{2,45}\])(?::[0-9]{1,5})?"
)
_HOPS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Word:
    """A kind of word."""

    pattern: re.Pattern[str]
    meaning: str
    """What it is, for sentences."""

    def fits(self, text: str) -> bool:
        """Whether all of the text is such a word."""
        return self.pattern.fullmatch(text) is not None


def _word(pattern: str, meaning: str) -> Word:
    return Word(re.compile(pattern), meaning)


NODE: Final = _word(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}", "a name of letters, digits and _.-")
HOST: Final = _word(_HOST, "the name or the address of a host, without a port")
USER: Final = _word(_USER, "the name of a user")
HOPS: Final = _word(
    rf"none|{_HOP}(?:,{_HOP}){{0,{_HOPS_MAX - 1}}}", "none, or jump hosts such as user@gate:22, with commas"
)
PYTHON: Final = _word(r"auto[a-z_]{0,30}|/[A-Za-z0-9_./+-]{1,200}", "the path of a Python, or auto")
PATH: Final = _word(
    r"[\w./~][\w ./~@+=,:()-]{0,1023}(?<! )", "a path of letters, digits, blanks and ./~_@+=,:()-"
)
"""Letters and digits of any script. A configuration of SSH gets it in quotes, in which a blank is a blank."""
