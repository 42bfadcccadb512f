"""Every platform: one line each."""

from typing import Final

from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.platforms.comware import Comware
from rogue.harness.provisioning.switches.platforms.cumulus import Cumulus
from rogue.harness.provisioning.switches.platforms.eos import Eos
from rogue.harness.provisioning.switches.platforms.mlxsw import Mlxsw
from rogue.harness.provisioning.switches.platforms.onyx import Onyx
from rogue.harness.provisioning.switches.platforms.os10 import Os10
from rogue.harness.provisioning.switches.platforms.sonic import Sonic

_ALL: Final[tuple[Platform, ...]] = (
    Comware(),
    Cumulus(),
    Eos(),
    Mlxsw(),
    Onyx(),
    Os10(),
    Sonic(),
)
PLATFORMS: Final[dict[str, Platform]] = {platform.name: platform for platform in _ALL}
