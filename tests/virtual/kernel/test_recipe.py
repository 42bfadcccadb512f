"""Tests: the recipe of the kernel and its root folder."""

import re
from pathlib import Path

from rogue.virtual.kernel import recipe
from rogue.virtual.kernel.recipe import ROOM_BYTES, make_room


def test_name_changes_with_release_and_source() -> None:
    names = {
        recipe.digest(*each) for each in (("bookworm", "6.1.1"), ("trixie", "6.1.1"), ("bookworm", "6.1.2"))
    }
    assert len(names) == 3


def test_words_make_no_other_kernel() -> None:
    code = (
        b'"""A module."""\nTHREE = 3  # pieces\n"""How many."""\n\ndef f():\n    """Docs."""\n    return 3\n'
    )
    assert recipe.without_words(code) == b"THREE = 3\n\ndef f():\n    return 3"
    assert recipe.without_words(code.replace(b"= 3", b"= 4")) != recipe.without_words(code)


def test_every_option_is_wanted_once() -> None:
    options = recipe.wanted_options()
    assert len(options) == len(set(options)) > 50
    assert all(re.fullmatch(r"CONFIG_[A-Z0-9_]+=(y|[0-9]+|\".*\")", option) for option in options)
    assert "CONFIG_RDMA_RXE=y" in options


def test_init_leaves_the_root_folder_alone() -> None:
    """Cells share it: what they write goes to tmpfs or to their own folder."""
    mounted = re.findall(r"mount -t tmpfs \S+ (\S+)", recipe.INIT.read_text())
    assert mounted == ["/tmp", "/run"]


AMX_BYTES = 11_008
"""Of XSAVE's standard format with everything up to tile data (CPUID leaf 0xD, subleaf 0)."""
STATED = "#ifdef FP_XSTATE_MAGIC1\n\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n#else\n"


def offsets(source: Path, text: str) -> Path:
    path = source / "arch/x86/um/user-offsets.c"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_what_is_stated_holds_those_of_amx(tmp_path: Path) -> None:
    path = offsets(tmp_path, STATED)
    make_room(tmp_path)
    assert path.read_text() == STATED.replace("2696", str(ROOM_BYTES))
    assert ROOM_BYTES >= AMX_BYTES


def test_a_source_that_asks_its_host_stays_as_it_is(tmp_path: Path) -> None:
    path = offsets(tmp_path, "void foo(void)\n")
    make_room(tmp_path)
    assert path.read_text() == "void foo(void)\n"
    make_room(tmp_path / "of another kind")
