"""Compare the time of the tests in each folder with its budget."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

BUDGETS_SECONDS: Final = {
    "tests/acceptance": 80, "tests/agent": 40, "tests/docs": 45, "tests/harness": 260, "tests/hostile": 15,
    "tests/playbooks": 5, "tests/remote": 10, "tests/reports": 60, "tests/scripts": 5,
    "tests/simulator": 75, "tests/virtual": 5, "tests/workloads": 10,
}  # fmt: skip
"""Budget of the fast tests of a folder, with set-up and teardown, on one of two idle cores: in all about ten
minutes, so that `make test` takes five."""
OTHERS_SECONDS: Final = 10


class Spent:
    """Adds up what the tests of each folder took."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def note(self, test: str, seconds: float) -> None:
        """Add the time of a test's set-up, call or teardown."""
        folders = test.split("::", maxsplit=1)[0].split("/")[:-1]
        self._seconds["/".join(folders[:2])] += seconds

    def lines(self) -> Iterator[str]:
        """Yield a line for each folder, the longest first, with a mark beyond the budget."""
        for folder, seconds in sorted(self._seconds.items(), key=lambda each: -each[1]):
            budget = BUDGETS_SECONDS.get(folder, OTHERS_SECONDS)
            over = f"  over its budget of {budget} s" if seconds > budget else ""
            yield f"{seconds:7.1f} s  {folder}{over}"
        yield f"{sum(self._seconds.values()):7.1f} s  in all"
