"""Generate the reference page of the command line: the commands' own help."""

from collections.abc import Iterator

from typer import Context
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from rogue.harness.cli import app

WIDTH = 100
"""Characters of a line of help."""


def generated() -> str:
    """Return the page: the help of `rogue`, then that of each command and subcommand."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    parts = ["# Command line\n", "`rogue COMMAND --help` prints the same text.\n", *_helps(root, "rogue")]
    return "\n".join(parts)


def _helps(command: TyperCommand | TyperGroup, path: str) -> Iterator[str]:
    context = Context(command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH)
    heading = "#" * min(3, path.count(" ") + 2)
    yield f"{heading} {path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, TyperGroup):
        for name in command.list_commands(context):
            _, found, _ = command.resolve_command(context, [name])
            if isinstance(found, TyperCommand | TyperGroup):
                yield from _helps(found, f"{path} {name}")
