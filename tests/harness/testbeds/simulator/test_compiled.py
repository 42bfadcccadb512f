"""Controls of NICs in C++ from outside: what they are asked, and what becomes of what they raise."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.networks import MILLISECOND_NS, ReferenceSimulation, Star
from helpers.plugin_files import FOLDER, plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.simulator import CONTROLS, ControlError, NicControl, Simulation
from rogue.workloads.transports import NIC_CONTROLS

MOODY = FOLDER / "moody.h"
OLD = """\
struct Table { unsigned version = 0; } table;
extern "C" __attribute__((visibility("default"))) const void* rogue_nic_control() { return &table; }
"""


@pytest.fixture
def moody() -> Iterator[None]:
    load_plugins([read_plugin(str(MOODY), "")])
    yield
    unload_plugins()


def sending(mood: int, kind: type[Simulation] = Simulation) -> Simulation:
    """Two packets on their way, over a switch."""
    simulation = Star(hosts=2).build(kind)
    control = NicControl("moody", {"mood": mood})
    queue_pair, _ = simulation.connect(
        "h0", "h1", mtu_bytes=1024, retry_count=7, timeout_exponent=14, control=control
    )
    queue_pair.post_write(1, 2048, True)
    return simulation


@pytest.mark.usefixtures("moody")
def test_compiled_control_is_registered_and_unregistered() -> None:
    assert CONTROLS["moody"].meaning == "It does what it likes (a compiled control from outside the engine)"
    assert [(each.name, each.maximum) for each in CONTROLS["moody"].parameters] == [("mood", 9)]
    moody = NIC_CONTROLS["moody"]
    assert (moody.wants_marks, moody.wants_telemetry) == (False, True)
    assert NicControl("moody").wants_acknowledgements, "for telemetry comes with them"
    unload_plugins()
    assert "moody" not in {*CONTROLS, *NIC_CONTROLS}


@pytest.mark.usefixtures("moody")
@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
def test_compiled_control_sees_acknowledgements_and_reports_metrics(kind: type[Simulation]) -> None:
    simulation = sending(0, kind)
    simulation.run_until(MILLISECOND_NS)
    (sender, _) = simulation.control_metrics().values()
    assert sender == {"acknowledged": 2, "hops": 0, "rate_bps": 10**10}, "no switch of this network writes"


def line_of(words: str) -> int:
    return next(number for number, line in enumerate(MOODY.read_text().splitlines(), 1) if words in line)


@pytest.mark.usefixtures("moody")
@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
@pytest.mark.parametrize(
    ("mood", "words", "line"),
    [
        (1, "its constructor: not today", None),
        (2, "its constructor: there is no parameter temper", "temper"),
        (3, "moody.window_bytes: expected a whole number from 1, got 0", None),
        (4, "moody.deadline_ps: expected 1000001 or later after on_timer, got 1000000", None),
        (5, "on_timer: tired", "tired"),
        (6, "on_timer: it threw what is no std::exception", None),
        (7, "moody.window_bytes: expected no other window after on_sent than before, got 1024", None),
        (8, "metrics: secret", "secret"),
    ],
)
def test_errors_of_a_compiled_control_have_their_place(
    kind: type[Simulation], mood: int, words: str, line: str | None
) -> None:
    with pytest.raises(ControlError) as caught:
        simulation = sending(mood, kind)
        simulation.run_until(MILLISECOND_NS)
        simulation.control_metrics()
    assert str(caught.value) == words
    assert caught.value.place == (f"{MOODY}:{line_of(line)}" if line else str(MOODY))


@pytest.mark.usefixtures("moody")
def test_failed_control_stops_the_simulation() -> None:
    simulation = sending(5)
    with pytest.raises(ControlError, match="tired"):
        simulation.run_until(MILLISECOND_NS)
    with pytest.raises(ControlError, match="moody has raised: the simulation cannot continue"):
        simulation.control_metrics()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (OLD, "my.h: got a control that expected version 3 of rogue/nic_control.h, got 0, expected"),
        (
            OLD.replace("nic", "switch"),
            "my.h: got a control that expected version 1 of rogue/switch_control.h, got 0, expected",
        ),
        (
            OLD + OLD.replace("nic", "switch").replace("Table", "Other").replace("table", "other"),
            "my.h: got ROGUE_NIC_CONTROL and ROGUE_SWITCH_CONTROL, expected one control in a file",
        ),
        ("int nothing;", "my.h: got no control, expected a header that ends with ROGUE_NIC_CONTROL"),
        (
            "#include <rogue/switch_control.h>",
            "my.h: got no control, expected a header that ends with ROGUE_SWITCH_CONTROL of rogue/switch",
        ),
        (
            "#include <rogue/receiver_control.h>\nint wrong",
            "expected C++20 that compiles with rogue/receiver_control.h alone",
        ),
        (
            OLD.replace("nic", "receiver"),
            "my.h: got a control that expected version 1 of rogue/receiver_control.h, got 0, expected",
        ),
        (
            "#include <rogue/switch_control.h>\nint wrong",
            "expected C++20 that compiles with rogue/switch_control.h alone",
        ),
        (
            'extern "C" { int wanted(); } int nothing = wanted();',
            "my.h:1: got undefined reference to `wanted'",
        ),
    ],
)
def test_header_without_one_control_is_an_error(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_plugins([plugin(text, "my.h")])
    assert words in str(caught.value)


SAYING = """\
#include <rogue/nic_control.h>
class Mine final : public rogue::NicControl {{
 public:
  Mine(const rogue::Parameters&, std::int64_t line_rate_bps) : NicControl(line_rate_bps) {{
    {constructor}
  }}
  rogue::Metrics metrics(std::int64_t) const override {{ return {{{{"a\\xff", 1}}}}; }}
}};
ROGUE_NIC_CONTROL(Mine, {name}, {meaning}, {{"gain", 1, 0, 2, {of_gain}}});
"""


@pytest.fixture
def unloaded() -> Iterator[None]:
    yield
    unload_plugins()


def saying(
    constructor: str = "", name: str = '"mine"', meaning: str = '"words"', of_gain: str = '"gain"'
) -> None:
    text = SAYING.format(constructor=constructor, name=name, meaning=meaning, of_gain=of_gain)
    load_plugins([plugin(text, "my.h")])


@pytest.mark.usefixtures("unloaded")
def test_error_text_without_utf8_is_shown_with_its_place() -> None:
    saying('rogue::fail("\\xff" + std::string(509, \'a\') + "\u00e9\u00e9");', meaning=r'"\xff \x1b[2J"')
    assert CONTROLS["mine"].meaning.startswith("\ufffd \ufffd[2J (")
    with pytest.raises(ControlError) as caught:
        NicControl("mine").alone(10**9)
    assert str(caught.value) == "its constructor: \ufffd" + "a" * 509, "half a character is none"
    assert caught.value.place == "my.h:5"


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
def test_metric_name_without_utf8_is_shown(kind: type[Simulation]) -> None:
    saying()
    assert set(NicControl("mine").alone(10**9).metrics(0)) >= {"a\ufffd"}
    simulation = Star(hosts=2).build(kind)
    simulation.connect(
        "h0", "h1", mtu_bytes=1024, retry_count=7, timeout_exponent=14, control=NicControl("mine")
    )
    assert all("a\ufffd" in metrics for metrics in simulation.control_metrics().values())


@pytest.mark.parametrize("missing", ["name", "meaning", "of_gain"])
def test_null_name_or_meaning_is_an_error(missing: str) -> None:
    with pytest.raises(ConfigError, match=r"my.h: got a control that has a name or a meaning that is a null"):
        saying(**{missing: "nullptr"})


@pytest.mark.usefixtures("moody")
def test_number_of_values_must_match_the_parameters() -> None:
    compiled = CONTROLS["moody"].compiled
    assert compiled is not None
    with pytest.raises(ValueError, match="expected 1 values, got 2"):
        compiled.maker([1, 2])


PATH = """\
#pragma once
#include <rogue/nic_control.h>
class Knowing final : public rogue::NicControl {
 public:
  Knowing(const rogue::Parameters&, const rogue::PathFacts& path) : NicControl(path), path_(path) {}
  rogue::Metrics metrics(std::int64_t) const override {
    return {{"base_rtt_ps", double(path_.base_rtt_ps)}, {"mtu_bytes", double(path_.mtu_bytes)},
            {"packet_bytes", double(path_.packet_bytes)}, {"hops", double(path_.hops)}};
  }
 private:
  rogue::PathFacts path_;
};
ROGUE_NIC_CONTROL(Knowing, "knowing", "It reports the facts of its path");
"""


def test_constructor_may_take_the_facts_of_the_path(tmp_path: Path) -> None:
    (tmp_path / "knowing.h").write_text(PATH)
    load_plugins([read_plugin(str(tmp_path / "knowing.h"), "")])
    try:
        simulation = Star(hosts=2).build()
        control = NicControl("knowing")
        simulation.connect("h0", "h1", mtu_bytes=1024, retry_count=7, timeout_exponent=14, control=control)
        metrics, _ = simulation.control_metrics().values()
    finally:
        unload_plugins()
    base_rtt_ps = 2 * (884_800 + 68_800) + 4_000_000
    assert metrics == {
        "base_rtt_ps": base_rtt_ps, "mtu_bytes": 1024, "packet_bytes": 1106, "hops": 1, "rate_bps": 10**10,
    }  # fmt: skip


def test_copy_of_a_shipped_header_gives_the_same_digest(tmp_path: Path) -> None:
    """PowerTCP hears of hops, acknowledgements and its path, and keeps a vector."""
    text = (Path(__file__).parents[4] / "simulator/cpp/cc/powertcp.h").read_text()
    (tmp_path / "mine.h").write_text(text.replace('"powertcp"', '"mine"'))
    load_plugins([read_plugin(str(tmp_path / "mine.h"), "")])
    try:
        digests = [incast_digest(name) for name in ("powertcp", "mine")]
    finally:
        unload_plugins()
    assert digests[0] == digests[1]


def incast_digest(control: str) -> str:
    simulation = Star(hosts=5, features={"has_telemetry": True}).build()
    for host in range(4):
        pair, _ = simulation.connect(
            f"h{host}", "h4", mtu_bytes=1024, retry_count=7, timeout_exponent=14, control=NicControl(control)
        )
        for verb in range(20):
            pair.post_write(verb, 10**5, True)
    simulation.run_until(2 * MILLISECOND_NS)
    assert simulation.statistics()["verbs_done"] > 0
    return simulation.digest()
