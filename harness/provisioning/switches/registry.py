"""Every platform: those that are built in have a line here, the others are plug-ins."""

from typing import Final

from rogue.harness.plugins.on_demand import OnDemand
from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.platforms.cumulus import Cumulus
from rogue.harness.provisioning.switches.platforms.eos import Eos
from rogue.harness.provisioning.switches.platforms.sonic import Sonic

_BUILT_IN: Final[tuple[Platform, ...]] = (Cumulus(), Eos(), Sonic())
PLATFORMS: Final[OnDemand[Platform]] = OnDemand(
    "platforms", {platform.name: platform for platform in _BUILT_IN}
)
