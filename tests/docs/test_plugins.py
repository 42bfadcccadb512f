"""The commands of the page on plug-ins, run in its order in an empty directory."""

import re
from pathlib import Path

from helpers.pages import blocks_of, run_script, text_of

TEXT = text_of("PLUGINS.md")


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    said = run_script("\n".join(blocks_of(TEXT)), tmp_path)
    assert "halve.py: control halve keeps the contract" in said
    assert "(plug-in halve.py)" in said
    assert (tmp_path / "test_halve.py").is_file()
    (run,) = (tmp_path / "results/halve").iterdir()
    assert "Halve" in (run / "report.html").read_text()


def test_every_call_that_it_names_is_there() -> None:
    from rogue.agent.core import plugins as agent
    from rogue.harness.data import plugins as formats
    from rogue.harness.provisioning.switches import plugins as switches
    from rogue.harness.testbeds.simulator import plugins as nics
    from rogue.reports import plugins as shown
    from rogue.workloads import plugins as traffic

    named = set(re.findall(r"`([a-z_.]+)\.(register_[a-z_]+)\(", TEXT))
    there = {
        (module.__name__, name)
        for module in (agent, formats, nics, shown, switches, traffic)
        for name in module.__all__
        if name.startswith("register_")
    }
    assert named == there
