"""Read the text of plug-ins, named or installed."""

import hashlib
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rogue.harness.errors import ConfigError, Problem
from rogue.workloads.printable import is_printable

if TYPE_CHECKING:
    from rogue.workloads.manifest import PluginRecord

SIZE_BYTES_MAX: Final = 1_000_000
ADVICE: Final = "name a Python file or a header in C++; `rogue new control NAME` writes one"
HEADER: Final = ".h"
OTHERS_IN_CPP: Final = (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx")


@dataclass(frozen=True, slots=True)
class PluginSource:
    """A plug-in that has not run yet."""

    file: str
    """Where it was, as it was named."""
    text: str
    is_installed: bool = False
    """It came with an installed package, by an entry point."""

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the text in UTF-8, without a byte-order mark and with line feeds."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def is_header(self) -> bool:
        """Return True for a control in C++, by the end of its name."""
        return Path(self.file).suffix == HEADER

    @property
    def identity(self) -> tuple[str, bool]:
        """Return the key of a plug-in: the text and its language."""
        return self.sha256, self.is_header

    @property
    def stem(self) -> str:
        """Return a name for a module, from that of the file."""
        return re.sub(r"\W", "_", Path(self.file).stem)

    @property
    def module(self) -> str:
        """Return the module's name, the same in every process."""
        return f"rogue_plugin_{self.stem}_{self.sha256[:12]}"


def read_plugin(file: str, place: str, *, is_installed: bool = False) -> PluginSource:
    """Read a plug-in's file; ConfigError blames the place that named it."""
    if (end := Path(file).suffix.lower()) in OTHERS_IN_CPP:
        expected = f".py, or {HEADER} for a control in C++"
        raise ConfigError([Problem(place, "", f"{file}, a file ending in {end}", expected, "rename it")])
    try:
        path = Path(file)
        if not stat.S_ISREG(path.stat().st_mode):
            raise _error(place, f"{file}, which is no regular file")
        with path.open("rb") as stream:
            content = stream.read(SIZE_BYTES_MAX + 1)
        if len(content) > SIZE_BYTES_MAX:
            raise _error(place, f"{file}, which has more than {SIZE_BYTES_MAX} bytes")
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        if not is_printable(text):
            raise _error(place, f"{file}, which has characters that steer a terminal")
        return PluginSource(file, text, is_installed)
    except UnicodeDecodeError as error:
        raise _error(place, f"{file}, which is no UTF-8 text") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _error(place, f"'{reason}' on opening {file}") from error


def _error(place: str, got: str) -> ConfigError:
    return ConfigError([Problem(place, "", got, "the file of a plug-in", ADVICE)])


def source_of(record: "PluginRecord") -> PluginSource:
    """Return the plug-in that a manifest keeps."""
    return PluginSource(record.file, record.text, record.is_installed)


def each_once(sources: Iterable[PluginSource]) -> list[PluginSource]:
    """Return plug-ins without repetitions of the same text in the same language."""
    first: dict[tuple[str, bool], PluginSource] = {}
    for source in sources:
        first.setdefault(source.identity, source)
    return list(first.values())


GROUP: Final = "rogue.plugins"


def plugins_at(files: Sequence[Path]) -> list[PluginSource]:
    """Return installed plug-ins, and those named with `--plugin`."""
    named = [read_plugin(str(file), f"--plugin {file}") for file in files]
    return each_once([*installed_plugins(), *named])


def installed_plugins() -> list[PluginSource]:
    """Return installed plug-ins by name; ConfigError names a package whose module is missing."""
    points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return [_source(point) for point in points]


def _source(point: metadata.EntryPoint) -> PluginSource:
    package = point.dist.name if point.dist else "a package"
    place = f"{package}, entry point {GROUP} {point.name}"
    try:
        found = util.find_spec(point.module)
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin is None or not found.has_location:
        advice = f"uninstall {package}, or install a version that has it"
        raise ConfigError([Problem(place, "", point.value, "a module that is one Python file", advice)])
    return read_plugin(found.origin, place, is_installed=True)
