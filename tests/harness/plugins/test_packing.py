from helpers.plugin_files import FIXED_TWICE, RACK, plugin

from rogue.harness.plugins.loading import load_plugins, packed_plugins
from rogue.harness.plugins.source import read_plugin


def test_only_what_the_agent_needs_goes_along() -> None:
    load_plugins([read_plugin(str(RACK), ""), plugin(FIXED_TWICE, "x/my twice.py")])
    ((module, text),) = packed_plugins().items()
    assert module.startswith("plugin_my_twice_")
    assert module.isidentifier()
    assert text == FIXED_TWICE


def test_any_file_name_makes_a_module() -> None:
    load_plugins([plugin(FIXED_TWICE, "x/3pc.py")])
    (module,) = packed_plugins()
    assert module.isidentifier()
