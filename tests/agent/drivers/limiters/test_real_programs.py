"""The real tc takes the options that we start it with; it sets nothing here."""

import subprocess

import pytest

from rogue.agent.drivers.limiters import htb


def reply(command: tuple[str, ...], line: str) -> str:
    """What a program prints when it is told one line."""
    done = subprocess.run(command, input=f"{line}\n", capture_output=True, text=True, timeout=20, check=False)
    return done.stdout + done.stderr


@pytest.mark.needs("tc")
def test_a_line_that_fails_is_named_and_the_program_goes_on() -> None:
    line = "class show dev no-such-device"
    said = reply(htb.COMMAND, f"{line}\n{line}")
    assert "ommand failed -:1" in said
    assert "ommand failed -:2" in said
