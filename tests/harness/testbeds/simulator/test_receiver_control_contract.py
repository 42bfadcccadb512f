"""The contract of controls of receivers: what ships in tests keeps it, and what does not is a sentence."""

from pathlib import Path

import pytest
from helpers.plugin_files import plugin
from helpers.receiver_files import NAMES, RECEIVERS, loaded

from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.testbeds.simulator.control_contract import receiver_control_faults

HEADER = """\
#include <rogue/receiver_control.h>
#include <cstdint>
{before}
class Mine final : public rogue::ReceiverControl {{
 public:
  Mine(const rogue::Parameters&, const rogue::Host&) {{}}
  void on_arrival(const rogue::Received& packet) override {{
    next_ps_ = packet.now_ps;
    connection_ = packet.connection;
  }}
  std::int64_t next_turn_ps() const override {{ return next_ps_; }}
  rogue::Grant on_turn(std::int64_t now_ps) override {{
    next_ps_ = {next};
    {turn}
  }}

 private:
  std::int64_t next_ps_ = rogue::kNever;
  std::uint32_t connection_ = 0;
}};
ROGUE_RECEIVER_CONTROL(Mine, "mine", "it is tried", {{"x", 1, 0, 2, "{meaning}"}});
"""
NEVER = "rogue::kNever"


@pytest.mark.parametrize("name", NAMES)
def test_those_of_the_tests_keep_it(name: str) -> None:
    with loaded(name):
        assert receiver_control_faults("rccc_outside" if name == "rccc" else name) == []


@pytest.mark.parametrize(
    ("words", "before", "following", "turn", "meaning"),
    [
        ("x has no meaning in words", "", NEVER, "return {connection_, 9000};", " "),
        ("transfers ended within", "", NEVER, "return {};", "a"),
        (
            "the same calls gave another result",
            "static int calls = 0;",
            NEVER,
            "return {connection_, ++calls % 97 * 100};",
            "a",
        ),
        ("expected a connection below 6 or kNobody, got 6", "", NEVER, "return {6, 1};", "a"),
        ("or later after on_turn", "", "now_ps", "return {};", "a"),
        ("on_turn: stop", "", NEVER, 'rogue::fail("stop");', "a"),
    ],
)
def test_what_does_not_is_a_sentence(
    words: str, before: str, following: str, turn: str, meaning: str
) -> None:
    text = HEADER.format(before=before, next=following, turn=turn, meaning=meaning)
    load_plugins([plugin(text, "mine.h")])
    (fault,) = receiver_control_faults("mine")
    unload_plugins()
    assert words in fault


def test_no_file_of_them_is_left_out() -> None:
    assert {Path(file).stem for file in RECEIVERS.glob("*.h")} == {*NAMES, "grim", "witness"}
