"""The referee's page: its limits come first, and what is held out is as it says."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/REFEREE.md").read_text()
REFEREE = ROOT / "experiments/referee"
HELD_OUT = sorted((REFEREE / "held-out").glob("*.yaml"))


def test_limits_come_before_any_figure() -> None:
    headings = [line for line in TEXT.splitlines() if line.startswith("## ")]
    assert headings[0] == "## What it cannot see"
    limits = TEXT.partition(headings[0])[2].partition(headings[1])[0]
    for words in ("Both sides run our agent", "`soft_roce`", "mended eight times", "n = 1"):
        assert words in limits


def test_the_kernel_was_mended_as_often_as_its_limits_say() -> None:
    findings = TEXT.partition("## Findings")[2]
    once, twice = (findings.count(f"({words}, on the kernel)") for words in ("mended", "mended twice"))
    assert once + 2 * twice == 8


@pytest.mark.parametrize("file", HELD_OUT, ids=lambda file: file.stem)
def test_what_is_held_out_has_the_tolerances_of_the_incast_and_seeds_of_its_own(file: Path) -> None:
    held_out = yaml.safe_load(file.read_text())
    incast = yaml.safe_load((REFEREE / "incast.yaml").read_text())
    expected = {key: value for key, value in incast["agree_within"].items() if key != "probe_p99_ns"}
    assert held_out["agree_within"] == expected
    seeds = range(held_out["seed"], held_out["seed"] + held_out["repetitions"])
    others = [yaml.safe_load(each.read_text()) for each in REFEREE.glob("*.yaml")]
    assert not any(set(seeds) & set(range(each["seed"], each["seed"] + 20)) for each in others)
    assert f"| `{file.stem}` |" in TEXT


def test_three_are_held_out() -> None:
    assert [file.stem for file in HELD_OUT] == ["long-path", "mtu", "send"]
