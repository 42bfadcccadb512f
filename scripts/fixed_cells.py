"""Compare the tables of twelve fixed cells, byte for byte, between two states of the code.

.venv/bin/python scripts/fixed_cells.py write DIRECTORY [NAME ...]   # run the cells, keep their tables
.venv/bin/python scripts/fixed_cells.py compare BEFORE AFTER         # exit code 1 and a list if tables differ

The cell `kernel` needs the kernel of `rogue testbed kernel build`. Its tables move when the agent imports
other modules: reading their files takes virtual time before the first flow starts.
"""

import filecmp
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import yaml

import rogue

CELLS: Final = Path(__file__).with_suffix(".yaml")


def write(directory: Path, names: list[str]) -> None:
    """Run the named cells, or all, and copy their tables to `directory/NAME`."""
    cells = yaml.safe_load(CELLS.read_text())["cells"]
    for name in names or cells:
        with tempfile.TemporaryDirectory() as out:
            experiment = {"name": name, "title": name, "seed": 7} | cells[name]
            rogue.run(experiment, out=out, testbed="kernel" if name == "kernel" else "simulator")
            for table in Path(out).glob("*/*/cells/*/*.parquet"):
                (directory / name).mkdir(parents=True, exist_ok=True)
                shutil.copy(table, directory / name)


def compare(before: Path, after: Path) -> list[Path]:
    """Return the tables that differ or that only one of the directories has."""
    tables = {path.relative_to(root) for root in (before, after) for path in root.rglob("*.parquet")}
    return sorted(each for each in tables if not _is_same(before / each, after / each))


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and filecmp.cmp(one, other, shallow=False)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", directory, *names]:
            write(Path(directory), names)
        case ["compare", before, after]:
            different = compare(Path(before), Path(after))
            sys.exit("\n".join(["these tables differ:", *map(str, different)]) if different else 0)
        case _:
            sys.exit(__doc__)
