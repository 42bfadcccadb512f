"""`rogue tag`."""

from collections.abc import Sequence
from pathlib import Path

from rogue.harness.commands.index import update_index
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.run_directory import results_directory
from rogue.reports.errors import ReportError
from rogue.reports.index.tags import write_tags


def tag_run(run: Path, tags: Sequence[str]) -> ExitCode:
    """Note the tags of a run beside it, and write the list of runs anew."""
    manifest = read_manifest(run)
    place = results_directory(run, str(manifest.experiment.get("name")))
    if place is None:
        expected = "one below a directory of results, RESULTS/EXPERIMENT/RUN, which is where tags are kept"
        raise UsageError(f"tag: got {run}, a run that was moved, expected {expected}; move it back.")
    try:
        write_tags(place, manifest.run_id, tags)
    except ReportError as error:
        raise UsageError(str(error)) from error
    update_index(place)
    return ExitCode.OK
