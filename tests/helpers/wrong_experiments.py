"""Wrong experiments, and the sentences that their authors are told: `tests/data/wrong_experiments.txt`.

Each has a name, its differences from a right one, and where and what it is told. A block whose key a right
one has stands in its place, `-key` leaves one out, and every other block comes after all.
"""

import re
from pathlib import Path
from typing import NamedTuple

RIGHT = """\
name: wrong
topology: {kind: star, hosts: 10, rate: 10Gbps, delay: 1us}
workload: {kind: incast, senders: 8, size: 128MB}
probe: {kind: write0, interval: 1ms}
transports: [rogue, roce]
"""
FILE = Path(__file__).parents[1] / "data/wrong_experiments.txt"


class WrongExperiment(NamedTuple):
    text: str
    told: tuple[str, ...]
    """Lines, each with the number of a line before it."""


def _changed(blocks: list[str]) -> str:
    lines = {line.partition(":")[0]: line for line in RIGHT.splitlines(keepends=True)}
    added = []
    for block in blocks:
        key = re.split(r"[:\n]", block)[0]
        if key in lines:
            lines[key] = block
        elif key.startswith("-") and key[1:] in lines:
            del lines[key[1:]]
        else:
            added.append(block)
    return "".join([*lines.values(), *added])


def _read() -> dict[str, WrongExperiment]:
    found = {}
    for record in re.split(r"^== ", FILE.read_text(), flags=re.M)[1:]:
        name, _, rest = record.partition("\n")
        changes, *told = re.split(r"^> ", rest, flags=re.M)
        blocks = re.split(r"^(?=\S)", changes, flags=re.M)[1:]
        found[name] = WrongExperiment(_changed(blocks), tuple(line.rstrip("\n") for line in told))
    return found


WRONG_EXPERIMENTS = _read()
