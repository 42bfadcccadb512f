"""Whether a later run found the same tables: then a result of older code is one of newer code, too."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from rogue.workloads.history import COMMIT_LENGTH
from rogue.workloads.manifest import Manifest

TABLES: Final = ".parquet"
DIGEST_LENGTH: Final = 16
"""Hexadecimal digits of a digest: 64 bits."""

Digests = Mapping[str, Mapping[int, str]]
"""Of each point (transport and factors, as cells are named) and seed, the digest of its cell's tables."""


class Recheck(NamedTuple):
    """What became of a run's cells at another commit."""

    commit: str
    seeds: tuple[int, ...]
    """The seeds that both have, at one point at least."""
    is_same: bool
    """Whether all cells that both have gave the same tables, byte for byte."""

    @property
    def text(self) -> str:
        """Write it: `seed 1 gave the same tables at 1234567890ab`."""
        *most, last = map(str, self.seeds)
        seeds = f"seeds {', '.join(most)} and {last}" if most else f"seed {last}"
        return (
            f"{seeds} gave {'the same' if self.is_same else 'other'} tables at {self.commit[:COMMIT_LENGTH]}"
        )


def table_digests(manifest: Manifest) -> dict[str, dict[int, str]]:
    """Return the digests of the cells that finished; what a cell took of time is in no table."""
    tables: dict[str, list[str]] = {}
    for path, checksum in sorted(manifest.files.items()):
        _, _, below = path.partition("cells/")
        cell_id, _, name = below.partition("/")
        if name.endswith(TABLES):
            tables.setdefault(cell_id, []).append(f"{name} {checksum}")
    digests: dict[str, dict[int, str]] = {}
    for cell in manifest.cells:
        if cell.status == "ok" and cell.id in tables:
            digest = sha256("\n".join(tables[cell.id]).encode()).hexdigest()[:DIGEST_LENGTH]
            digests.setdefault(cell.id.removesuffix(f"-r{cell.repetition}"), {})[cell.seed] = digest
    return digests


def recheck(run: Digests, later: Digests, commit: str) -> Recheck | None:
    """Hold a run against a later one; None unless they share a seed at each of the run's points."""
    shared = {point: run[point].keys() & later.get(point, {}).keys() for point in run}
    if not shared or not all(shared.values()):
        return None
    is_same = all(run[point][seed] == later[point][seed] for point, seeds in shared.items() for seed in seeds)
    return Recheck(commit, tuple(sorted(set().union(*shared.values()))), is_same)


def newest(rechecks: Iterable[tuple[int, Recheck]]) -> Recheck | None:
    """Return the recheck with the fewest commits since; None if there is none."""
    return min(rechecks, key=lambda each: each[0], default=(0, None))[1]
