#!/usr/bin/python
"""Says what Linux calls the experiment interface."""

from __future__ import annotations

DOCUMENTATION = r"""
module: interface_facts
short_description: Name of the network interface with a MAC
description:
  - Reads only. CloudLab's own map of interfaces comes first, then the MACs of the node's cards.
options:
  mac:
    description: The MAC, with or without colons.
    type: str
    required: true
author:
  - RoGUE testbed (@rogue-testbed)
"""

EXAMPLES = r"""
- name: Find the experiment interface
  rogue.testbed.interface_facts:
    mac: 14:58:d0:00:00:01
"""

RETURN = r"""
interface:
  description: Its name.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

from ..module_utils.interfaces import demand_interface  # noqa: E402
from ..module_utils.system import StateError, System  # noqa: E402


def main() -> None:
    """Entry point."""
    module = AnsibleModule(argument_spec={"mac": {"type": "str", "required": True}}, supports_check_mode=True)
    try:
        interface = demand_interface(System(), module.params["mac"])
    except (StateError, OSError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, interface=interface)


if __name__ == "__main__":
    main()
