#!/usr/bin/python
"""Puts a node back into the state before it was provisioned."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_restored
short_description: Put back what node_state changed
description:
  - Undoes every change that is written down on the node, newest first.
  - What cannot be put back stays written down, and the module fails after it has undone the rest.
author:
  - RoGUE testbed (@rogue-testbed)
"""

EXAMPLES = r"""
- name: Put back what was there before
  rogue.testbed.node_restored:
"""

RETURN = r"""
changes:
  description: What was put back, as C(kind key).
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

from ..module_utils.ledger import Ledger  # noqa: E402
from ..module_utils.states import restore  # noqa: E402
from ..module_utils.system import StateError, System  # noqa: E402


def main() -> None:
    """Entry point."""
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    system = System()
    try:
        changes = restore(system, Ledger(system), module.check_mode)
    except (StateError, OSError) as error:
        module.fail_json(msg=str(error))
    if changes.failures:
        module.fail_json(msg=f"not put back: {'; '.join(changes.failures)}", changes=sorted(changes.before))
    diff = {"before": changes.before, "after": changes.after}
    module.exit_json(changed=bool(changes), changes=sorted(changes.before), diff=diff)


if __name__ == "__main__":
    main()
