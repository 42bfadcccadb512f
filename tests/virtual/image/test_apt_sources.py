from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import parse_sources

TARGETS = """\
Debian|bookworm|http://mirror.example/debian/|bookworm|main
Debian|bookworm|http://mirror.example/debian/|bookworm|main
Somebody|stable|http://packages.example/|stable|main
Debian|bookworm-security|http://mirror.example/security/|bookworm-security|main
"""
SETTINGS = """\
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::IndexTargets::deb::Packages::MetaKey "$(COMPONENT)/Packages";
"""


def test_debian_archives_are_kept_each_once_and_nobody_elses() -> None:
    sources = parse_sources(TARGETS, SETTINGS, None)
    assert sources.codename == "bookworm"
    assert sources.lines == (
        "deb http://mirror.example/debian/ bookworm main",
        "deb http://mirror.example/security/ bookworm-security main",
    )


def test_the_archive_is_verified_with_its_keyring() -> None:
    lines = parse_sources(TARGETS, SETTINGS, Path("/keys/debian.gpg")).lines
    assert lines[0].startswith("deb [signed-by=/keys/debian.gpg] ")


def test_the_hosts_proxy_is_passed_on_but_not_its_index_layout() -> None:
    assert (
        parse_sources(TARGETS, SETTINGS, None).settings
        == 'Acquire::http::Proxy "http://proxy.example:3128";\n'
    )


def test_a_host_without_debian_archives_is_told_what_to_do() -> None:
    with pytest.raises(VirtualTestbedError, match="apt-get update"):
        parse_sources("Somebody|stable|http://packages.example/|stable|main\n", "", None)
