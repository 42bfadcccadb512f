"""A run in Python: its plug-ins run only if somebody names them, and what is left out is told."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.plugin_files import SHOWN
from helpers.sample_run import write_sample_run

import rogue
from rogue.harness.plugins.loading import unload_plugins
from rogue.workloads.manifest import checksum_of


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    run = write_sample_run(tmp_path / "run")
    path = run / "manifest.json"
    told = json.loads(path.read_text())
    text = SHOWN.read_text()
    told["plugins"] = [{"file": "shown.py", "sha256": "0" * 64, "text": text, "adds": ["measure flows_seen"]}]
    path.write_text(json.dumps({**told, "checksum": checksum_of(told)}))
    yield run
    unload_plugins()


def measures(run: rogue.LoadedRun) -> set[str]:
    return set(run.metrics["metric"])


def test_a_measure_that_nobody_named_is_left_out_with_a_word(directory: Path) -> None:
    told = r"shown\.py is code that was not named: measure flows_seen; name it: rogue\.load\(RUN, plugins="
    with pytest.warns(UserWarning, match=told):
        run = rogue.load(directory)
    assert "flows_seen" not in measures(run)


def test_one_that_is_named_or_trusted_is_there(directory: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "flows_seen" in measures(rogue.load(directory, plugins=[SHOWN]))
        unload_plugins()
        assert "flows_seen" in measures(rogue.load(str(directory), trusts_plugins=True))


def test_a_plug_in_that_is_not_there_is_a_sentence(directory: Path) -> None:
    with pytest.raises(rogue.HarnessError, match=r"gone\.py"):
        rogue.load(directory, plugins=["gone.py"])
