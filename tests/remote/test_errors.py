import pytest

from rogue.harness.cli import run_guarded
from rogue.harness.errors import ExitCode
from rogue.remote.errors import NodeError


def test_a_node_s_failure_is_told_in_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise NodeError("h0: SSH failed: timed out")

    assert run_guarded(fail) is ExitCode.TESTBED
    assert capsys.readouterr().err == "rogue: h0: SSH failed: timed out\n"
