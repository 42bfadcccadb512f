"""`python3 rogue-agent.pyz serve`: the agent on a node; `flood` and `card` measure for the doctor."""

import sys
from pathlib import Path

from rogue.agent.node.bundle import unpack
from rogue.agent.node.doctor import card, flood
from rogue.agent.node.serve import supervise

_USAGE = """\
usage: rogue-agent.pyz serve
       rogue-agent.pyz flood ADDRESS --dscp 0..63 --mtu BYTES
       rogue-agent.pyz card ADDRESS
       rogue-agent.pyz unpack
"""


def main(arguments: list[str]) -> int:
    """Run the subcommand; return the exit code."""
    if arguments == ["serve"]:
        return supervise()
    if arguments[:1] == ["flood"]:
        return flood(arguments[1:])
    if arguments[:1] == ["card"]:
        return card(arguments[1:])
    if arguments == ["unpack"]:
        return unpack(Path(sys.argv[0]).absolute())
    sys.stderr.write(_USAGE)
    return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
