"""Write text for LaTeX."""

import unicodedata
from typing import Final

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",
    "'": r"\textquoteright{}",
    "’": r"\textquoteright{}",
    "‘": r"\textquoteleft{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "µ": r"\ensuremath{\mu}",
    "μ": r"\ensuremath{\mu}",
    "×": r"\ensuremath{\times}",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "→": r"\ensuremath{\to}",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "\u202f": r"\,",
    "\u00a0": "~",
}
_ACCENTS: Final = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0308": '"',
    "\u030a": "r",
    "\u030c": "v",
    "\u0327": "c",
}


def latex_text(text: str) -> str:
    """Return text that LaTeX prints as it is; a character that it has no sign for becomes its nearest one."""
    return "".join(_LATEX.get(character) or _latin(character) for character in text)


def _latin(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " "
    parts = unicodedata.normalize("NFKD", character).replace("\N{FRACTION SLASH}", "/")
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return f"\\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    nearest = parts.encode("ascii", "ignore").decode()
    return latex_text(nearest) if nearest else "?"
