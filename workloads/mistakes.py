"""Mistakes that our own checks find, in the form in which pydantic reports its own."""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

MISTAKE: Final = "mistake"


def mistake(expected: str, advice: str, got: str | None = None) -> PydanticCustomError:
    """What was expected and what to do; `got` where the value itself would not say it."""
    context = {"expected": expected, "advice": advice, "got": got}
    return PydanticCustomError(MISTAKE, "expected {expected}; {advice}", context)


def mistakes_at(found: Mapping[str, PydanticCustomError]) -> ValidationError:
    """Mistakes blamed on keys of the mapping under validation."""
    details = [InitErrorDetails(type=each, loc=(key,), input=None) for key, each in found.items()]
    return ValidationError.from_exception_data("mistakes", details)
