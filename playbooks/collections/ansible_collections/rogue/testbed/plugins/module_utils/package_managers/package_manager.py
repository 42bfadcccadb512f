"""What every package manager can do."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..system import System


class PackageManager(ABC):
    """Programs that tell, install and remove packages. CommandError has their own words."""

    @abstractmethod
    def present(self, system: System) -> dict[str, str]:
        """Version by name of all that has files here; ` (state)` follows that of what is there by half.

        Versions that stand side by side, as those of kernels, are joined by commas.
        """

    def is_running(self, name: str, version: str) -> bool:
        """Whether that is of the kernel that runs, which nothing may take off."""
        return False

    @abstractmethod
    def install(self, system: System, names: list[str]) -> None:
        """Install these with what they need, and nothing that is merely recommended."""

    @abstractmethod
    def remove(self, system: System, names: list[str]) -> None:
        """Remove these with their settings."""

    @abstractmethod
    def refresh(self, system: System) -> None:
        """Ask the mirrors what they have."""

    @abstractmethod
    def exact(self, name: str, version: str) -> str:
        """The word for one version of a package."""

    @abstractmethod
    def is_offered(self, system: System, exact: str) -> bool:
        """Whether a mirror has that version."""

    @abstractmethod
    def put_back(self, system: System, exact: list[str], added: list[str]) -> None:
        """Install these versions and remove what was added, at once: each may need the other."""
