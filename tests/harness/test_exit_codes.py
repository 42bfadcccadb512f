"""Exit codes: scripts rely on them."""

from rogue.harness.cli import rogue
from rogue.harness.errors import ExitCode


def test_numbers_are_fixed() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0, "CELLS_FAILED": 1, "USAGE": 2, "REPORT_FAILED": 3, "NOTHING_TO_RUN": 4, "DAMAGED": 5,
        "STORAGE": 6, "TESTBED": 7, "MEMORY": 8, "BUG": 70, "INTERRUPTED": 130, "TERMINATED": 143,
    }  # fmt: skip


def test_help_explains_each() -> None:
    text = rogue.__doc__ or ""
    for code in ExitCode:
        assert f"{code.value} " in text, f"`rogue --help` does not explain {code.name}"
