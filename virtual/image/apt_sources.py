"""The package sources and apt settings of this host, in the form mmdebstrap takes.

The image comes from the same mirror as the host's own packages: no mirror address stands in this project.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.programs import run

_FIELDS = ("ORIGIN", "CODENAME", "REPO_URI", "RELEASE", "COMPONENT")
_ARCHIVE_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_APT_TIMEOUT_S = 60.0
_UPDATE_TIMEOUT_S = 600.0
_SETTINGS_NOT_PASSED_ON = ("Acquire::IndexTargets", "Acquire::Changelogs", "Acquire::CompressionTypes")


@dataclass(frozen=True, slots=True)
class AptSources:
    """Where the image's packages come from: release name, one-line sources, apt settings such as a proxy."""

    codename: str
    lines: tuple[str, ...]
    settings: str


def host_sources() -> AptSources:
    """Ask this host's apt which Debian archives it uses and with which settings it reaches them."""
    template = "|".join(f"$({field})" for field in _FIELDS)
    query = ["apt-get", "indextargets", "--format", template, "Created-By: Packages"]
    targets = run(query, timeout_s=_APT_TIMEOUT_S)
    if "Debian|" not in targets and os.geteuid() == 0:
        run(["apt-get", "-qq", "update"], timeout_s=_UPDATE_TIMEOUT_S)
        targets = run(query, timeout_s=_APT_TIMEOUT_S)
    settings = run(["apt-config", "dump", "--format", '%f "%v";%n', "Acquire"], timeout_s=_APT_TIMEOUT_S)
    return parse_sources(targets, settings, _ARCHIVE_KEYRING if _ARCHIVE_KEYRING.exists() else None)


def parse_sources(targets: str, settings: str, keyring: Path | None) -> AptSources:
    """Keep the archives whose origin is Debian; the first one names the release."""
    rows = dict.fromkeys(
        tuple(line.split("|")) for line in targets.splitlines() if line.count("|") == len(_FIELDS) - 1
    )
    debian = [row for row in rows if row[0] == "Debian"]
    if not debian:
        raise VirtualTestbedError(
            "apt on this host knows no Debian archive, so no Debian image can be built: "
            "run `sudo apt-get update` and try again (only Debian hosts can build it)"
        )
    option = f" [signed-by={keyring}]" if keyring else ""
    lines = tuple(f"deb{option} {uri} {release} {component}" for _, _, uri, release, component in debian)
    kept = [line for line in settings.splitlines() if not line.startswith(_SETTINGS_NOT_PASSED_ON)]
    return AptSources(codename=debian[0][1], lines=lines, settings="\n".join([*kept, ""]))
