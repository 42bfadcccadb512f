"""Tests: load plug-ins into this process, and switch versions between runs."""

import sys
import threading
from dataclasses import replace

import pytest
from helpers.plugin_files import FIXED_TWICE, RACK, SHOWN, SWIFT, plugin

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.harness.errors import ConfigError
from rogue.harness.plugins import loading as module
from rogue.harness.plugins.loading import (
    load_plugins,
    loaded_plugins,
    packed_plugins,
    place_in_plugin,
    plugin_versions,
    unload_plugins,
)
from rogue.harness.plugins.source import PluginSource, read_plugin
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


def test_text_runs_once() -> None:
    source = plugin(FIXED_TWICE)
    assert load_plugins([source, source])[0] is load_plugins([plugin(FIXED_TWICE, "elsewhere.py")])[0]


def test_python_text_is_no_header() -> None:
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
    FIXED_TWICE + "from rogue.agent.drivers import recording\n": r"my\.py:5: got import rogue.agent.drivers",
    "x = '\\ud800'": r"my\.py: got a plug-in that adds nothing",
    "\0": r"my\.py.*: got ",
}


@pytest.mark.parametrize("text", BROKEN)
def test_failed_load_has_a_line_and_registers_nothing(text: str) -> None:
    before = names()
    with pytest.raises(ConfigError, match=BROKEN[text]):
        load_plugins([plugin(text)])
    assert (names(), loaded_plugins()) == (before, ())


def test_a_second_plugin_with_the_same_name_is_refused() -> None:
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


def test_descriptions_survive_edits_and_moved_files() -> None:
    was = read_plugin(str(RACK), "")
    edited, elsewhere = replace(was, text=f"# edited\n{was.text}"), replace(was, file="elsewhere.py")
    for source in (was, edited, was, elsewhere, replace(edited, file="elsewhere.py")):
        load_plugins([source])
        described = meanings(TOPOLOGIES["racks"]).get("hosts_per_rack")
        unload_plugins()
        assert described is not None


OLD, NEW = plugin(FIXED_TWICE), plugin("# newer\n" + FIXED_TWICE)
HEADER = plugin(FIXED_TWICE, "my.h")
OTHER = plugin(FIXED_TWICE.replace("twice", "thrice"))


def texts() -> list[str]:
    return [each.source.text for each in loaded_plugins()]


def test_another_version_replaces_the_first() -> None:
    """As when a plug-in was edited between two runs on the same Dask workers."""
    with plugin_versions([OLD]):
        assert texts() == [OLD.text]
    with plugin_versions([NEW]):
        assert texts() == [NEW.text]
        assert "twice" in CONGESTION_CONTROLS
    with plugin_versions([OLD]):
        assert texts() == [OLD.text]


def test_subset_of_loaded_plugins_needs_no_reload() -> None:
    with plugin_versions([OLD, OTHER]), plugin_versions([OLD]), plugin_versions([]):
        assert texts() == [OLD.text, OTHER.text]


class Seen(threading.Condition):
    """A condition that records a waiting thread."""

    def __init__(self) -> None:
        super().__init__()
        self.has_waiter = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.has_waiter.set()
        return super().wait(timeout)


def test_cells_that_wait_for_another_version_start_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or cells of the old version that follow each other would hold the new one out for ever."""
    changed, started = Seen(), list[tuple[str, list[str]]]()
    monkeypatch.setattr(module, "_changed", changed)

    def use(name: str, source: PluginSource) -> None:
        with plugin_versions([source]):
            started.append((name, texts()))

    threads = []
    with plugin_versions([OLD]):
        for name, source in (("new", NEW), ("old", OLD), ("new again", NEW)):
            changed.has_waiter.clear()
            threads.append(threading.Thread(target=use, args=(name, source), daemon=True))
            threads[-1].start()
            assert changed.has_waiter.wait(10)
        assert (started, texts()) == ([], [OLD.text])
    for thread in threads:
        thread.join(10)
    assert started == [("new", [NEW.text]), ("old", [OLD.text]), ("new again", [NEW.text])]


def test_the_wait_for_another_version_is_limited() -> None:
    words = rf"my\.py: got my\.py \({OLD.sha256[:12]}\) in use by 2 cells of this worker for 0 s"
    with plugin_versions([OLD]), plugin_versions([OLD]):
        with pytest.raises(ConfigError, match=words), plugin_versions([NEW], limit_s=0):
            pytest.fail("entered beside another version")
        with plugin_versions([OLD], limit_s=0):
            assert texts() == [OLD.text], "a cell that gave up blocks no other"


def test_equal_text_in_another_language_is_another_version() -> None:
    with (
        plugin_versions([OLD]),
        pytest.raises(ConfigError, match=r"my\.h"),
        plugin_versions([HEADER], limit_s=0),
    ):
        pytest.fail("a plug-in in Python taken for one in C++")


def test_failed_cell_releases_its_plugins() -> None:
    with pytest.raises(KeyError), plugin_versions([OLD]):
        raise KeyError
    with plugin_versions([NEW]):
        assert texts() == [NEW.text]


def test_only_agent_plugins_are_packed() -> None:
    load_plugins([read_plugin(str(RACK), ""), plugin(FIXED_TWICE, "x/my twice.py")])
    ((module, text),) = packed_plugins().items()
    assert module.startswith("plugin_my_twice_")
    assert module.isidentifier()
    assert text == FIXED_TWICE


def test_any_file_name_makes_a_module() -> None:
    load_plugins([plugin(FIXED_TWICE, "x/3pc.py")])
    (module,) = packed_plugins()
    assert module.isidentifier()
