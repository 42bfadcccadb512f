"""Paths and commands on a node; the playbooks and the agent name the same paths."""

from typing import Final

AGENT: Final = "/opt/rogue/rogue-agent.pyz"
DOOL: Final = "/opt/rogue/dool"
SPOOL: Final = "/var/lib/rogue/spool"
PROGRAMS: Final = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"
"""Path of programs; a login over SSH does not look where tc, dcb and ethtool are."""
WITH_PROGRAMS: Final = f"/usr/bin/env {PROGRAMS}"
"""Prefix of a command that needs them; sudo passes no environment on."""
AGENT_COMMAND: Final = f"{WITH_PROGRAMS} python3 {AGENT} serve"
"""Starts the agent, as root."""
