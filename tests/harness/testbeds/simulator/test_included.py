"""What a compiler says that it read."""

from pathlib import Path

from rogue.harness.testbeds.simulator.compiler import files_read, foreign, line_that_includes, searched

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
