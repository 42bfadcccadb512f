"""The descriptions below the keys of a model, read from its source on demand, which few commands need."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


def meanings(kind: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field of a model and of its bases, by the field's name.

    Pydantic would read them as each model is made (`use_attribute_docstrings`): a third of a command's start.
    """
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= _below_fields(each)
    return found


@cache
def _below_fields(kind: type[BaseModel]) -> Mapping[str, str]:
    """Of this class alone; many have the same base."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    }
