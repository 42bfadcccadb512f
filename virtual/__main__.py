"""`python -m rogue.virtual prepare`: install what the host lacks, build the image, choose the accelerator."""

import sys

from rogue.virtual import prerequisites
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import cache_directory, obtain
from rogue.virtual.machines.assembly import choose

_USAGE = "usage: python -m rogue.virtual prepare\n"


def main(arguments: list[str]) -> int:
    """Run the subcommand; return the exit code."""
    if arguments != ["prepare"]:
        sys.stderr.write(_USAGE)
        return 2
    try:
        prerequisites.ensure(prerequisites.MACHINES, tell)
        cache = cache_directory()
        choose(obtain(cache, tell), cache, tell)
    except VirtualTestbedError as error:
        tell(str(error))
        return 1
    return 0


def tell(text: str) -> None:
    """Show one line of progress."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
