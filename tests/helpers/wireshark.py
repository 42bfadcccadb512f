"""Wireshark's dissectors, as a judge of captures."""

import subprocess
from pathlib import Path

from helpers.needs import path_of

END_LIMIT_S = 120.0
WRONG = "_ws.malformed || _ws.unreassembled || _ws.expert.severity == error"
CHECKS = ("ip.check_checksum", "tcp.check_checksum", "udp.check_checksum")


def dissected(capture: Path, *fields: str, wanted: str = "frame") -> list[tuple[str, ...]]:
    """Fields of all frames that a filter lets through, checksums checked."""
    command = [path_of("tshark"), "-n", "-r", str(capture), "-Y", wanted, "-T", "fields"]
    command += [word for field in fields or ("frame.number",) for word in ("-e", field)]
    command += [word for check in CHECKS for word in ("-o", f"{check}:TRUE")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=END_LIMIT_S)
    assert done.returncode == 0, done.stderr
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def wrong_frames(capture: Path) -> list[tuple[str, ...]]:
    """Frames that are malformed, or of which an expert says that they are an error."""
    return dissected(capture, "frame.number", "_ws.expert.message", wanted=WRONG)
