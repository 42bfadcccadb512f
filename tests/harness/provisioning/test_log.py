from pathlib import Path

from rogue.harness.provisioning.provision import LOGS, log_file


def test_the_file_asked_for_is_taken_and_otherwise_one_is_made_up() -> None:
    assert log_file(Path("x.log"), "doctor") == Path("x.log")
    assert log_file(None, "doctor").parent == LOGS
    assert log_file(None, "doctor").name.endswith("Z-doctor.log")
