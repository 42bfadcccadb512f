"""`register_switch_platform`, as the file of an outsider calls it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.nodes import write_inventory
from helpers.plugin_files import example, plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.provisioning.switches.registry import PLATFORMS

PLAIN = example("SWITCHES.md", "register_switch_platform")
SWITCH = """\
    hardware_switches:
      hosts:
        tor:
          ansible_host: 127.0.0.1
          switch_platform: PLATFORM
          switch_ports: [{bridge: s0, interface: Ethernet1, peer: h0}]
          switch_priorities: {3: {dscp: [26], marks: {from_bytes: 9000, to_bytes: 9000}}}
"""


@pytest.fixture(autouse=True)
def nothing_stays_loaded() -> Iterator[None]:
    yield
    unload_plugins()


def with_switch(directory: Path, platform: str) -> str:
    path = write_inventory(directory)
    text = path.read_text()
    path.write_text(text[: text.index("    switch:")] + SWITCH.replace("PLATFORM", platform))
    return str(path)


def test_an_inventory_names_a_platform_from_outside(tmp_path: Path) -> None:
    inventory = with_switch(tmp_path, "plain")
    (tmp_path / "plain.py").write_text(PLAIN)
    planned = rogue(tmp_path, "switch", "plan", inventory, "--offline", "--plugin", "plain.py")
    assert planned.code == 0, planned.err
    told = ["configure terminal", "dscp 26 queue 3", "interface Ethernet1", "ecn 3 9000", "exit", "end"]
    assert planned.out.splitlines() == ["tor (plain) would be told:", *(f"  {each}" for each in told)]
    checked = rogue(tmp_path, "inventory", "check", inventory, "--plugin", "plain.py")
    assert checked.code == 0
    tried = rogue(tmp_path, "check-plugin", "plain.py")
    assert (tried.code, tried.out) == (0, "plain.py: switch platform plain keeps the contract\n")


def test_an_exit_of_a_platform_is_an_error_that_names_it(tmp_path: Path) -> None:
    inventory = with_switch(tmp_path, "plain")
    lines = "def lines(self, wanted):\n"
    exits = PLAIN.replace(lines, f"{lines}        raise SystemExit('no')\n")
    (tmp_path / "plain.py").write_text(exits)
    planned = rogue(tmp_path, "switch", "plan", inventory, "--offline", "--plugin", "plain.py")
    assert (planned.code, planned.out) == (2, "")
    assert planned.err.startswith("rogue: the plug-in raised at plain.py:")
    assert planned.err.endswith(": SystemExit: no; correct the line.\n")


def test_without_its_plugin_a_platform_is_not_known(tmp_path: Path) -> None:
    refused = rogue(tmp_path, "switch", "plan", with_switch(tmp_path, "plain"), "--offline")
    assert refused.code == 2
    assert "tor.switch_platform: got 'plain', expected one of declared, comware," in refused.err
    assert "name the plug-in that has it with --plugin." in refused.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PLAIN.replace("(Plain)", "(Plain())"), "as a switch platform, expected a subclass of Platform"),
        (PLAIN.replace('    name = "plain"\n', ""), "a switch platform with the name None, expected a text"),
        (PLAIN.replace('"plain"', '"declared"'), "a switch platform with the name 'declared', expected"),
        (PLAIN.replace('"plain"', '"eos"'), "a second switch_platform eos, expected"),
        (PLAIN.replace("def owns", "def has"), "TypeError: Can't instantiate abstract class Plain"),
    ],
)
def test_what_is_no_platform_is_a_sentence_with_its_line(text: str, words: str) -> None:
    last = text.count("\n")
    with pytest.raises(ConfigError, match=rf"my\.py:{last}: got .*{words}"):
        load_plugins([plugin(text)])
    assert "plain" not in PLATFORMS


@pytest.mark.parametrize(
    "command",
    ["provision", "doctor", "teardown", "switch plan", "switch apply", "switch check", "switch undo",
     "inventory check"],
)  # fmt: skip
def test_every_command_that_takes_an_inventory_loads_plugins_before_it(tmp_path: Path, command: str) -> None:
    inventory = with_switch(tmp_path, "plain")
    refused = rogue(tmp_path, *command.split(), inventory, "--plugin", "none.py")
    assert refused.code == 2
    assert "'No such file or directory' on opening none.py" in refused.err
