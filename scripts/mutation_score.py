"""Measure how many small mistakes in a package its tests catch.

`make mutants` changes COUNT places of PACKAGE one by one, drawn with a fixed seed, runs the package's tests
on each change, and prints the changes that no test catches.
"""

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
CODE: Final = ROOT / "src"
PACKAGE: Final = "rogue.agent.core"
LIMIT_SECONDS: Final = 120
"""Tests that take more processor time than this on a mutant have met it: it hangs."""
SEED: Final = 1

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """A package below `rogue`, by its name, and the tests that mirror it."""

    name: str

    @property
    def code(self) -> Path:
        """Folder of its modules."""
        return CODE.joinpath(*self.name.split("."))

    @property
    def tests(self) -> Path:
        """Folder of its tests."""
        return ROOT.joinpath("tests", *self.name.split(".")[1:])

    def mirror(self, file: Path) -> Path:
        """Return the path of a separate test file of one of its modules, which need not exist."""
        return self.tests / file.relative_to(self.code).parent / f"test_{file.stem.strip('_')}.py"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change in one file."""

    file: Path
    line: int
    what: str
    source: str

    @property
    def module(self) -> str:
        """Name of the module that it is in."""
        return ".".join(self.file.relative_to(CODE).with_suffix("").parts).removesuffix(".__init__")


def mutants_of(file: Path) -> Iterator[Mutant]:
    """Every change of a file, each by itself."""
    text = file.read_text()
    for number in range(len(_places(ast.parse(text)))):
        tree = ast.parse(text)
        node, change = _places(tree)[number]
        before = ast.unparse(node)
        after = change()
        source = ast.unparse(ast.fix_missing_locations(tree))
        yield Mutant(file, getattr(node, "lineno", 0), f"{before}  ->  {after}", source)


def _places(tree: ast.AST) -> list[tuple[ast.AST, Callable[[], str]]]:
    """Return the nodes to change with their changes; without annotations, docstrings and assertions."""
    places: list[tuple[ast.AST, Callable[[], str]]] = []
    left_alone = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    left_alone += [node.annotation for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)]
    noted = {part for node in left_alone for part in ast.walk(node)}
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            children = value if isinstance(value, list) else [value]
            for index, child in enumerate(children):
                if isinstance(child, ast.AST) and child not in noted and not _is_docstring(child):
                    where = (parent, name, index if isinstance(value, list) else None)
                    places += [(child, change) for change in _changes(child, *where)]
    return places


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changes(node: ast.AST, parent: ast.AST, name: str, index: int | None) -> Iterator[Callable[[], str]]:
    def put(new: ast.AST) -> str:
        if index is None:
            setattr(parent, name, new)
        else:
            getattr(parent, name)[index] = new
        return ast.unparse(ast.fix_missing_locations(new))

    match node:
        case ast.Compare(ops=[only]) if type(only) in _COMPARISONS:
            swapped = ast.Compare(node.left, [_COMPARISONS[type(only)]()], node.comparators)
            yield lambda: put(swapped)
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS:
            yield lambda: put(ast.BinOp(node.left, _OPERATORS[type(operator)](), node.right))
        case ast.BoolOp(op=operator):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield lambda: put(ast.BoolOp(other, node.values))
        case ast.UnaryOp(op=ast.Not()):
            yield lambda: put(node.operand)
        case ast.Constant(value=bool(truth)):
            yield lambda: put(ast.Constant(not truth))
        case ast.Constant(value=int(number)):
            yield lambda: put(ast.Constant(number + 1))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield lambda: put(ast.Pass())
        case ast.Return(value=ast.expr() as returned) if ast.unparse(returned) != "None":
            yield lambda: put(ast.Return(ast.Constant(None)))


class _Substitute(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Gives one module another source."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Ours for the module that is changed."""
        if fullname != self._mutant.module:
            return None
        is_package = self._mutant.file.name == "__init__.py"
        found = importlib.util.spec_from_file_location(
            fullname,
            self._mutant.file,
            loader=None if is_package else self,
            submodule_search_locations=[str(self._mutant.file.parent)] if is_package else None,
        )
        assert found is not None
        found.loader = self
        return found

    def get_source(self, _fullname: str) -> str:
        """The changed text."""
        return self._mutant.source

    def is_package(self, _fullname: str) -> bool:
        """As the file is."""
        return self._mutant.file.name == "__init__.py"


def is_met(mutant: Mutant, *tests: Path) -> bool:
    """True if a test fails on the mutant; `tests` run in order."""
    return any(_fails(mutant, each) for each in tests)


def _fails(mutant: Mutant, tests: Path) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(_test(mutant, tests))
    _, status = os.waitpid(child, 0)
    return status != 0


def _test(mutant: Mutant, tests: Path) -> int:
    """Run the tests in a child process, which a mutant may damage."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_SECONDS, LIMIT_SECONDS))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for loaded in [name for name in sys.modules if name.partition(".")[0] in ("rogue", "helpers", "tests")]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, _Substitute(mutant))
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # where we are imported by tests
    return int(pytest.main([*options, "-m", "not long", str(tests)]))


def main(words: Sequence[str]) -> int:
    """Change `count` places, and print those that no test catches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", help="how many places; all of them unless said")
    parser.add_argument("--package", default=PACKAGE, help="which package; %(default)s unless said")
    arguments = parser.parse_args(words)
    subject = Subject(arguments.package)
    for folder in (subject.code, subject.tests):
        if not folder.is_dir():
            parser.error(
                f"--package: got {subject.name}, expected a package with tests; there is no {folder}"
            )
    os.chdir(ROOT)
    every = [mutant for file in sorted(subject.code.rglob("*.py")) for mutant in mutants_of(file)]
    if is_met(_unchanged(subject), subject.tests):
        sys.stderr.write(f"mutants: the tests fail on {subject.name} as it is, so they can tell nothing\n")
        return 1
    count = arguments.count
    chosen = every if count is None else random.Random(SEED).sample(every, min(count, len(every)))
    met = _count_met(subject, chosen)
    share = 100 * met / len(chosen)
    sys.stdout.write(
        f"{met} of {len(chosen)} met ({share:.1f} %), of {len(every)} places of {subject.name}\n"
    )
    return 0


def _unchanged(subject: Subject) -> Mutant:
    file = subject.code / "__init__.py"
    return Mutant(file, 0, "nothing", file.read_text())


def _count_met(subject: Subject, chosen: Sequence[Mutant]) -> int:
    """Count the mutants that a test catches; print the others."""
    survivors = 0
    for number, mutant in enumerate(chosen, start=1):
        mirror = subject.mirror(mutant.file)
        if not is_met(mutant, *([mirror] if mirror.exists() else []), subject.tests):
            survivors += 1
            sys.stdout.write(f"{mutant.file.relative_to(CODE)}:{mutant.line}: {mutant.what}\n")
        if sys.stderr.isatty() or number % 10 == 0:
            sys.stderr.write(f"{number} of {len(chosen)}, {survivors} not met\n")
        sys.stdout.flush()
    return len(chosen) - survivors


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
