"""Choose the cases of uet-htsim's committed results that ours are compared with, by a rule.

.venv/bin/python scripts/uet_htsim_cases.py CHECKOUT   # github.com/ultraethernet/uet-htsim, commit 40ccb05

The rule, written down before the first run. A case is one command line of htsim_uec with its tail completion
time.
1. Senders alone control congestion (-sender_cc_only), for `uet` has no credits of receivers.
2. `validate_outputs`: all cases, those without reused connections (-conn_reuse), for `uet` has no messages.
3. `results`, of each network and traffic the newer file (`_2`): permutations of 8192 hosts with messages of
   1 MB, and incasts of 1 MB into one of 8192 hosts that start together (`0us`).
4. What two files run with the same options and traffic counts once, where it comes first.

Tolerances, also from before the first run: a case is met within 5 %, and close within 10 %. What is compared
is the time from the first start to the end of the last transfer.

A second rule, for credits of receivers (`uet+rccc`), written down before the first run of these. It makes
credit-cases.csv.
1. Receivers control congestion, alone (-receiver_cc_only) or beside senders (-sender_cc -receiver_cc).
2. `validate_outputs` alone, without reused connections. The results of 2024 (`*_rccc*`) do not say so in
   their command lines, and have 8192 hosts.
3. Not where receivers alone control an oversubscribed network: uet-htsim has another rate control there
   (oversubscribed_cc.cpp), which is not part of RCCC.
4. and the tolerances as above. Switches trim and mark in proportion to their ports' rates.
"""

import csv
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
CASES: Final = ROOT / "docs/uet-htsim/cases.csv"
CREDIT_CASES: Final = CASES.with_name("credit-cases.csv")
DATACENTER: Final = Path("htsim/sim/datacenter")
MATRICES: Final = "connection_matrices/"
TOPOLOGIES: Final = "topologies/"
DEFAULTS: Final = {"-load_balancing_algo": "mixed", "-paths": "64"}
"""Source: main_uec.cpp, of both dates."""
LEFT_OUT: Final = ("-sender_cc_only", "-end")
"""Options that are the same in all cases, or change nothing."""
NO_VALUE: Final = ("-sender_cc_only", "-receiver_cc_only", "-sender_cc", "-receiver_cc", "-conn_reuse")
TWO_VALUES: Final = ("-ecn",)
SENDERS: Final = (frozenset({"-sender_cc_only"}),)
RECEIVERS: Final = (frozenset({"-receiver_cc_only"}), frozenset({"-sender_cc", "-receiver_cc"}))
"""Who controls congestion, as a command line says it."""
_CONTROLS: Final = frozenset().union(*SENDERS, *RECEIVERS)
_TAIL: Final = re.compile(r"Tail FCT ([0-9.]+) us")
_AGAIN: Final = re.compile(r"Rtx: ([0-9]+)")


class Case(NamedTuple):
    """A run there, and what came of it."""

    file: str
    """Of results, below `datacenter`."""
    matrix: str
    topology: str
    """Empty: a fat tree of three tiers for the nodes of the matrix."""
    options: str
    """The others, in the order of the alphabet."""
    tail_us: float
    again: int
    """Packets that were sent again."""
    older_us: float | None = None
    """What an older file has of the same command line, which shows what a change of that program is worth."""


def cases_in(text: str, file: str, controls: Collection[frozenset[str]] = SENDERS) -> Iterator[Case]:
    """All cases of a file whose congestion is controlled so, on connections of their own."""
    command: dict[str, str] = {}
    tail = ""
    for line in text.splitlines():
        if line.startswith("Running "):
            command, tail = _options(line.split()[2:]), ""
        elif found := _TAIL.search(line):
            tail = found[1]
        elif (found := _AGAIN.search(line)) and tail:
            if _CONTROLS & set(command) in controls and "-conn_reuse" not in command:
                yield _case(file, command, tail, found[1])
            tail = ""


def _options(words: Sequence[str]) -> dict[str, str]:
    found, at = {}, 0
    while at < len(words):
        count = 0 if words[at] in NO_VALUE else 2 if words[at] in TWO_VALUES else 1
        found[words[at]] = " ".join(words[at + 1 : at + 1 + count])
        at += 1 + count
    return found


def _case(file: str, command: dict[str, str], tail: str, again: str) -> Case:
    options = DEFAULTS | {key: value for key, value in command.items() if key not in LEFT_OUT}
    matrix = options.pop("-tm").removeprefix(MATRICES)
    topology = options.pop("-topo", "").removeprefix(TOPOLOGIES)
    text = " ".join(f"{key} {value}".strip() for key, value in sorted(options.items()))
    return Case(file, matrix, topology, text, float(tail), int(again))


def is_chosen(case: Case) -> bool:
    """Of the files of 8192 hosts, those of 1 MB; of the incasts, those that start together."""
    if case.file.startswith("validate_outputs/"):
        return True
    return case.matrix in ("perm_8192n_8192c_1MB.cm",) or case.matrix.endswith("_0us_1Ms.cm")


def files_in(checkout: Path) -> Iterator[Path]:
    """Checks of the simulator with itself, then the newer results."""
    yield from sorted((checkout / DATACENTER / "validate_outputs").glob("*.out"))
    yield from sorted((checkout / DATACENTER / "results").glob("*_nscc*_2.txt"))
    yield checkout / DATACENTER / "results/experiment2_out_2.txt"


def chosen(checkout: Path) -> list[Case]:
    """The cases that the rule names."""
    found: dict[tuple[str, str, str], Case] = {}
    for path in files_in(checkout):
        name = str(path.relative_to(checkout / DATACENTER))
        for case in filter(is_chosen, cases_in(path.read_text(), name)):
            found.setdefault(_key(case), case)
    older = dict(_older(checkout))
    return [case._replace(older_us=older.get(_key(case))) for case in found.values()]


def chosen_for_credits(checkout: Path) -> list[Case]:
    """The cases that the second rule names."""
    found: dict[tuple[str, str, str], Case] = {}
    for path in sorted((checkout / DATACENTER / "validate_outputs").glob("*.out")):
        for case in cases_in(path.read_text(), str(path.relative_to(checkout / DATACENTER)), RECEIVERS):
            if "oversub" not in case.topology or "-receiver_cc_only" not in case.options:
                found.setdefault(_key(case), case)
    return list(found.values())


def _key(case: Case) -> tuple[str, str, str]:
    return case.matrix, case.topology, case.options


def _older(checkout: Path) -> Iterator[tuple[tuple[str, str, str], float]]:
    results = checkout / DATACENTER / "results"
    for path in (*sorted(results.glob("*_nscc*.txt")), results / "experiment2_out.txt"):
        if not path.stem.endswith("_2"):
            for case in cases_in(path.read_text(), path.name):
                yield _key(case), case.tail_us


if __name__ == "__main__":
    for target, choose in ((CASES, chosen), (CREDIT_CASES, chosen_for_credits)):
        with target.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(Case._fields)
            writer.writerows(choose(Path(sys.argv[1])))
