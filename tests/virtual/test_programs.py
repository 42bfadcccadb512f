from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.prerequisites import run


def test_output_is_returned_or_goes_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("hello")
    assert run(["cat"], timeout_s=10, stdin=tmp_path / "in") == "hello"
    assert run(["cat"], timeout_s=10, stdin=tmp_path / "in", stdout=tmp_path / "out") == ""
    assert (tmp_path / "out").read_text() == "hello"


def test_a_failure_is_told_in_the_programs_own_words() -> None:
    with pytest.raises(VirtualTestbedError, match=r"sh failed \(exit code 3\):\n  no such disk"):
        run(["sh", "-c", "echo no such disk >&2; exit 3"], timeout_s=10)


def test_a_program_that_hangs_is_ended() -> None:
    with pytest.raises(VirtualTestbedError, match="did not finish within 0 s"):
        run(["tail", "-f", "/dev/null"], timeout_s=0.01)


def test_a_missing_program_is_named() -> None:
    with pytest.raises(VirtualTestbedError, match="no-such-program is not installed"):
        run(["no-such-program"], timeout_s=10)
