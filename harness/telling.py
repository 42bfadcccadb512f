"""What `rogue` says on standard error beside its result."""

import typer

from rogue.workloads.printable import printable


def tell(*lines: str) -> None:
    """Print sentences, each on a line of its own; no text of another author in one begins a line."""
    typer.echo("\n".join(map(printable, (f"rogue: {lines[0]}", *lines[1:]))), err=True)
