"""Skip tests that need programs which a bare machine lacks."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import pytest


@dataclass(frozen=True, slots=True)
class Need:
    """Programs of which one is enough; none if another check finds it."""

    brought_by: str
    programs: tuple[str, ...] = ()


NEEDS: Mapping[str, Need] = {
    "chromium": Need("apt-get install chromium", ("chromium", "chromium-browser", "google-chrome")),
    "dnf": Need("apt-get install dnf rpm createrepo-c", ("dnf",)),
    "ip": Need("apt-get install iproute2", ("ip", "/usr/sbin/ip", "/sbin/ip")),
    "kernel": Need("rogue testbed kernel build"),
    "openssl": Need("apt-get install openssl", ("openssl",)),
    "pdflatex": Need("apt-get install texlive-latex-base", ("pdflatex",)),
    "ssh-keygen": Need("apt-get install openssh-client", ("ssh-keygen",)),
    "sshd": Need("apt-get install openssh-server", ("sshd", "/usr/sbin/sshd", "/usr/local/sbin/sshd")),
    "tc": Need("apt-get install iproute2", ("tc",)),
    "tshark": Need("apt-get install tshark", ("tshark",)),
}
"""Beside these, tests marked `virtual` need `qemu`, which tests/virtual/conftest.py looks for."""


@cache
def program(name: str) -> str | None:
    """Return the path of the program that a test needs; None if there is none."""
    return next((path for each in NEEDS[name].programs if (path := shutil.which(each))), None)


def path_of(name: str) -> str:
    """Return the path of the program, for a test that is marked with this need."""
    path = program(name)
    assert path is not None, f"no {name} here; is the test marked with needs({name!r})?"
    return path


def check(name: str) -> None:
    """Skip the test if this is not here; fail it if REQUIRE has the name."""
    if name not in NEEDS:
        pytest.fail(f"a test needs {name!r}; expected one of {', '.join(NEEDS)}", pytrace=False)
    if _is_here(name):
        return
    if name in os.environ.get("REQUIRE", "").split(","):
        pytest.fail(f"REQUIRE names {name}, but it is not here: {NEEDS[name].brought_by}", pytrace=False)
    pytest.skip(f"no {name} here; it comes with: {NEEDS[name].brought_by}")


def _is_here(name: str) -> bool:
    if name == "kernel":
        from helpers.built_kernel import built

        return built() is not None
    return program(name) is not None
