"""Tests: the examples of the page on experiment files."""

import re
from pathlib import Path

import pytest

from rogue.harness.experiment.load import load_experiment
from rogue.workloads.topologies import TOPOLOGIES

TEXT = (Path(__file__).parents[2] / "docs/how-to/experiment-files.md").read_text()
YAML_BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


def test_the_quick_scale_is_what_the_page_shows(tmp_path: Path) -> None:
    file = tmp_path / "example.yaml"
    file.write_text(YAML_BLOCKS[0] + YAML_BLOCKS[2])
    quick = load_experiment(str(file), ("scale=quick", "seed=7")).experiment
    assert (quick.repetitions, quick.seed) == (1, 7)
    assert quick.groups[0].workload.model_dump()["repeat_for_ns"] == 20_000_000


@pytest.mark.parametrize("factors", ["", YAML_BLOCKS[1]], ids=["as it stands", "with the other factors"])
def test_the_example_is_an_experiment(tmp_path: Path, factors: str) -> None:
    example = YAML_BLOCKS[0]
    if factors:
        example = re.sub(r"factors:\n(  .*\n)+", factors, example)
    file = tmp_path / "example.yaml"
    file.write_text(example)
    loaded = load_experiment(str(file))
    assert len(loaded.points) == (4 if factors else 3)
    assert loaded.experiment.repetitions * len(loaded.experiment.transports) == 15


def test_who_receives_an_incast_is_as_the_page_says() -> None:
    star = TOPOLOGIES["star"].model_validate({"kind": "star", "hosts": 10, "rate": "10Gbps"})
    for has_probe in (False, True):
        assert star.placement(has_probe=has_probe).receiver == "h9"
    assert star.probe_host() == "h8"
    text = " ".join(TEXT.split())
    assert "goes to the last host, h9 here, with and without a probe" in text
    assert "The probe uses the host before it, h8" in text
