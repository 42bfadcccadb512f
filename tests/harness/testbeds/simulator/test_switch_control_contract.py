"""The contract of parts of switches: what ships in tests keeps it, and what does not is a sentence."""

from pathlib import Path

import pytest
from helpers.plugin_files import plugin
from helpers.switch_files import NAMES, SWITCHES, loaded

from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.testbeds.simulator.control_contract import switch_control_faults

HEADER = """\
#include <rogue/switch_control.h>
#include <cstdint>
{before}
class Mine final : public rogue::SwitchControl {{
 public:
  {wants}
  Mine(const rogue::Parameters&, const rogue::Place&) {{}}
  {body}
}};
ROGUE_SWITCH_CONTROL(Mine, "mine", "it is tried", {{"x", 1, 0, 2, "{meaning}"}});
"""
ARRIVAL = "rogue::Verdict on_arrival(const rogue::Arrival&) override"


@pytest.mark.parametrize("name", NAMES)
def test_those_of_the_tests_keep_it(name: str) -> None:
    with loaded(name):
        assert switch_control_faults(name) == []


@pytest.mark.parametrize(
    ("words", "before", "wants", "body", "meaning"),
    [
        ("x has no meaning in words", "", "", f"{ARRIVAL} {{ return rogue::Verdict::kTake; }}", " "),
        ("it has none of on_arrival, on_departure and choose", "", "", "", "a"),
        (
            "it trims, and has no on_arrival, which alone may say so",
            "",
            "static constexpr bool trims = true;",
            "std::uint32_t choose(const rogue::Choice& choice) override { return choice.hashed; }",
            "a",
        ),
        (
            "nothing arrived within 3 ms, expected some transfers to end",
            "",
            "",
            f"{ARRIVAL} {{ return rogue::Verdict::kDrop; }}",
            "a",
        ),
        (
            "the same calls gave another result",
            "static int calls = 0;",
            "",
            f"{ARRIVAL} {{ return ++calls % 97 == 0 ? rogue::Verdict::kDrop : rogue::Verdict::kTake; }}",
            "a",
        ),
        (
            "mine.choose: expected a port below 3, got 3",
            "",
            "",
            "std::uint32_t choose(const rogue::Choice&) override { return 3; }",
            "a",
        ),
        ("on_arrival: stop", "", "", f'{ARRIVAL} {{ rogue::fail("stop"); }}', "a"),
    ],
)
def test_what_does_not_is_a_sentence(words: str, before: str, wants: str, body: str, meaning: str) -> None:
    text = HEADER.format(before=before, wants=wants, body=body, meaning=meaning)
    load_plugins([plugin(text, "mine.h")])
    (fault,) = switch_control_faults("mine")
    unload_plugins()
    assert words in fault


def test_no_file_of_them_is_left_out() -> None:
    assert {Path(file).stem for file in SWITCHES.glob("*.h")} == {*NAMES, "grim", "witness"}
