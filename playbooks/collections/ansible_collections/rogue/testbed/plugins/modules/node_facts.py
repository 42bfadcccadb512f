#!/usr/bin/python
"""Return facts about a node for roles and for a preflight."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_facts
short_description: Facts about a node in one task
description: Reads only. C(rogue doctor) judges the facts.
options:
  tools: {description: Programs whose versions are wanted., type: list, elements: str, default: []}
  interfaces: {description: Network interfaces to look at., type: list, elements: str, default: []}
  mac: {description: MAC of one more interface to look at., type: str, default: ""}
  address: {description: Address of the node on the experiment network., type: str, default: ""}
  peers: {description: Addresses to ping by name., type: dict, default: {}}
  packet_bytes: {description: IP packet that must pass in one piece., type: int, default: 1500}
  files: {description: Files whose checksums are wanted., type: list, elements: path, default: []}
  spool: {description: Directory of the agent's samples., type: path, default: /var/lib/rogue/spool}
author: RoGUE testbed (@rogue-testbed)
"""

EXAMPLES = r"""
- name: Look at the node
  rogue.testbed.node_facts:
    interfaces: [eth1]
    peers: {h1: 10.9.0.11}
"""

RETURN = r"""
facts: {description: The facts., returned: success, type: dict}
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

from ..module_utils.examination import Question, examine  # noqa: E402
from ..module_utils.system import StateError, System  # noqa: E402

_ARGUMENTS = {
    "tools": {"type": "list", "elements": "str", "default": []},
    "interfaces": {"type": "list", "elements": "str", "default": []},
    "mac": {"type": "str", "default": ""},
    "address": {"type": "str", "default": ""},
    "peers": {"type": "dict", "default": {}},
    "packet_bytes": {"type": "int", "default": 1500},
    "files": {"type": "list", "elements": "path", "default": []},
    "spool": {"type": "path", "default": "/var/lib/rogue/spool"},
}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=_ARGUMENTS, supports_check_mode=True)
    try:
        facts = examine(System(), Question(**module.params))
    except (StateError, OSError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, facts=facts)


if __name__ == "__main__":
    main()
