"""GOAL programs on the simulator against LogGOPSim's own model, where nothing contends.

Under LogGOPS with o = g = O = 0 a message of s bytes is received L + (s - 1) G after its send has started.
Source: Hoefler et al. 2010, section 2; LogGOPSim.cpp (6f76d10): a message arrives at o + L, and G is charged
per further byte. With its defaults (L = 2500, o = 1500, s = 1) a dissemination of 16 ranks takes 4 (L + 2 o)
= 22000 ns, which is the example in its README.

Here, at C = 10 Gb/s over a switch and two cables of d = 1 us, with packets of 1024 + 82 bytes:

    G = (1106 / 1024) 8 / C,  L = 2 d + (16 + 1122) 8 / C + G

Three programs of our own in the format of LogGOPSim's examples, fixed before the first run: a dissemination
and a binomial reduction of 16 ranks, log2(16) = 4 messages deep, and a token on a ring with computing.
Messages have 2^20 bytes; the tolerance of 1 % has starts that differ by 10 us and acknowledgements.
"""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator import SimulatorTestbed

RANKS, SIZE_BYTES = 16, 2**20
G_NS = 1106 / 1024 * 0.8
L_NS = 2000 + (16 + 1122) * 0.8 + G_NS
MESSAGE_NS = L_NS + (SIZE_BYTES - 1) * G_NS
TEXT = """\
name: goal
topology: {{kind: star, hosts: {hosts}, rate: 10Gbps, delay: 1us, nic: ideal}}
workload: {{kind: goal, file: {file}}}
transports: [{transport}]
"""


def program(ranks: list[list[str]]) -> str:
    return f"num_ranks {len(ranks)}\n" + "".join(
        "\n".join((f"rank {rank} {{", *lines, "}\n")) for rank, lines in enumerate(ranks)
    )


def dissemination() -> str:
    """In round k rank r sends to r + 2^k, when it has received what came in the round before."""
    ranks = []
    for rank in range(RANKS):
        lines = []
        for step in range(4):
            to, origin = (rank + 2**step) % RANKS, (rank - 2**step) % RANKS
            lines += [f"s{step}: send {SIZE_BYTES}b to {to} tag {step}"]
            lines += [f"r{step}: recv {SIZE_BYTES}b from {origin} tag {step}"]
            lines += [f"s{step} requires r{step - 1}"] if step else []
        ranks.append(lines)
    return program(ranks)


def binomial_reduction() -> str:
    """In round k ranks whose lowest bit is 2^k send to the one without it, when theirs have come."""
    ranks: list[list[str]] = [[] for _ in range(RANKS)]
    for step in range(4):
        for rank in range(2**step, RANKS, 2 ** (step + 1)):
            ranks[rank] += [f"s: send {SIZE_BYTES}b to {rank - 2**step}"]
            ranks[rank] += [f"s requires r{before}" for before in range(step)]
            ranks[rank - 2**step] += [f"r{step}: recv {SIZE_BYTES}b from {rank}"]
    return program(ranks)


def token() -> str:
    """Each rank computes for a millisecond before it sends the token on; it comes back to rank 0."""
    ranks = [[f"s: send {SIZE_BYTES}b to 1", f"r: recv {SIZE_BYTES}b from {RANKS - 1}"]]
    for rank in range(1, RANKS):
        ranks.append(
            [
                f"r: recv {SIZE_BYTES}b from {rank - 1}",
                "c: calc 1000000",
                f"s: send {SIZE_BYTES}b to {(rank + 1) % RANKS}",
                "c requires r",
                "s requires c",
            ]
        )
    return program(ranks)


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        (dissemination(), 4 * MESSAGE_NS),
        (binomial_reduction(), 4 * MESSAGE_NS),
        (token(), 16 * MESSAGE_NS + 15e6),
    ],
    ids=["dissemination", "reduction", "token"],
)
def test_it_takes_as_long_as_the_model_says(text: str, expected_ns: float, tmp_path: Path) -> None:
    file = tmp_path / "program.goal"
    file.write_text(text)
    cell = cell_of(tmp_path, text=TEXT.format(hosts=RANKS, file=file.name, transport="roce"))
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    assert result.failure is None
    flows = result.tables["flows"]
    taken_ns = max(flows["arrived_ns"]) - min(flows["start_ns"])
    assert taken_ns == pytest.approx(expected_ns, rel=0.01)
