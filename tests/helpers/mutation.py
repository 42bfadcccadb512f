"""Mutants: one method with some of its text replaced, for the time of a test."""

import inspect
import textwrap

import pytest


def mutate(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, *changes: tuple[str, str]) -> None:
    """Replace each (old, new) in the source of a method; every old text must occur exactly once."""
    function = inspect.unwrap(owner.__dict__[method])
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in changes:
        assert source.count(old) == 1, f"{owner.__name__}.{method} has {source.count(old)} times: {old}"
        source = source.replace(old, new)
    namespace: dict[str, object] = {}
    exec(source, function.__globals__, namespace)
    monkeypatch.setattr(owner, method, namespace[method])
