"""A missing tool skips a test by name, or fails it; continuous integration has all tools."""

import re
from pathlib import Path

import pytest
from helpers import needs

CI = (Path(__file__).parents[1] / ".ci/run").read_text()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "program", lambda _name: None)


@pytest.mark.usefixtures("bare")
def test_what_is_not_here_skips_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", "chromium")
    with pytest.raises(pytest.skip.Exception, match=r"no ip here; it comes with: apt-get install iproute2"):
        needs.check("ip")


@pytest.mark.usefixtures("bare")
def test_what_is_required_fails_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", "chromium,ip")
    with pytest.raises(pytest.fail.Exception, match=r"REQUIRE names ip, but it is not here: apt-get install"):
        needs.check("ip")


def test_a_need_that_nobody_knows_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"'netcat'; expected one of chromium, dnf, ip, "):
        needs.check("netcat")


def test_continuous_integration_requires_every_need() -> None:
    """A test that is skipped in the bare root as well as outside of it would be run nowhere."""
    required = re.search(r"^export REQUIRE=(.*)$", CI, re.MULTILINE)
    assert required is not None
    assert set(required[1].split(",")) == {*needs.NEEDS, "qemu"}
