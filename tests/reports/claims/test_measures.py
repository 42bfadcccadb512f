"""Which measures have judged follows from their code alone."""

from pathlib import Path

from rogue.reports.claims.claim import measures_sha256


def test_each_file_counts_and_its_place_does_not(tmp_path: Path) -> None:
    digests = set()
    for text in ("x = 1", "x = 2"):
        for name in ("one", "other"):
            place = tmp_path / text / name / "cells"
            place.mkdir(parents=True)
            (place / "view.py").write_text(text)
            digests.add(measures_sha256((place,)))
    assert len(digests) == 2
