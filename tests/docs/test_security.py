"""Each promise of SECURITY.md names a test, and the test is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_each_promise_names_a_test_that_is_there() -> None:
    rows = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 10
    for row in rows:
        named = _NAMED.search(row)
        assert named is not None, f"a promise without a test: {row}"
        assert f"def {named[2]}(" in (ROOT / named[1]).read_text(), f"no such test: {named[0]}"
