"""Suggests known words for an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(word: object, known: Iterable[str], otherwise: str = "choose one of them") -> str:
    """What to do about a word that is none of those known: write the closest one, or something else."""
    close = get_close_matches(str(word), list(known), n=1)
    return f"write {close[0]} if that is meant" if close else otherwise
