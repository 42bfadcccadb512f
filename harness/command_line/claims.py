"""`rogue claims` and `rogue reproduce`: their arguments and their help."""

from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line.experiments import Dask
from rogue.harness.errors import ExitCode

Results = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="RESULTS...",
        help="Directories with runs, or claims.json of an earlier board; by default results.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The page; claims.json is written beside it. By default claims.html below RESULTS.",
    ),
]
Readme = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Put the tally between its marks in this file, too.")
]
AcceptsDamage = Annotated[
    bool, typer.Option("--accept-damage", help="Go on although files are not as their runs wrote them.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change every experiment, e.g. scale=quick; repeatable."),
]


def claims(
    results: Results = None, out: Out = None, readme: Readme = None, accepts_damage: AcceptsDamage = False
) -> ExitCode:
    """Compare all runs with all claims, and write a page with the best evidence for each claim.

    The best evidence is real hardware, then the experiment that was written for the claim, then the number
    of seeds, then a commit without changes, then the newest run; the verdict plays no part. The headline
    counts claims that are published, unfitted, no order of magnitude and not vacuous alone; the others wear
    badges.
    Each verdict names its seeds, its commit and its day. The claims.json of an earlier board keeps the
    evidence of runs that are not on this computer.

    \b
      rogue claims
      rogue claims results docs/claims/claims.json --out docs/claims/index.html --readme README.md
      rogue claims results elsewhere/results --out claims.html
    """
    from rogue.harness.commands.claims import write_board

    return write_board(tuple(results or ()), out, readme, accepts_damage=accepts_damage)


def reproduce(  # noqa: PLR0913  (one parameter per option)
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="rogue, irn, rocc, hpcc, rdma-at-scale, ecn-or-delay, dctcp, swift, powertcp, uet, reps,"
            " smartt or all.",
        ),
    ],
    settings: Settings = None,
    out: Annotated[Path | None, typer.Option(help="Directory of the runs.", show_default="results")] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=1024, help="Cells at once; by default one per core."),
    ] = None,
    dask: Dask = None,
    is_again: Annotated[
        bool, typer.Option("--again", help="Run every experiment, also those that have a complete run.")
    ] = False,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Print what is complete and what is missing; run nothing.")
    ] = False,
) -> ExitCode:
    """Run the shipped experiments of a paper, or of all, and write the claims board.

    An experiment with a complete run of the same file and settings does not run again. A run that was
    stopped resumes if the commit is the same: after Ctrl-C, the same command continues. Cheap experiments
    and cells run first.

    \b
      rogue reproduce rogue
      rogue reproduce all --dry-run
      rogue reproduce all --dask tls://head:8786
      rogue reproduce all --set scale=quick
      rogue reproduce uet --again
    """
    from rogue.harness.commands.reproduce import ReproduceOptions, reproduce_paper

    return reproduce_paper(ReproduceOptions(paper, tuple(settings or ()), out, jobs, dask, is_again, is_dry))
