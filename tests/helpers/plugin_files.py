"""Plug-ins that tests load."""

import re
from pathlib import Path

from rogue.harness.plugins.source import PluginSource

FOLDER = Path(__file__).parents[1] / "data" / "plugins"
SWIFT, RACK, SHOWN, DCQCN = (FOLDER / f"{name}.py" for name in ("swift", "rack", "shown", "dcqcn"))
DCQCN_COMPILED = FOLDER / "dcqcn.h"
EVERYWHERE, RACKS = FOLDER / "everywhere.yaml", FOLDER / "racks.yaml"

FIXED_TWICE = """\
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.plugins import register_control

register_control("twice", FixedParameters)
"""


def plugin(text: str, file: str = "my.py") -> PluginSource:
    """A plug-in that stands nowhere."""
    return PluginSource(file, text)


def example(page: str, call: str) -> str:
    """The plug-in on a page of the docs that makes this call."""
    text = (FOLDER.parents[2] / "docs" / page).read_text()
    (found,) = (each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if f"\n{call}(" in each)
    return str(found)
