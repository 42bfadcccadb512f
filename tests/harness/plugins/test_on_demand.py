"""What ships as a plug-in is there by name, is loaded when it is asked for, and is nobody else's."""

import pytest
from helpers.plugin_files import plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import load_plugins, loaded_plugins, unload_plugins
from rogue.harness.plugins.on_demand import PLACE, OnDemand
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.workloads.registration import ADDED

OF_A_STRANGER = """\
from rogue.harness.data.formats.format import Converted, Format
from rogue.harness.data.plugins import register_format
register_format("hpcc-flows", Format("theirs", "trace", lambda source: Converted("")))
"""


@pytest.fixture(autouse=True)
def nothing_is_loaded() -> None:
    unload_plugins()


def added() -> list[str]:
    return [str(each) for each in ADDED]


def test_an_entry_is_loaded_when_it_is_asked_for_and_not_before() -> None:
    assert {"onyx", "eos"} <= {*PLATFORMS}
    assert "onyx" in PLATFORMS
    assert len(PLATFORMS) == 7
    assert added() == []
    assert PLATFORMS["onyx"] is PLATFORMS["onyx"]
    assert (PLATFORMS["onyx"].name, added()) == ("onyx", ["switch_platform onyx"])


def test_what_was_taken_back_is_loaded_again() -> None:
    assert PLATFORMS["onyx"].name == "onyx"
    unload_plugins()
    assert added() == []
    assert PLATFORMS["onyx"].name == "onyx"


def test_a_run_does_not_keep_what_ships() -> None:
    assert PLATFORMS["onyx"].name == "onyx"
    assert loaded_plugins() == ()


def test_a_shipped_name_is_taken_before_its_plugin_is_loaded() -> None:
    with pytest.raises(
        ConfigError, match=r"my\.py:3: got a second format hpcc-flows, expected a name that no"
    ):
        load_plugins([plugin(OF_A_STRANGER)])
    assert added() == []


@pytest.mark.parametrize("is_loaded", [False, True])
def test_the_file_of_a_shipped_one_is_no_plugin_of_ones_own(is_loaded: bool) -> None:
    if is_loaded:
        assert PLATFORMS["onyx"].name == "onyx"
    with pytest.raises(ConfigError, match="got a second switch_platform onyx"):
        load_plugins([plugin((PLACE / "platforms/onyx.py").read_text())])


def test_a_name_that_nobody_has_is_none() -> None:
    registry: OnDemand[int] = OnDemand("platforms", {"ours": 1})
    assert registry["ours"] == 1
    with pytest.raises(KeyError, match="ios"):
        registry["ios"]


ASKS = """\
from rogue.harness.data.formats.format import Converted, Format
from rogue.harness.data.plugins import register_format
from rogue.harness.provisioning.switches.registry import PLATFORMS
PLATFORMS["onyx"]
register_format("theirs", Format("theirs", "trace", lambda source: Converted("")))
"""


def test_what_a_plugin_asks_for_is_not_what_it_adds() -> None:
    (loaded,) = load_plugins([plugin(ASKS)])
    assert loaded.adds == ("format theirs",)


def test_what_a_plugin_asked_for_before_it_failed_can_be_asked_for_again() -> None:
    with pytest.raises(ConfigError, match="ZeroDivisionError"):
        load_plugins([plugin(f"{ASKS}1 / 0\n")])
    assert added() == []
    assert PLATFORMS["onyx"].name == "onyx"
