"""The two clocks are different types: mypy must refuse to mix them."""

from pathlib import Path

import pytest
from mypy import api

from rogue.agent.core.clocks import HostNs, earlier

SOURCES = Path(__file__).parents[3] / "src"
LINES = {
    "connection.on_posted(1, nic)": None,
    "connection.on_timer(host)": None,
    "connection.on_posted(1, host)": 'incompatible type "HostNs"; expected "NicNs"',
    "connection.on_timer(nic)": 'incompatible type "NicNs"; expected "HostNs"',
    "connection.on_posted(1, 5)": 'incompatible type "int"; expected "NicNs"',
    "connection.on_completions(host, [(1, 0, host, 0, None)])": '"tuple[int, int, HostNs, int, None]"',
    "Schedule(size_bytes=1, start_ns=nic)": 'incompatible type "NicNs"; expected "HostNs"',
}
PROGRAM = """\
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
def use(connection: Connection, host: HostNs, nic: NicNs) -> None:
"""


@pytest.mark.parametrize(
    ("one_ns", "other_ns", "first_ns"), [(None, None, None), (3, None, 3), (None, 4, 4), (3, 4, 3), (5, 4, 4)]
)
def test_what_never_comes_is_not_the_earlier(
    one_ns: HostNs | None, other_ns: HostNs | None, first_ns: HostNs | None
) -> None:
    assert earlier(one_ns, other_ns) == first_ns


def test_mypy_tells_the_clocks_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SOURCES)
    program = PROGRAM + "".join(f"    {line}\n" for line in LINES)
    output, errors, _ = api.run(["--config-file=", "--strict", "-c", program])
    assert errors == ""
    for number, (line, expected) in enumerate(LINES.items(), start=PROGRAM.count("\n") + 1):
        found = [text for text in output.splitlines() if text.startswith(f"<string>:{number}:")]
        assert bool(found) == (expected is not None), f"{line}: {found}"
        assert expected is None or expected in found[0], f"{line}: {found}"
