"""From what pydantic found to sentences a person can act on."""

from collections.abc import Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rogue.harness.errors import Problem
from rogue.harness.experiment.document import Document, show
from rogue.harness.experiment.yaml_text import format_path
from rogue.workloads.mistakes import MISTAKE
from rogue.workloads.units import UnitError

_CORRECT = "correct the value"
_TEXTS = {
    "missing": ("a value", "add the key"),
    "string_pattern_mismatch": ("lower-case letters, digits, - and _, at most 63", "choose another name"),
    "int_type": ("a whole number", _CORRECT),
    "float_type": ("a number", _CORRECT),
    "finite_number": ("a finite number", _CORRECT),
    "string_type": ("text", _CORRECT),
    "list_type": ("a list", _CORRECT),
    "tuple_type": ("a list", _CORRECT),
    "dict_type": ("a mapping", _CORRECT),
    "model_type": ("a mapping", _CORRECT),
    "greater_than": ("a number above {gt}", _CORRECT),
    "greater_than_equal": ("a number of at least {ge}", _CORRECT),
    "less_than": ("a number below {lt}", _CORRECT),
    "less_than_equal": ("a number of at most {le}", _CORRECT),
    "too_short": ("a list of at least {min_length}", _CORRECT),
    "too_long": ("a list of at most {max_length}", _CORRECT),
    "string_too_short": ("at least {min_length} characters", _CORRECT),
    "string_too_long": ("at most {max_length} characters", _CORRECT),
    "literal_error": ("one of {expected}", _CORRECT),
}


def find_problems(error: ValidationError, document: Document) -> list[Problem]:
    """One problem per mistake, in the order of the file's model."""
    return [_problem(each, document) for each in error.errors(include_url=False)]


def _problem(error: ErrorDetails, document: Document) -> Problem:
    path = document.as_written(tuple(error["loc"]))
    context = error.get("ctx", {})
    expected, advice = _expected(error["type"], error["msg"], context)
    got = context.get("got") or show(document.written(path))
    return Problem(document.place(path), format_path(path), got, expected, advice)


def _expected(kind: str, message: str, context: Mapping[str, object]) -> tuple[str, str]:
    cause = context.get("error")
    if kind == MISTAKE:
        return str(context["expected"]), str(context["advice"])
    if isinstance(cause, UnitError):
        return cause.expected, cause.advice
    expected, advice = _TEXTS.get(kind, (message, _CORRECT))
    return expected.format(**context), advice
