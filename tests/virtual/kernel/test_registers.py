"""How many registers a kernel keeps of its processes."""

from pathlib import Path

from rogue.virtual.kernel.recipe import ROOM_BYTES, make_room

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
