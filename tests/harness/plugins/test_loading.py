"""What registers is there until it is taken back; what does not load is a sentence with file and line."""

import sys
from dataclasses import replace

import pytest
from helpers.plugin_files import FIXED_TWICE, RACK, SHOWN, SWIFT, plugin

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import load_plugins, loaded_plugins, place_in_plugin, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.reports.figures import FIGURES
from rogue.reports.metrics import METRICS, PLUGGED
from rogue.workloads.flow_sizes import FLOW_SIZES
from rogue.workloads.specification import meanings
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.traffic import WORKLOADS

REGISTRIES = (CONGESTION_CONTROLS, WORKLOADS, TOPOLOGIES, FLOW_SIZES, METRICS, FIGURES)


def names() -> list[list[str]]:
    return [[*registry] for registry in REGISTRIES]


def test_each_kind_of_entry_is_registered_and_taken_back() -> None:
    before = names()
    files = [read_plugin(str(file), "") for file in (SWIFT, RACK, SHOWN)]
    loaded = load_plugins(files)
    added = [sorted({*now} - {*then}) for now, then in zip(names(), before, strict=True)]
    assert added == [["swift"], ["opposite"], ["racks"], ["two"], ["flows_seen"], ["empty"]]
    assert [plugin.adds for plugin in loaded] == [
        ("control swift",),
        ("topology racks", "workload opposite", "distribution two"),
        ("measure flows_seen", "figure empty"),
    ]
    assert [*PLUGGED] == ["flows_seen"]
    unload_plugins()
    assert (names(), loaded_plugins(), PLUGGED) == (before, (), {})


def test_a_text_runs_once() -> None:
    source = plugin(FIXED_TWICE)
    assert load_plugins([source, source])[0] is load_plugins([plugin(FIXED_TWICE, "elsewhere.py")])[0]


def test_a_text_that_loaded_as_python_is_not_taken_for_a_header() -> None:
    load_plugins([plugin(FIXED_TWICE)])
    with pytest.raises(ConfigError, match=r"my\.h"):
        load_plugins([plugin(FIXED_TWICE, "my.h")])


BROKEN = {
    "def f(:": r"my\.py:1: got .*, expected Python",
    "import rogue.agent\n\n1 / 0": r"my\.py:3: got ZeroDivisionError: division by zero, expected a plug-in",
    "import nothing_of_the_kind": r"my\.py:1: got ModuleNotFoundError: No module named",
    "a = 1": r"my\.py: got a plug-in that adds nothing, expected a call of register_control",
    "raise SystemExit": r"my\.py: got a plug-in that ends the program",
    FIXED_TWICE.replace(
        "twice", "vegas"
    ): r"my\.py:4: got a second control vegas, expected a name that no other",
    FIXED_TWICE.replace(
        "twice", "Two Words"
    ): r"my\.py:4: got the name 'Two Words' of a control, expected lower",
    FIXED_TWICE.replace(
        '"twice", FixedParameters', '"x", 3'
    ): r"my\.py:4: got 3 as a control, expected a subclass",
    FIXED_TWICE + "import numpy\n": r"my\.py:5: got import numpy, expected rogue.agent.core and the standard",
    FIXED_TWICE + "from rogue.agent.drivers import spool\n": r"my\.py:5: got import rogue.agent.drivers",
    "x = '\\ud800'": r"my\.py: got a plug-in that adds nothing",
    "\0": r"my\.py.*: got ",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_does_not_load_says_where_and_leaves_nothing(text: str) -> None:
    before = names()
    with pytest.raises(ConfigError, match=BROKEN[text]):
        load_plugins([plugin(text)])
    assert (names(), loaded_plugins()) == (before, ())


def test_a_half_registered_plugin_is_taken_back_whole() -> None:
    with pytest.raises(ConfigError, match=r"my\.py:5"):
        load_plugins([plugin(FIXED_TWICE + "1 / 0\n")])
    assert "twice" not in CONGESTION_CONTROLS


def test_two_plugins_with_one_name_are_told_apart() -> None:
    load_plugins([plugin(FIXED_TWICE, "one.py")])
    with pytest.raises(ConfigError, match=r"two\.py:5: got a second control twice"):
        load_plugins([plugin("# another\n" + FIXED_TWICE, "two.py")])
    assert [each.source.file for each in loaded_plugins()] == ["one.py"]


def test_an_error_while_a_plugin_runs_has_its_line() -> None:
    text = FIXED_TWICE.replace(
        "register_control(", "def fail():\n    raise KeyError(1)\n\n\nregister_control("
    )
    load_plugins([plugin(text)])
    module = sys.modules[plugin(text).module]
    with pytest.raises(KeyError) as caught:
        module.fail()
    assert place_in_plugin(caught.value) == f"my.py:{text.splitlines().index('    raise KeyError(1)') + 1}"
    assert place_in_plugin(ValueError("of nobody")) is None


def test_keys_keep_their_descriptions_if_the_plugin_is_edited_or_its_file_is_on_another_computer() -> None:
    was = read_plugin(str(RACK), "")
    edited, elsewhere = replace(was, text=f"# edited\n{was.text}"), replace(was, file="elsewhere.py")
    for source in (was, edited, was, elsewhere, replace(edited, file="elsewhere.py")):
        load_plugins([source])
        described = meanings(TOPOLOGIES["racks"]).get("hosts_per_rack")
        unload_plugins()
        assert described is not None
