import io
import tarfile
from pathlib import Path

import pytest

from rogue.virtual.image import recipe


def test_the_same_recipe_has_the_same_name() -> None:
    assert recipe.digest("bookworm") == recipe.digest("bookworm")


def test_another_release_is_another_image() -> None:
    assert recipe.digest("bookworm") != recipe.digest("trixie")


def test_a_changed_guest_file_is_another_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.digest("bookworm")
    for path in recipe.GUEST_DIRECTORY.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(recipe, "GUEST_DIRECTORY", tmp_path)
    assert recipe.digest("bookworm") == before
    (tmp_path / "boot.sh").write_text("#!/bin/sh\n")
    assert recipe.digest("bookworm") != before


def test_guest_files_belong_to_root_and_programs_are_executable() -> None:
    with tarfile.open(fileobj=io.BytesIO(recipe.guest_files())) as packed:
        members = {member.name: member for member in packed.getmembers()}
    assert {(member.uid, member.gid) for member in members.values()} == {(0, 0)}
    assert members["etc/rogue/boot"].mode == 0o755
    assert members["etc/ssh/sshd_config"].mode == 0o644


def test_no_mirror_address_stands_in_the_recipe() -> None:
    directory = Path(recipe.__file__).parent
    assert not [path for path in directory.rglob("*") if path.is_file() and b"://" in path.read_bytes()]
