"""A plan whose plug-ins may never return."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.experiments import SMALL, write_experiment
from helpers.fake_testbed import FakeTestbed
from helpers.plugin_files import example

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plan import plan as plans
from rogue.harness.plan.plan import make_plan, make_watched_plan
from rogue.harness.plugins.loading import unload_plugins
from rogue.harness.plugins.source import PluginSource
from rogue.harness.testbeds.simulator import SimulatorTestbed

PYTHON = example("PLUGINS.md", "register_nic_control")
FIRST_LINE = "        super().__init__(parameters, line_rate_bps)\n"
COMPILED = """\
#pragma once
#include <rogue/nic_control.h>

class Endless final : public rogue::NicControl {
 public:
  Endless(const rogue::Parameters&, std::int64_t line_rate_bps) : NicControl(line_rate_bps) {
    for (volatile int turns = 0;; turns = 1) {
    }
  }
};

ROGUE_NIC_CONTROL(Endless, "halve", "never made");
"""


@pytest.fixture(autouse=True)
def nothing_stays_loaded() -> Iterator[None]:
    yield
    unload_plugins()


def loaded(tmp_path: Path, *plugins: PluginSource) -> LoadedExperiment:
    settings = "transports=[roce+halve]" if plugins else "transports=[roce]", "probe=null", "time_limit=1s"
    return load_experiment(write_experiment(tmp_path, SMALL), settings, plugins)


@pytest.mark.parametrize(
    "source",
    [
        PluginSource("halve.py", PYTHON.replace(FIRST_LINE, FIRST_LINE + "        while True: pass\n")),
        PluginSource("halve.h", COMPILED),
    ],
    ids=lambda source: source.file,
)
def test_a_control_that_is_never_made_ends_the_plan_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: PluginSource
) -> None:
    monkeypatch.setattr(plans, "SILENT_SECONDS_MIN", 0.1)
    with pytest.raises(ConfigError) as caught:
        make_watched_plan(loaded(tmp_path, source), SimulatorTestbed())
    assert str(caught.value) == (
        f"{source.file}: got a plug-in that has not returned after 1 s of planning, expected an end of each "
        "call; correct what never ends, or raise time_limit; `rogue check-plugin` shows more."
    )


def test_the_plan_is_the_one_that_is_made_without_watching(tmp_path: Path) -> None:
    experiment, counts = loaded(tmp_path, PluginSource("halve.py", PYTHON)), list[tuple[int, int, str]]()
    plan = make_watched_plan(experiment, SimulatorTestbed(), lambda *count: counts.append(count))
    assert plan.cells == make_plan(experiment, SimulatorTestbed()).cells
    assert plan.loaded is experiment
    assert counts == [(1, 1, "planning cells")]


def test_what_is_wrong_is_told_as_without_watching(tmp_path: Path) -> None:
    source = PluginSource("halve.py", PYTHON)
    settings = "transports=[{name: roce+halve, colour: 1}]", "probe=null"
    experiment = load_experiment(write_experiment(tmp_path, SMALL), settings, (source,))
    with pytest.raises(ConfigError, match="colour"):
        make_watched_plan(experiment, SimulatorTestbed())


class OnNodes(FakeTestbed):
    """One network of machines."""

    @property
    def jobs_max(self) -> int | None:
        return 1


@pytest.mark.parametrize("plugins", [(), (PluginSource("halve.py", PYTHON),)])
def test_no_process_is_started_without_plug_ins_or_over_connections_to_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugins: tuple[PluginSource, ...]
) -> None:
    experiment = loaded(tmp_path, *plugins)
    monkeypatch.delattr(os, "fork")
    testbed = OnNodes() if plugins else SimulatorTestbed()
    assert len(make_watched_plan(experiment, testbed).cells) == 1


def test_nothing_of_a_plug_in_is_called_before_the_other_process_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = loaded(tmp_path, PluginSource("halve.py", PYTHON))
    called = list[object]()
    monkeypatch.setattr(type(experiment.experiment.workload), "flows", lambda *given: called.append(given))
    monkeypatch.setattr(os, "fork", lambda: (_ for _ in ()).throw(BlockingIOError))
    with pytest.raises(BlockingIOError):
        make_watched_plan(experiment, SimulatorTestbed())
    assert not called, "what never returns there would never return here"
