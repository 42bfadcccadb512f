"""The container's image and packages are those of one day."""

import re
import shlex
import subprocess
from pathlib import Path

TEXT = (Path(__file__).parents[1] / "Containerfile").read_text()
STAGES = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", TEXT, re.MULTILINE)


def test_every_stage_is_an_image_by_its_digest_or_an_earlier_stage() -> None:
    known: set[str] = set()
    for image, name in STAGES:
        assert image in known or re.fullmatch(r"debian:bookworm-\d{8}-slim@sha256:[0-9a-f]{64}", image), image
        known.add(name)
    assert STAGES


SOURCES = """\
Types: deb
# http://archive.example/debian/20260824T000000Z
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
# http://archive.example/debian-security/20260824T000000Z
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""
OF_ITS_DAY = """\
Types: deb
Check-Valid-Until: no
URIs: http://archive.example/debian/20260824T000000Z
Suites: bookworm bookworm-updates
Components: main

Types: deb
Check-Valid-Until: no
URIs: http://archive.example/debian-security/20260824T000000Z
Suites: bookworm-security
Components: main
"""


def test_packages_are_of_the_images_day_in_every_stage() -> None:
    """As Debian's images have it, their sources name the archive of their day in a comment."""
    before_the_first_packages = TEXT[: TEXT.index("apt-get update")]
    (command,) = re.findall(r"^RUN (sed .*)$", before_the_first_packages, re.MULTILINE)
    program, option, script, file = shlex.split(command)
    assert (program, option, file) == ("sed", "-i", "/etc/apt/sources.list.d/debian.sources")
    done = subprocess.run(["sed", script], input=SOURCES, capture_output=True, text=True, check=True)
    assert done.stdout == OF_ITS_DAY
    assert [image for image, _ in STAGES[1:]] == ["base", "base"]
