"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.commands import completion

Experiment = Annotated[
    str,
    typer.Argument(
        help="File of the experiment, or the name of one in experiments/.",
        autocompletion=completion.experiments,
    ),
]
OptionalExperiment = Annotated[
    str,
    typer.Argument(
        help="File or name of the experiment; left out with --resume.",
        autocompletion=completion.experiments,
    ),
]
TestbedName = Annotated[
    str, typer.Option("--testbed", help="Where to run it.", autocompletion=completion.testbeds)
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change the experiment, e.g. workload.senders=4; repeatable."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, max=1024, help="Cells at once; by default one per core.")
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="Load a plug-in (Python, or a control of NICs or of switches in C++); repeatable.",
        dir_okay=False,
    ),
]
TrustsPlugins = Annotated[
    bool,
    typer.Option("--trust-plugins", help="Run the code that a run keeps; read it in manifest.json first."),
]
TrustsInventory = Annotated[
    bool, typer.Option("--trust-inventory", help="Run the inventory if it is a program; read it first.")
]
Out = Annotated[
    Path | None,
    typer.Option(help="Directory in which the run's directory is made.", show_default="results"),
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run cells on the workers of this Dask scheduler.")
]
RunDirectory = Annotated[
    Path, typer.Argument(metavar="RUN", help="Directory of a run.", autocompletion=completion.runs)
]
AcceptsDamage = Annotated[
    bool, typer.Option("--accept-damage", help="Go on although files are not as the run wrote them.")
]
InventoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="INVENTORY",
        help="File of the inventory; `virtual` for the running testbed, `virtual:NAME` for another.",
    ),
]
ExperimentOption = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="What this experiment asks of its network counts, instead of the inventory's numbers.",
        autocompletion=completion.experiments,
        show_default=False,
    ),
]
OneCell = Annotated[str | None, typer.Option("--cell", metavar="ID", help="The network of this cell.")]
