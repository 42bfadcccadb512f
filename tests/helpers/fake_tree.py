"""A configuration as vendors keep it: modes with lines in them; one line of each kind."""

from copy import deepcopy

Path = tuple[str, ...]


class Tree:
    """Lines by the mode that they stand in; a mode's own line stands in the mode above it."""

    def __init__(self) -> None:
        self.modes: dict[Path, dict[str, str]] = {(): {}}

    def copy(self) -> "Tree":
        return deepcopy(self)

    def open(self, path: Path) -> None:
        """Enter a mode; it is there from now on."""
        self.modes[path[:-1]].setdefault(path[-1], path[-1])
        self.modes.setdefault(path, {})

    def put(self, path: Path, kind: str, line: str) -> None:
        """A line takes the place of the one of its kind."""
        self.modes[path][kind] = line

    def take(self, path: Path, kind: str) -> bool:
        """Take a line away, with the mode that it leads to; whether it was there."""
        line = self.modes[path].pop(kind, None)
        if line is not None:
            inner = (*path, line)
            self.modes = {each: lines for each, lines in self.modes.items() if each[: len(inner)] != inner}
        return line is not None

    def prune(self, word: str) -> None:
        """Modes of this name without lines are not kept."""
        for path in [
            each for each, lines in self.modes.items() if each and each[-1].startswith(word) and not lines
        ]:
            self.take(path[:-1], path[-1])

    def shown(self, path: Path = (), *, step: int = 3) -> list[str]:
        """As the switch shows it, with separators that say nothing."""
        lines: list[str] = []
        for line in self.modes[path].values():
            lines.append(" " * (step * len(path)) + line)
            inner = (*path, line)
            if inner in self.modes:
                lines += self.shown(inner, step=step)
                lines.append(" " * (step * len(path)) + "!")
        return lines
