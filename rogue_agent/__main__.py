"""`python3 rogue-agent.pyz serve`: the agent on a node."""

import sys

from rogue_agent.node.serve import supervise

_USAGE = "usage: rogue-agent.pyz serve\n"


def main(arguments: list[str]) -> int:
    """Run the subcommand; return the exit code."""
    if arguments == ["serve"]:
        return supervise()
    sys.stderr.write(_USAGE)
    return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
