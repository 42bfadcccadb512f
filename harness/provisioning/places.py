"""Where provisioning puts things on a node; the playbooks and the agent name the same places."""

from typing import Final

AGENT: Final = "/opt/rogue/rogue-agent.pyz"
DOOL: Final = "/opt/rogue/dool"
SPOOL: Final = "/var/lib/rogue/spool"
