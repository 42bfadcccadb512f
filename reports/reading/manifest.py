"""What a run says about itself, read from its directory."""

from pathlib import Path

from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_regular
from rogue.workloads.manifest import MANIFEST, Manifest, ManifestError, parse_manifest


def read_manifest(directory: Path) -> Manifest:
    """Read and check the manifest of a run directory; a sentence in a ReportError if that is impossible."""
    path = directory / MANIFEST
    try:
        return parse_manifest(read_regular(path))
    except FileNotFoundError as error:
        raise ReportError(
            f"{path}: there is no such file; give the directory of a run, such as"
            " results/<experiment>/<time>-<id>."
        ) from error
    except OSError as error:
        raise ReportError(f"{path}: the manifest cannot be read: {error.strerror}.") from error
    except ManifestError as error:
        raise ReportError(f"{path}: {error}.") from error
