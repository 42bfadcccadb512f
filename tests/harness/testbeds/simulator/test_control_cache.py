"""Where compiled controls are kept: once for each text, and nobody else's."""

import grp
import os
import pwd
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from helpers.plugin_files import CountingCompiler

from rogue.harness.errors import ConfigError
from rogue.harness.testbeds.simulator.compiled_controls import library_of
from rogue.virtual.cache import cache_directory

TEXT = "int anything;\n"


@pytest.fixture(autouse=True)
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CountingCompiler:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return CountingCompiler(tmp_path, monkeypatch)


def test_a_text_is_compiled_once(compiler: CountingCompiler) -> None:
    first = library_of(TEXT, "my.h")
    assert compiler.calls() == 1
    assert library_of(TEXT, "another name.h") == first
    assert compiler.calls() == 1
    assert [path.name for path in first.parent.iterdir()] == [first.name]
    assert (first.parent.stat().st_mode & 0o777, first.stat().st_mode & 0o777) == (0o700, 0o700)


def test_another_text_and_another_compiler_make_another(
    compiler: CountingCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = library_of(TEXT, "my.h")
    assert library_of(TEXT + "// more\n", "my.h") != first
    compiler.becomes("2.0")
    assert library_of(TEXT, "my.h") != first
    assert compiler.calls() == 3


def test_the_place_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loader takes a name without a slash for one that it has to search."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert library_of(TEXT, "my.h").parent == tmp_path / "cache" / "rogue-testbed" / "controls"


def test_two_at_once_find_the_same(compiler: CountingCompiler) -> None:
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(library_of, [TEXT, TEXT], ["my.h", "my.h"])
    assert one == other
    assert [*one.parent.iterdir()] == [one]


def test_a_failure_keeps_what_the_compiler_said_and_nothing_else() -> None:
    with pytest.raises(ConfigError, match=r"my.h:1: got .*; correct the line; (\S+\.log) has all") as caught:
        library_of("int anything = nothing;", "my.h")
    (log,) = cache_directory("controls").iterdir()
    assert str(log) in str(caught.value)
    assert "nothing" in log.read_text()


def test_code_that_others_could_have_written_is_not_run(tmp_path: Path) -> None:
    library = library_of(TEXT, "my.h")
    cache = library.parent
    for path, mode, its_own in ((cache, 0o777, 0o700), (cache, 0o770, 0o700), (library, 0o722, 0o700)):
        path.chmod(mode)
        with pytest.raises(ConfigError, match=f"got {path}, which others could have written, expected a dir"):
            library_of(TEXT, "my.h")
        path.chmod(its_own)
    cache.rename(tmp_path / "elsewhere")
    cache.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="which others could have written"):
        library_of(TEXT, "my.h")


def test_a_library_that_was_damaged_is_compiled_again(compiler: CountingCompiler) -> None:
    library = library_of(TEXT, "my.h")
    whole = library.read_bytes()
    library.write_bytes(whole[: len(whole) // 2])
    assert library_of(TEXT, "my.h") == library
    assert (library.read_bytes(), compiler.calls()) == (whole, 2)


@pytest.mark.parametrize(("mode", "is_taken"), [(0o757, False), (0o1777, True), (0o755, True)])
def test_no_directory_above_it_is_one_that_others_may_write(
    tmp_path: Path, mode: int, is_taken: bool
) -> None:
    library_of(TEXT, "my.h")
    above = tmp_path / "cache"
    above.chmod(mode)
    if is_taken:
        assert library_of(TEXT, "my.h").is_file()
        return
    with pytest.raises(
        ConfigError, match=f"got {above}, which others may write.*chmod go-w {above}.*, or set"
    ):
        library_of(TEXT, "my.h")


def test_a_group_of_one_is_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library_of(TEXT, "my.h")
    (tmp_path / "cache").chmod(0o775)
    own, number = pwd.getpwuid(os.geteuid()), (tmp_path / "cache").stat().st_gid
    other = pwd.struct_passwd(("other", "x", own.pw_uid + 1, number, "", "/", "/bin/sh"))
    for people, members, is_taken in (
        ([own], [], True),
        ([own, other], [], False),
        ([own], ["other"], False),
    ):
        monkeypatch.setattr(pwd, "getpwall", lambda people=people: people)
        group = grp.struct_group(("group", "x", number, members))
        monkeypatch.setattr(grp, "getgrgid", lambda _, group=group: group)
        with nullcontext() if is_taken else pytest.raises(ConfigError, match="which others may write"):
            library_of(TEXT, "my.h")


def test_a_place_that_cannot_be_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    with pytest.raises(ConfigError, match=r"my.h: got 'Not a directory' on /dev/null.*set XDG_CACHE_HOME"):
        library_of(TEXT, "my.h")
