"""The package of the kernel's source."""

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.kernel import build
from rogue.virtual.kernel.build import SourcePackage, source_package

DEPENDS = """\
linux-source
  Depends: linux-source-6.1
"""
SHOWN = """\
Package: linux-source-6.1
Version: 6.1.176-1
"""


def test_the_release_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run", lambda command, **_: DEPENDS if "depends" in command else SHOWN)
    assert source_package() == SourcePackage("linux-source-6.1", "6.1.176-1")


def test_a_computer_without_one_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run", lambda command, **_: "")
    with pytest.raises(VirtualTestbedError, match="run `sudo apt-get update`"):
        source_package()
