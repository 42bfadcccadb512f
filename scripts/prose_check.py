"""Print sentences that are probably hard to read, each with a suggestion; the exit code is always 0."""

import argparse
import ast
import collections
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

SIGNALS = (
    (
        r"\b(is|are|was|were|be|been) told\b",
        "say who reports what to whom: 'is notified', 'receives', 'gets'",
    ),
    (r"\bstands\b(?! (for|alone|still|out|by)\b)", "'is'"),
    (r"\bstood\b", "'was'"),
    (r"\b[Ww]hoever\b", "name the actor"),
    (r"\b([Nn]obody|[Ss]omebody)\b", "name the actor, or use 'no one' only as an object"),
    (r"\bso (many|much|long)\b(?! (as|that|so)\b)", "give the number, or 'this many'"),
    (r"\bof (its|their|one's) own\b", "'its own X', or leave it out"),
    (r", for (it|they|there|this|these|he|one|nothing)\b", "'because'"),
    (r"\b[Nn]either\b[^.]*\bnor\b", "say each negative plainly"),
    (r", too\b(?=[.,;:)]|$)", "'also'"),
    (r"\bseldom\b", "'rarely'"),
    (r"\blest\b", "'so that … not'"),
    (r"\b(goes|go|went|going) on\b", "'continues'"),
    (r"(?<=[.:] )Less\b", "start with the subject"),
    (r"(?:(?<=\s)|(?<=\())\.\d+\b", "a leading zero: '0.4'"),
    (r"\bhas to (be|do) with\b", "say the relation"),
    (r"\bin force\b", "'active'"),
    (r"\bcomes? of\b", "'results from'"),
)
QUESTION = re.compile(r"(What|Who|Whose|Where|When|How|Why|Whether|Which)\b(?![^?]*\?)")
SUFFIXES = {".py", ".md", ".h", ".cpp", ".yaml", ".yml", ".j2"}


def python_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and text of each comment and of each string that has at least three words."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.string.count(" ") > 1):
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line
        elif tokenize.tok_name[token.type] == "FSTRING_MIDDLE" and token.string.count(" ") > 1:
            yield token.start[0], token.string


def docstring_starts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and first line of each docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first.lineno, first.value.value.strip().split("\n")[0]


def marked_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a Markdown file that are not code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a file that marks them with `//` or `#`."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"(?://|(?:^|\s)#)\s(.*)", line)
        if found:
            yield number, found[1]


def advice(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line number, text and suggestion for each signal word in one file."""
    text = path.read_text(encoding="utf-8")
    is_python = path.suffix == ".py"
    prose = python_prose if is_python else marked_prose if path.suffix == ".md" else comments
    for number, line in prose(text):
        for pattern, suggestion in SIGNALS:
            for found in re.finditer(pattern, line):
                yield number, found[0], suggestion
    for number, line in docstring_starts(text) if is_python else ():
        if QUESTION.match(line):
            yield number, line, "start with a verb: what it returns or does"


def main() -> None:
    """Check the named files and folders, or everything that git tracks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "paths", nargs="*", default=["."], help="files or folders (default: everything that git tracks)"
    )
    parser.add_argument("--count", action="store_true", help="print the number of lines per suggestion only")
    parsed = parser.parse_args()
    listed = subprocess.run(
        ["git", "ls-files", "-z", *parsed.paths], capture_output=True, text=True, check=True
    )
    counts: collections.Counter[str] = collections.Counter()
    for path in map(Path, filter(None, listed.stdout.split("\0"))):
        if path.suffix not in SUFFIXES or path.is_symlink() or path == Path(__file__).relative_to(Path.cwd()):
            continue
        for number, words, suggestion in advice(path):
            counts[suggestion] += 1
            if not parsed.count:
                print(f"{path}:{number}: {words!r}: {suggestion}")
    for suggestion, count in counts.most_common():
        print(f"{count:6}  {suggestion}")
    print(f"{counts.total():6}  places in all")


if __name__ == "__main__":
    main()
