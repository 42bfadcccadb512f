"""The sample data set, written once."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.sample_kinds import (
    write_loaded_run,
    write_pairs_run,
    write_ping_run,
    write_random_run,
    write_recovery_run,
    write_staggered_run,
    write_waiting_run,
)
from helpers.sample_run import Sample, write_sample_run
from helpers.small_runs import claim_of

from rogue.reports.claims import hold_against
from rogue.reports.figures import FIGURES
from rogue.reports.pages.build import build
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

FIGURE_14A = "experiments/rogue-paper/figure-14a.yaml"
"""The experiment of a claim that the sample run judges."""


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A partial run: two transports, three repetitions, one failed cell, one transport unsupported."""
    sample = Sample(unsupported=("roce+dcqcn",), failed=("roce-r3",), file=FIGURE_14A)
    return write_sample_run(tmp_path_factory.mktemp("sample") / "run", sample)


@pytest.fixture(scope="session")
def sweep_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run with a factor: two transports, two factor points, two repetitions."""
    sample = Sample(senders=(2, 4), repetitions=2, seconds=2.0)
    return write_sample_run(tmp_path_factory.mktemp("sweep") / "run", sample)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A short run that a test may change."""
    return write_sample_run(tmp_path / "experiment" / "run", Sample(repetitions=2, seconds=1.0))


@pytest.fixture(scope="session")
def report(sample_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sample run."""
    return build(Path(shutil.copytree(sample_run, tmp_path_factory.mktemp("report") / "run")))


@pytest.fixture(scope="session")
def results(sample_run: Path) -> Results:
    return Results(Run(sample_run))


@pytest.fixture(scope="session")
def sweep(sweep_run: Path) -> Results:
    return Results(Run(sweep_run))


@pytest.fixture(scope="session")
def published(sample_run: Path) -> Results:
    """The sample run, and a made-up claim with one number per transport."""
    found = Results(Run(sample_run))
    claims = [
        claim_of(id=f"X-{name}", transport=name, published=value, experiments=["rogue-paper/figure-14a"])
        for name, value in (("rogue", 0.9), ("roce", 0.5))
    ]
    hold_against(claims, found)
    return found


def _results_of(write: Callable[[Path], Path]) -> Callable[[pytest.TempPathFactory], Results]:
    """Return a fixture: the run that a function writes."""

    @pytest.fixture(scope="session")
    def results_of_kind(tmp_path_factory: pytest.TempPathFactory) -> Results:
        return Results(Run(write(tmp_path_factory.mktemp("kind"))))

    return results_of_kind


waiting = _results_of(write_waiting_run)
staggered = _results_of(write_staggered_run)
pings = _results_of(write_ping_run)
pairs = _results_of(write_pairs_run)
random_transfers = _results_of(write_random_run)
recovering = _results_of(write_recovery_run)
loaded = _results_of(write_loaded_run)


@pytest.fixture
def one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws one figure instead of all, which take a second for each report."""
    for name in reversed(list(FIGURES)[1:]):  # undone from the last on, in the order of the page
        monkeypatch.delitem(FIGURES, name)
