"""`python3 rogue-agent.pyz serve`: the agent on a node; `data ROLE DIRECTORY`: one of its data processes."""

import sys
from pathlib import Path

from rogue_agent.control.serve import supervise, work

_USAGE = "usage: rogue-agent.pyz serve\n"


def main(arguments: list[str]) -> int:
    """Run the subcommand; return the exit code."""
    if arguments == ["serve"]:
        return supervise(_this_program())
    if len(arguments) == 3 and arguments[0] == "data":
        return work(arguments[1], Path(arguments[2]))
    sys.stderr.write(_USAGE)
    return 2


def _this_program() -> list[str]:
    """How to start this program again: as the archive it came in, or as the module."""
    if sys.argv[0].endswith(".pyz"):
        return [sys.executable, sys.argv[0]]
    return [sys.executable, "-m", "rogue_agent"]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
