"""`rogue testbed kernel`."""

import typer

from rogue.harness.errors import ExitCode
from rogue.harness.terminal import notify
from rogue.virtual import prerequisites
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.kernel.build import cache_directory, obtain


def build() -> ExitCode:
    """Have the kernel built if it is not there, and print where it is."""
    try:
        prerequisites.ensure(prerequisites.KERNEL, _tell)
        kernel = obtain(cache_directory(), _tell)
    except VirtualTestbedError as error:
        notify(*str(error).splitlines())
        return ExitCode.TESTBED
    typer.echo(kernel.directory)
    return ExitCode.OK


def _tell(text: str) -> None:
    typer.echo(text, err=True)
