"""Tests: child process that tries a plug-in and reports JSON lines."""

import os
import subprocess
import sys

import pytest
from helpers.plugin_files import FIXED_TWICE, plugin

from rogue.harness.plugins import sandbox_process
from rogue.harness.plugins.sandbox_process import LOAD, TRY, question
from rogue.harness.plugins.source import PluginSource

FAILS = plugin("1 / 0\n", "fails.py")


def said(task: str, *sources: PluginSource) -> list[str]:
    ours, theirs = os.pipe()
    subprocess.run(
        [sys.executable, "-P", "-m", sandbox_process.__name__, task, str(theirs)],
        input=question(sources),
        pass_fds=[theirs],
        check=True,
    )
    os.close(theirs)
    with os.fdopen(ours) as stream:
        return stream.read().splitlines()


@pytest.mark.parametrize(
    ("sources", "lines"),
    [
        ([plugin(FIXED_TWICE)], ["true"]),
        ([plugin(FIXED_TWICE), FAILS], ["true", "false"]),
        ([FAILS, plugin(FIXED_TWICE)], ["false"]),
    ],
)
def test_each_that_loads_has_its_line_up_to_one_that_does_not(
    sources: list[PluginSource], lines: list[str]
) -> None:
    assert said(LOAD, *sources) == lines


def test_the_last_is_tried_beside_those_before_it() -> None:
    assert said(TRY, plugin(FIXED_TWICE)) == ['{"adds":["control twice"],"faults":[]}']
    (problems,) = said(TRY, plugin(FIXED_TWICE), FAILS)
    assert "ZeroDivisionError" in problems
