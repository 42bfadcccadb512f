"""Which branches of the harness and the agent their tests take, folder of tests by folder.

`make coverage` keeps what each folder gave in build/coverage: called again after it was stopped, it goes on
with the folders that are left. A change of any Python file begins it anew.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
KEPT: Final = ROOT / "build" / "coverage"
TESTS: Final = ("tests/harness", "tests/agent/core", "tests/agent/node")
MEASURED: Final = {
    "rogue.harness": "harness",
    "rogue.agent.core": "rogue_agent/core",
    "rogue.agent.node": "rogue_agent/node",
}
"""Packages, and where they stand."""
LEAST_PERCENT: Final = 90.0
_NO_TESTS: Final = 5
"""What pytest ends with where all tests are left to `make test-long`."""


def folders(root: Path, tests: Sequence[str]) -> list[list[str]]:
    """The files of tests, one list a folder; paths from the root."""
    found: dict[Path, list[str]] = {}
    for place in tests:
        for file in sorted((root / place).rglob("test_*.py")):
            found.setdefault(file.parent, []).append(file.relative_to(root).as_posix())
    return list(found.values())


def state_of(root: Path) -> str:
    """A name for the Python files as they are: what was measured of others says nothing of these."""
    digest = hashlib.sha256()
    for place in ("src", *MEASURED.values(), "tests"):
        for file in sorted((root / place).rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def measure(files: Sequence[str], data: Path, jobs: str) -> int:
    """Run the tests of a folder, and keep what they took in one file; pytest's exit code."""
    sources = [f"--cov={each}" for each in MEASURED]
    which = ["-m", "not long and not virtual"]
    call = [sys.executable, "-m", "pytest", "-q", "-n", jobs, *which, *sources, "--cov-branch"]
    unfinished = data.with_suffix(".unfinished")
    done = subprocess.run(
        [*call, "--cov-report=", *files],
        check=False,
        cwd=ROOT,
        env={**os.environ, "COVERAGE_FILE": str(unfinished)},
    )
    if done.returncode in {0, _NO_TESTS} and unfinished.exists():
        unfinished.replace(data)
    return 0 if done.returncode == _NO_TESTS else done.returncode


def percent_of(measured: Mapping[str, Any], package: str) -> tuple[float, int, int]:
    """Statements and branches together in percent, the branches taken, and all branches of a package.

    `measured`: coverage's JSON report.
    """
    names = ("covered_lines", "num_statements", "covered_branches", "num_branches")
    place = f"{MEASURED[package]}/"
    files = [each["summary"] for file, each in measured["files"].items() if file.startswith(place)]
    lines, statements, taken, branches = (sum(each[name] for each in files) for name in names)
    return 100 * (lines + taken) / max(1, statements + branches), taken, branches


def told(measured: Mapping[str, Any]) -> tuple[list[str], bool]:
    """A line for each package, and whether all have what they should."""
    lines, is_enough = [], True
    for package in MEASURED:
        percent, taken, branches = percent_of(measured, package)
        share = f"{taken} of {branches} branches ({100 * taken / max(1, branches):.1f} %)"
        lines.append(f"{package}: {percent:.1f} % of statements and branches; {share}")
        is_enough &= percent >= LEAST_PERCENT
    return lines, is_enough


def main(arguments: Sequence[str]) -> int:
    """Measure what is left, and tell; not 0 if a test fails, or too little is taken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="auto", help="processes, as pytest's -n")
    jobs = parser.parse_args(arguments).jobs
    kept = KEPT / state_of(ROOT)
    kept.mkdir(parents=True, exist_ok=True)
    parts = folders(ROOT, TESTS)
    for number, files in enumerate(parts, start=1):
        folder = str(Path(files[0]).parent)
        data = kept / f"{folder.replace('/', '-')}.data"
        say(f"[{number}/{len(parts)}] {folder}{' (kept)' * data.exists()}")
        if not data.exists() and (code := measure(files, data, jobs)):
            return code
    lines, is_enough = told(combined(kept))
    say(*lines)
    if not is_enough:
        say(f"expected {LEAST_PERCENT:g} % of statements and branches at least; test what is missing above.")
    return 0 if is_enough else 1


def combined(kept: Path) -> dict[str, Any]:
    """Put together what the folders gave, and show what none of them took; coverage's JSON report."""
    report = kept / "report.json"
    for step in (
        ["combine", "--keep", "-q", *map(str, sorted(kept.glob("*.data")))],
        ["json", "-q", "-o", str(report)],
        ["report", "-m", "--skip-covered"],
    ):
        environment = {**os.environ, "COVERAGE_FILE": str(kept / "all")}
        subprocess.run([sys.executable, "-m", "coverage", *step], cwd=ROOT, env=environment, check=True)
    measured: dict[str, Any] = json.loads(report.read_text())
    return measured


def say(*lines: str) -> None:
    """Tell at once, between what pytest says."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
