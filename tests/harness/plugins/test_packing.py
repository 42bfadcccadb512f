from helpers.plugin_files import FIXED_TWICE, RACK, plugin

from harness.plugins.loading import load_plugins
from harness.plugins.packing import packed_plugins
from harness.plugins.source import read_plugin


def test_only_what_the_agent_needs_goes_along() -> None:
    load_plugins([read_plugin(str(RACK), ""), plugin(FIXED_TWICE, "x/my twice.py")])
    ((module, text),) = packed_plugins().items()
    assert module.startswith("my_twice_")
    assert module.isidentifier()
    assert text == FIXED_TWICE
