"""NVIDIA's drivers in place of the distribution's: DOCA-OFED, from a mirror of one's own."""

from __future__ import annotations

import hashlib
import re
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from ..cards import MLX4, card_of
from ..distribution import DEBIAN, family_of, name_of
from ..module_builds import check_built, check_headers
from ..system import StateError, System
from .kind import Value
from .packages import Packages

_META_PACKAGE = "doca-ofed"
_MODULE = "mlx5_core"
_BUILD_LOGS = "/var/lib/dkms/mlnx-ofed-kernel"
_SCHEMES = ("file", "http", "https")
_LAST_VERSIONS = {"MT4115": (2, 9), "MT4117": (2, 9)}
"""Of ConnectX-4 and ConnectX-4 Lx. Source: NVIDIA, DOCA Documentation v2.9.2, "Changes and New Features"."""
_CHUNK_BYTES = 1 << 20
_SILENCE_S = 60


class Ofed(Packages):
    """The key is an interface, wanted is `{version, url, sha256}`: the package doca-host of a mirror.

    That package brings a repository with it, from which doca-ofed is installed. What came with both is
    removed again, and libraries that it replaced get the versions back that they had. The new drivers, and
    later the old ones, work from the next boot on: nothing is unloaded, for a card may carry the network that
    one has logged in by.
    """

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Version, place and checksum are looked at before anything is fetched."""
        return None

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """It is installed, of whatever version, and not by half."""
        return observed is not None and super().is_met(observed, [_META_PACKAGE])

    def called(self, key: str, observed: Value, wanted: Value) -> str:
        """The key alone: what it brings along, only its mirror knows."""
        return key

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Fetch the package, compare its checksum, install; StateError says what cannot work."""
        version = wanted["version"]
        _refuse_what_cannot_work(system, key, version)
        before = self.observe(system, key)
        with tempfile.TemporaryDirectory(prefix="rogue-ofed-") as directory:
            package = Path(directory) / "doca-host.deb"
            _fetch(wanted["url"], package, wanted["sha256"])
            try:
                system.run(["apt-get", "-qq", "--yes", "install", str(package)])
                system.run(["apt-get", "-qq", "update"])
                system.run(["apt-get", "-qq", "--yes", "--no-install-recommends", "install", _META_PACKAGE])
                check_built(system, _MODULE, _BUILD_LOGS)
            except StateError as error:
                left = self.take_off(system, key, before)
                end = "" if left else ", and was taken off again"
                raise StateError(f"DOCA-OFED {version} cannot be installed{end}: {error}{left}") from error


def _refuse_what_cannot_work(system: System, key: str, version: str) -> None:
    found = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", version)
    if found is None:
        raise StateError(f"ofed_version: got {version!r}, expected one such as 2.9.1")
    card = card_of(system, key)
    if card.driver == MLX4:
        raise StateError(
            f"interface {key}: DOCA-OFED has no driver for ConnectX-3, and MLNX_OFED 4.9, which had one, "
            "is obsolete: leave ofed_version out"
        )
    model = (system.read(f"/sys/class/infiniband/{card.device}/hca_type") or "").strip()
    last = _LAST_VERSIONS.get(model)
    if last is not None and (int(found.group(1)), int(found.group(2))) > last:
        raise StateError(
            f"interface {key}: DOCA-OFED {version} has no driver for ConnectX-4 ({model}); the last with one "
            f"is {last[0]}.{last[1]}: set ofed_version to that"
        )
    if family_of(system) != DEBIAN:
        raise StateError(
            f"ofed_version: got {version} for {name_of(system)}, expected a node of Debian's family: nobody "
            "has written down what DOCA-OFED's RPMs replace; install it by hand and leave ofed_version out"
        )
    check_headers(system, "DOCA-OFED")


def _fetch(url: str, path: Path, sha256: str) -> None:
    if urllib.parse.urlsplit(url).scheme not in _SCHEMES:
        raise StateError(f"ofed_url: got {url!r}, expected one that begins with {', '.join(_SCHEMES)}")
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=_SILENCE_S) as source, path.open("wb") as target:
            while chunk := source.read(_CHUNK_BYTES):
                digest.update(chunk)
                target.write(chunk)
    except (urllib.error.URLError, OSError) as error:
        raise StateError(f"{url} cannot be fetched: {error}; name a mirror that this node reaches") from error
    if digest.hexdigest() != sha256.lower():
        raise StateError(f"{url}: got SHA-256 {digest.hexdigest()}, expected {sha256}: nothing was installed")
