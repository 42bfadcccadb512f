"""Reads files that are written like an experiment and are none."""

from dataclasses import replace

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment.document import Document, read_document


def read_as(file: str, kind: str, advice: str) -> Document:
    """Read a file of some kind; a fault that speaks of an experiment is told of that kind instead."""
    try:
        return read_document(file)
    except ConfigError as error:
        raise ConfigError([_said_of(problem, kind, advice) for problem in error.problems]) from error


def _said_of(problem: Problem, kind: str, advice: str) -> Problem:
    if "experiment" not in f"{problem.expected} {problem.advice}":
        return problem
    advised = advice if "experiment" in problem.advice else problem.advice
    return replace(problem, expected=f"a readable {kind}", advice=advised)
