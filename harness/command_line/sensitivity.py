"""`rogue sensitivity`: its arguments and its help."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line import completion
from rogue.harness.command_line.experiments import (
    Dask,
    Jobs,
    OptionalExperiment,
    Out,
    Plugins,
    Settings,
    TestbedName,
    TrustsInventory,
    TrustsPlugins,
)
from rogue.harness.command_line.growing_run import check_start
from rogue.harness.exit_codes import ExitCode

Vary = Annotated[Path | None, typer.Option(metavar="FILE", help="Which keys vary, and within which bounds.")]
Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="ID", help="Ask what moves this claim; repeatable.")
]
IsPlan = Annotated[bool, typer.Option("--plan", help="Say what it should take; run nothing.")]
ResumedScreening = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Go on with one that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]


def sensitivity(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    vary: Vary = None,
    claims: Claims = None,
    is_plan: IsPlan = False,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    resume: ResumedScreening = None,
    dask: Dask = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Say which keys of an experiment move a measure or a claim, and what turns the claim.

    Morris's screening moves each key a few times, alone, from random points, with the same seeds before and
    after. The file may ask for Sobol indices of the keys that are left, and for the smallest change of one or
    two keys that turns a claim. The last line on standard output is the directory.

    \b
      rogue sensitivity my.yml --vary vary.yml
      rogue sensitivity controls/dcqcn-delay --set 'factors={}' --claim X-2-10 --vary vary.yml
    """
    is_changed = any((experiment, vary, claims, settings, out, is_plan))
    check_start("sensitivity", experiment, ("--vary", vary), resume, is_changed=is_changed)
    from rogue.harness.commands.experiments import find_experiment, load_named

    files = tuple(plugins or ())
    loaded = load_named(experiment, tuple(settings or ()), files) if resume is None else None
    from rogue.harness.commands.sensitivity import SensitivityOptions, run_sensitivity
    from rogue.harness.plugins.trust import Trust
    from rogue.harness.search.variation import read_variation_document

    document = None if vary is None else read_variation_document(find_experiment(str(vary)))
    options = SensitivityOptions(
        loaded=loaded, arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, resume=resume,
        dask=dask, trust=Trust(files, trusts_plugins), trusts_inventory=trusts_inventory,
        vary=document, is_plan=is_plan, claims=tuple(claims or ()),
    )  # fmt: skip
    return run_sensitivity(options)
