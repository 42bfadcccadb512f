"""Where provisioning puts things on a node; the playbooks and the agent name the same places."""

from typing import Final

AGENT: Final = "/opt/rogue/rogue-agent.pyz"
DOOL: Final = "/opt/rogue/dool"
SPOOL: Final = "/var/lib/rogue/spool"
AGENT_COMMAND: Final = f"/usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin python3 {AGENT} serve"
"""What starts the agent, as root; tc and dcb are where a login over SSH does not look."""
