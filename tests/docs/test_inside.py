"""The commands of the page on looking inside, run in its order in an empty directory."""

import re
from pathlib import Path

import pytest
from helpers import needs
from helpers.pages import blocks_of, run_script, text_of

from rogue.harness.experiment.choices import MeasureChoice
from rogue.simulator.packets import FATES

TEXT = text_of("INSIDE.md")


@pytest.mark.parametrize("left_out", ["tshark", pytest.param("nothing", marks=pytest.mark.needs("tshark"))])
def test_every_command_does_what_the_page_says(left_out: str, tmp_path: Path) -> None:
    if left_out in needs.NEEDS and needs.program(left_out):
        pytest.skip(f"{left_out} is here, so that nothing is left out")
    script = "\n".join(block for block in blocks_of(TEXT) if left_out not in block)
    said = run_script(script.replace("run inside", "run inside --set scale=quick"), tmp_path)
    assert {each.suffix for each in (tmp_path / "captures").iterdir()} == {".pcapng"}
    assert {each.suffix for each in (tmp_path / "timelines").iterdir()} == {".json"}
    assert left_out == "tshark" or said.count("RRoCE 74 ") > 10


def test_every_reason_and_key_is_explained() -> None:
    named = set(re.findall(r"`([a-z_]+)`", TEXT))
    assert {fate for fate in FATES if fate} <= named
    assert {"ports", "flows", "from", "until", "packets_max"} <= named
    assert MeasureChoice.model_validate("packets").packets_max == 100_000
    assert "100 000 by default" in TEXT
