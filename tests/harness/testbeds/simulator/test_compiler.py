"""Tests: compile a control written in C++ with this computer's compiler."""

from pathlib import Path

import pytest
from helpers.plugin_files import DCQCN_COMPILED

from rogue.harness.errors import ConfigError
from rogue.harness.testbeds.simulator.compiler import (
    Compiled,
    Compiler,
    files_read,
    find_compiler,
    foreign,
    interface_text,
    line_that_includes,
    searched,
)

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
def test_what_is_no_compiler_is_a_sentence(named: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", named)
    with pytest.raises(ConfigError, match=words):
        find_compiler("my.h")


def test_the_first_error_is_told_with_its_line(tmp_path: Path) -> None:
    said = problem("int one;\nint two = three;\nint four = five;\n", tmp_path)
    assert said.startswith("my.h:2: got 'three' was not declared in this scope, expected C++20")
    assert said.endswith("correct the line; /cache/x.log has all that the compiler said.")


def test_a_file_beside_it_is_not_there(tmp_path: Path) -> None:
    """It would not travel, nor would anybody compile again when it changes."""
    assert problem("#include <mine.h>\n", tmp_path).startswith("my.h:1: got mine.h: No such file")


@pytest.mark.parametrize(
    "line", ['#include "mine.h"', " # include  </etc/mine.h>", "#include <a/../../mine.h>"]
)
def test_a_file_of_the_authors_own_is_refused(line: str, tmp_path: Path) -> None:
    said = problem(f"#include <cmath>\n{line}\n", tmp_path)
    assert said.startswith(f"my.h:2: got {line.strip()}, expected C++20")


@pytest.mark.parametrize(
    "lines",
    [
        "#define X {name}\n#include X",
        "%:define X {name}\n%:include X",
        "#define X {name}\n#inc\\\nlude X",
        "#define X {name}\n#/* */include X",
        "#define X {name}\n#include_next X",
        "#define X {name}\n#if __has_include(X)\n#import X\n#endif",
    ],
)
def test_an_include_of_the_authors_own_cannot_hide(lines: str, tmp_path: Path) -> None:
    mine, build = tmp_path / "a place" / "mine.h", tmp_path / "build"
    mine.parent.mkdir()
    build.mkdir()
    mine.write_text("inline int mine() { return 1; }\n")
    said = problem("#include <cmath>\n" + lines.format(name=f'"{mine}"') + "\nint one;\n", build)
    assert said.startswith("my.h:")
    assert f"got an include of {mine}, expected C++20" in said


def test_a_compiler_that_does_not_say_what_it_read_is_blamed_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mute"
    program.write_text('#!/bin/sh\nc++ "$@"\nrm -f control.d\n')
    program.chmod(0o755)
    monkeypatch.setenv("CXX", str(program))
    (tmp_path / "build").mkdir()
    assert f"got {program}, which wrote not what it read, expected a compiler" in problem(
        "int one;", tmp_path / "build"
    )


def test_no_variable_brings_one_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.h").write_text("")
    monkeypatch.setenv("CPATH", str(tmp_path / "mine"))
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path / "mine"))
    assert "mine.h: No such file" in problem("#include <mine.h>\n", tmp_path)


def test_a_warning_is_not_the_error(tmp_path: Path) -> None:
    said = problem("int one(int two) { two; }\n#warning three\nint four = five;\n", tmp_path)
    assert said.startswith("my.h:3: got 'five' was not declared")


def test_what_nothing_defines_is_an_error_with_its_line(tmp_path: Path) -> None:
    said = problem("int wanted();\n\nint got() { return wanted(); }\n", tmp_path)
    assert said.startswith("my.h:3: got undefined reference to `wanted()', expected C++20")


def test_a_text_may_have_any_character(tmp_path: Path) -> None:
    assert problem('const char* text = "grün";\nint two = grün;\n', tmp_path).startswith("my.h:2: got 'gr")


