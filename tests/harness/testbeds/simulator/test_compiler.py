"""Tests: compile controls written in C++ and cache the libraries."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.plugin_files import DCQCN_COMPILED, CountingCompiler

from rogue.harness.errors import ConfigError
from rogue.harness.testbeds.simulator.compiled_controls import (
    Compiled,
    Compiler,
    find_compiler,
    kind_of,
    library_of,
)
from rogue.virtual.cache import cache_directory

LOG = Path("/cache/x.log")


def problem(text: str, directory: Path) -> str:
    compiled = find_compiler("my.h").compile(text, directory)
    assert compiled.library is None
    return str(compiled.problem("my.h", LOG))


def test_no_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -v")
    expected = (
        r"^my.h: got no no-such-compiler -v on this computer, expected a compiler .*apt-get install g\+\+"
    )
    with pytest.raises(ConfigError, match=expected):
        find_compiler("my.h")


@pytest.mark.parametrize(
    ("named", "words"),
    [("false", "false, which does not say its version"), ("c++ '", "no c\\+\\+ ' on this")],
)
def test_unusable_compiler_is_an_error(named: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", named)
    with pytest.raises(ConfigError, match=words):
        find_compiler("my.h")


def test_first_compiler_error_has_its_line(tmp_path: Path) -> None:
    said = problem("int one;\nint two = three;\nint four = five;\n", tmp_path)
    assert said.startswith("my.h:2: got 'three' was not declared in this scope, expected C++20")
    assert said.endswith("correct the line; /cache/x.log has the compiler's whole output.")


def test_include_of_a_neighbouring_file_fails(tmp_path: Path) -> None:
    """It would not travel, nor would anybody compile again when it changes."""
    assert problem("#include <mine.h>\n", tmp_path).startswith("my.h:1: got mine.h: No such file")


@pytest.mark.parametrize(
    "line", ['#include "mine.h"', " # include  </etc/mine.h>", "#include <a/../../mine.h>"]
)
def test_includes_of_own_files_are_refused(line: str, tmp_path: Path) -> None:
    said = problem(f"#include <cmath>\n{line}\n", tmp_path)
    assert said.startswith(f"my.h:2: got {line.strip()}, expected C++20")


def test_environment_variables_add_no_include_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.h").write_text("")
    monkeypatch.setenv("CPATH", str(tmp_path / "mine"))
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path / "mine"))
    assert "mine.h: No such file" in problem("#include <mine.h>\n", tmp_path)


def test_undefined_reference_has_its_line(tmp_path: Path) -> None:
    said = problem("int wanted();\n\nint got() { return wanted(); }\n", tmp_path)
    assert said.startswith("my.h:3: got undefined reference to `wanted()', expected C++20")


def test_source_may_have_any_character(tmp_path: Path) -> None:
    assert problem('const char* text = "grün";\nint two = grün;\n', tmp_path).startswith("my.h:2: got 'gr")


def test_relative_compiler_works_from_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mycc").write_text('#!/bin/sh\nexec c++ "$@"\n')
    (tmp_path / "mycc").chmod(0o755)
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CXX", "./mycc -O1")
    assert find_compiler("my.h").words == (str(tmp_path / "mycc"), "-O1")
    assert find_compiler("my.h").compile("int one;", tmp_path / "build").library is not None


def test_endless_compiler_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rogue.harness.testbeds.simulator.compiled_controls.SECONDS_MAX", 0.3)
    endless = Compiler(("/bin/sh", "-c", "tail -f /dev/null & wait"), "")
    compiled = endless.compile("", tmp_path)
    said = str(compiled.problem("my.h", LOG))
    assert said.startswith("my.h: got /bin/sh, which took more than 0.3 s, expected C++20")


def test_error_in_our_header_has_the_authors_line(tmp_path: Path) -> None:
    text = DCQCN_COMPILED.read_text().replace("Dcqcn(const rogue::Parameters& parameters, ", "Dcqcn(")
    text = text.replace("parameters.", "rogue::Parameters({}, nullptr).")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "ROGUE_NIC_CONTROL" in each)
    assert problem(text, tmp_path).startswith(f"my.h:{line}: got ")


def test_method_that_overrides_nothing_is_an_error(tmp_path: Path) -> None:
    text = DCQCN_COMPILED.read_text().replace("on_cnp(std::int64_t now_ps) override", "on_cnp(int now_ps)")
    assert "was hidden" in problem(text, tmp_path)


def test_compiler_output_without_an_error_is_shown() -> None:
    assert "got killed, expected" in str(Compiled(None, "what\nkilled\n").problem("my.h", LOG))
    assert "got no output of the compiler" in str(Compiled(None, "").problem("my.h", LOG))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("#include <rogue/nic_control.h>\n", "nic_control"),
        ("// Unlike rogue/nic_control.h:\n#include <rogue/switch_control.h>\n", "switch_control"),
        ("// Unlike rogue/nic_control.h:\n#include <rogue/receiver_control.h>\n", "receiver_control"),
        ("int anything;\n", "nic_control"),
    ],
)
def test_mention_of_the_header_of_nics_does_not_count(text: str, kind: str) -> None:
    assert kind_of(text) == kind


TEXT = "int anything;\n"


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CountingCompiler:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return CountingCompiler(tmp_path, monkeypatch)


def test_source_is_compiled_once(compiler: CountingCompiler) -> None:
    first = library_of(TEXT, "my.h")
    assert compiler.calls() == 1
    assert library_of(TEXT, "another name.h") == first
    assert compiler.calls() == 1
    assert [path.name for path in first.parent.iterdir()] == [first.name]
    assert first.parent.stat().st_mode & 0o777 == 0o700


def test_other_source_or_compiler_gives_another_library(
    compiler: CountingCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = library_of(TEXT, "my.h")
    assert library_of(TEXT + "// more\n", "my.h") != first
    compiler.becomes("2.0")
    assert library_of(TEXT, "my.h") != first
    assert compiler.calls() == 3


@pytest.mark.usefixtures("compiler")
def test_library_path_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loader takes a name without a slash for one that it has to search."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert library_of(TEXT, "my.h").parent == tmp_path / "cache" / "rogue-testbed" / "controls"


@pytest.mark.usefixtures("compiler")
def test_concurrent_compilations_give_one_library() -> None:
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(library_of, [TEXT, TEXT], ["my.h", "my.h"])
    assert one == other
    assert [*one.parent.iterdir()] == [one]


@pytest.mark.usefixtures("compiler")
def test_failure_keeps_only_the_compilers_log() -> None:
    with pytest.raises(
        ConfigError, match=r"my.h:1: got .*; correct the line; (\S+\.log) has the compiler"
    ) as caught:
        library_of("int anything = nothing;", "my.h")
    (log,) = cache_directory("controls").iterdir()
    assert str(log) in str(caught.value)
    assert "nothing" in log.read_text()


@pytest.mark.usefixtures("compiler")
def test_unusable_cache_directory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    with pytest.raises(ConfigError, match=r"my.h: got 'Not a directory' on /dev/null.*set XDG_CACHE_HOME"):
        library_of(TEXT, "my.h")
