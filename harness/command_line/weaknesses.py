"""`rogue weaknesses`: its arguments and its help."""

import sys
from typing import Annotated

import typer

from rogue.harness.command_line.experiments import Jobs, Out, Plugins, Settings, TestbedName, TrustsInventory
from rogue.harness.exit_codes import ExitCode

Finds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIND]...",
        show_default=False,
        help="Files of finds; by default all that come with this checkout.",
    ),
]
Transport = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Whom the finds are tried with; by default the transports that they were found in.",
    ),
]


def weaknesses(  # noqa: PLR0913  (one parameter per option)
    finds: Finds = None,
    transport: Transport = None,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Say which known weaknesses a transport shares, or whether a find holds on another testbed.

    Each find is run on its own seeds, with the transport in the place of the one that it was found in. The
    last line on standard output is the path of a page.

    \b
      rogue weaknesses --transport mine --plugin mine.py
      rogue weaknesses results/mine-search/20261120T101500Z-3f9a1c/find.yml --testbed kernel
    """
    from rogue.harness.commands.weaknesses import WeaknessesOptions, run_weaknesses

    options = WeaknessesOptions(
        finds=tuple(finds or ()), transport=transport, settings=tuple(settings or ()),
        arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, plugins=tuple(plugins or ()),
        trusts_inventory=trusts_inventory,
    )  # fmt: skip
    return run_weaknesses(options)
