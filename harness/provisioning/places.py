"""Where provisioning puts things on a node; the playbooks and the agent name the same places."""

from typing import Final

AGENT: Final = "/opt/rogue/rogue-agent.pyz"
DOOL: Final = "/opt/rogue/dool"
SPOOL: Final = "/var/lib/rogue/spool"
PROGRAMS: Final = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are; tc, dcb and ethtool are where a login over SSH does not look."""
WITH_PROGRAMS: Final = f"/usr/bin/env {PROGRAMS}"
"""What stands before a command that needs them; sudo passes no environment on."""
AGENT_COMMAND: Final = f"{WITH_PROGRAMS} python3 {AGENT} serve"
"""What starts the agent, as root."""
