"""The container's image and packages are those of one day."""

import re
from pathlib import Path

TEXT = (Path(__file__).parents[1] / "Containerfile").read_text()
STAGES = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", TEXT, re.MULTILINE)


def test_every_stage_is_an_image_by_its_digest_or_an_earlier_stage() -> None:
    known: set[str] = set()
    for image, name in STAGES:
        assert image in known or re.fullmatch(r"debian:bookworm-\d{8}-slim@sha256:[0-9a-f]{64}", image), image
        known.add(name)
    assert STAGES


def test_packages_are_of_the_images_day_in_every_stage() -> None:
    (day,) = set(re.findall(r"debian:bookworm-(\d{8})", TEXT))
    assert re.findall(r"(debian\S*)/(\d{8})T000000Z (\S+?)'", TEXT) == [
        ("debian", day, "bookworm"),
        ("debian-security", day, "bookworm-security"),
    ]
    before_the_first_packages = TEXT[: TEXT.index("apt-get update")]
    assert "rm /etc/apt/sources.list.d/*" in before_the_first_packages
    assert "> /etc/apt/sources.list\n" in before_the_first_packages
    assert [image for image, _ in STAGES[1:]] == ["base", "base"]
