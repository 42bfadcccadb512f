"""The commands of the page on switches of one's own, run in its order where there is codel.h alone."""

import re
import shutil
from pathlib import Path

from helpers.pages import ROOT, blocks_of, run_script, text_of
from helpers.switch_files import SWITCHES

from rogue.workloads.switch_controls import SwitchControlParameter
from rogue.workloads.units import QUANTITY_OF_SUFFIX

TEXT = text_of("SWITCH_CONTROLS.md")
HEADER = (ROOT / "simulator/include/rogue/switch_control.h").read_text()
TOLD = ("Place", "PacketSeen", "Arrival", "Departure", "EqualPort", "Choice")
SHORT = (("repetitions: 3", "repetitions: 1"), ("repeat_for: 100ms", "repeat_for: 5ms"), (", 16]", "]"))
"""The page's run takes half a minute."""


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    script = "\n".join(blocks_of(TEXT))
    for long, short in SHORT:
        assert long in script
        script = script.replace(long, short)
    shutil.copy(SWITCHES / "codel.h", tmp_path)
    said = run_script(script, tmp_path)
    assert "step.h: switch_control step keeps the contract".replace("_", " ") in said
    assert "above  default 50000B" in said
    (run,) = (tmp_path / "results/delay").iterdir()
    assert "codel" in (run / "report.html").read_text()


def test_every_file_stands_in_the_table() -> None:
    named = set(re.findall(r"^\| `([a-z0-9]+\.h)`", TEXT, re.M))
    assert named == {file.name for file in SWITCHES.glob("*.h")} - {"grim.h"}


def test_every_number_that_a_control_is_told_says_its_unit_or_what_it_counts() -> None:
    """Amounts are of 64 bits: each has a unit in its name; what has none says in words what it is."""
    for name in TOLD:
        (body,) = re.findall(rf"^struct {name} {{\n(.*?)^}};", HEADER, re.DOTALL | re.MULTILINE)
        for line in body.splitlines():
            field, _, comment = line.partition("//")
            kind, own = field.strip(" ;").rsplit(" ", 1)
            if kind == "std::int64_t":
                assert own.endswith(("_ps", "_bps", "_bytes")), own
            elif kind != "PacketSeen" and not own.startswith(("is_", "can_")):
                assert comment.strip(), own


def test_parameters_are_read_as_the_page_says() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+): ([^`]+)` \| (.*?) \|$", TEXT, re.M)
    read = {}
    for name, key, written, _ in rows:
        parameter = SwitchControlParameter(name, 0, 0, 1e18, "")
        assert parameter.key == key
        read[name] = parameter.read(float(written) if written[-1].isdigit() else written)
    assert read == {"above_bytes": 30_000, "pace_bps": 10**10, "target_ns": 5_000, "share": 0.5}
    ends = [f"_{name.rpartition('_')[2]}" for name in read if "_" in name]
    assert sorted(ends) == sorted(QUANTITY_OF_SUFFIX)
    assert all(f"`{end}`" in HEADER for end in ends)
