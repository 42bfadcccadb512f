"""Every platform: one line each."""

from typing import Final

from harness.provisioning.switches.platform import Platform
from harness.provisioning.switches.platforms.eos import Eos

PLATFORMS: Final[dict[str, Platform]] = {platform.name: platform for platform in (Eos(),)}