def test_a_compiler_is_found_from_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mycc").write_text('#!/bin/sh\nexec c++ "$@"\n')
    (tmp_path / "mycc").chmod(0o755)
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CXX", "./mycc -O1")
    assert find_compiler("my.h").words == (str(tmp_path / "mycc"), "-O1")
    assert find_compiler("my.h").compile("int one;", tmp_path / "build").library is not None


def test_a_compiler_that_writes_nothing_is_blamed_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "true")
    assert "true, which wrote no library, expected a compiler of C++20 that works" in problem("", tmp_path)


def test_a_compiler_that_does_not_end_is_ended_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rogue.harness.testbeds.simulator.compiler.SECONDS_MAX", 0.3)
    endless = Compiler(("/bin/sh", "-c", "tail -f /dev/null & wait"), "")
    compiled = endless.compile("", tmp_path)
    said = str(compiled.problem("my.h", LOG))
    assert said.startswith("my.h: got /bin/sh, which took more than 0.3 s, expected C++20")


def test_an_error_in_the_interface_has_the_line_of_the_author(tmp_path: Path) -> None:
    text = DCQCN_COMPILED.read_text().replace("Dcqcn(const rogue::Parameters& parameters, ", "Dcqcn(")
    text = text.replace("parameters.", "rogue::Parameters({}, nullptr).")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "ROGUE_NIC_CONTROL" in each)
    assert problem(text, tmp_path).startswith(f"my.h:{line}: got ")


def test_a_call_that_would_never_come_is_refused(tmp_path: Path) -> None:
    text = DCQCN_COMPILED.read_text().replace("on_cnp(std::int64_t now_ps) override", "on_cnp(int now_ps)")
    assert "was hidden" in problem(text, tmp_path)


def test_words_without_an_error_are_told_whole() -> None:
    assert "got killed, expected" in str(Compiled(None, "what\nkilled\n").problem("my.h", LOG))
    assert "got no words of the compiler" in str(Compiled(None, "").problem("my.h", LOG))


def test_the_interface_is_shipped() -> None:
    assert "#define ROGUE_NIC_CONTROL" in interface_text()


PREPROCESSED = """\
# 1 "./control.h" 1
int one;
# 1 "/usr/include/math.h" 1 3 4
# 3 "./control.h" 2
# 1 "/home/me/mine.h" 1
# 1 "/home/me/other.h" 1
# 2 "/home/me/mine.h" 2
# 8 "./control.h" 2
"""


def test_names_of_a_rule() -> None:
    rule = "control.so: /dev/null \\\n /a\\ b/c.h /d$$.h \\\n  /e\\#.h\n"
    assert [*files_read(rule)] == ["/dev/null", "/a b/c.h", "/d$.h", "/e#.h"]


def test_directories_are_those_of_angle_brackets() -> None:
    said = (
        'x\n#include "..." search starts here:\n /quoted\n#include <...> search starts here:\n /usr/../a\n'
        " /b (framework directory)\nEnd of search list.\n /c\n"
    )
    assert searched(said) == [Path("/a"), Path("/b")]
    assert searched("") == []


def test_the_first_that_lies_elsewhere_is_foreign(tmp_path: Path) -> None:
    known = [tmp_path / "inside", tmp_path / "control.h"]
    assert foreign(iter(["control.h", "inside/a.h"]), tmp_path, known) is None
    assert foreign(iter(["inside/../x.h", "y.h"]), tmp_path, known) == tmp_path / "x.h"


def test_the_line_is_that_of_the_text(tmp_path: Path) -> None:
    text = tmp_path / "control.h"
    assert line_that_includes(Path("/home/me/mine.h"), PREPROCESSED, text) == 7
    assert line_that_includes(Path("/home/me/other.h"), PREPROCESSED, text) == 7
    assert line_that_includes(Path("/nowhere.h"), PREPROCESSED, text) is None
