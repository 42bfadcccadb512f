"""`rogue show`: print the file of an experiment."""

from __future__ import annotations

import sys

import typer

from rogue.harness.commands import options as opt
from rogue.harness.errors import ExitCode
from rogue.workloads.printable import printable_lines


def show(experiment: opt.Experiment) -> ExitCode:
    """Print the file of an experiment.

    The first line is a comment with the path. A terminal gets colours.

    \b
      rogue show quickstart
      rogue show quickstart > mine.yaml
    """
    from rogue.harness.experiment.find import read_named

    text = "# {}\n{}".format(*read_named(experiment))
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.syntax import Syntax

        Console().print(Syntax(printable_lines(text), "yaml", theme="ansi_dark", word_wrap=True))
    else:
        typer.echo(text, nl=False)
    return ExitCode.OK
