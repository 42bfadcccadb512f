"""What belongs together on the command lines of `rogue search` and `rogue sensitivity`."""

from pathlib import Path

from rogue.harness.errors import UsageError


def check_start(
    command: str, experiment: str, file: tuple[str, Path | None], resume: Path | None, *, is_changed: bool
) -> None:
    """UsageError unless there is an experiment with its file, an option and its value, or a run alone."""
    option, path = file
    if resume is not None and is_changed:
        alone = "search" if command == "search" else "run"
        got = "an experiment or options that change it"
        raise UsageError(f"--resume: got {got}, expected the {alone} alone; it goes on as it was started.")
    if resume is None and (not experiment or path is None):
        missing = option if experiment else "experiment"
        expected = f"an experiment and {option} FILE, or --resume RUN"
        raise UsageError(f"{command}: got no {missing}, expected {expected}; docs/SEARCH.md shows both.")
