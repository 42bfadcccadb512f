#!/usr/bin/python
"""Set values in /proc and /sys, soft-RoCE, tc trees, and priorities and rates of cards."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.settings import KINDS
from ..module_utils.snapshot import establish, keep, packages, restore
from ..module_utils.system import StateError, System

DOCUMENTATION = """
module: kernel_settings
short_description: Set kernel and card settings until the next boot, and restore those from before
description:
  - Values from before the first change are stored once, in C(/var/lib/rogue/before.json) on the node.
options:
  state:
    description: >-
      C(kept) stores C(paths), loaded modules and packages before other tasks change them; C(set) sets the
      settings; C(restored) restores everything.
    type: str
    choices: [kept, set, restored]
    default: set
  paths: {description: Files that other tasks change., type: list, elements: path, default: []}
  kernel_files: {description: "Text by path in C(/proc) or C(/sys).", type: dict, default: {}}
  soft_roce: {description: Name of a soft-RoCE device by interface., type: dict, default: {}}
  traffic_control: {description: Lines for C(tc -batch) by interface., type: dict, default: {}}
  card_priorities:
    description: C(trust), C(dscp), C(priority) and C(paused) by interface.
    type: dict
    default: {}
  features:
    description: C(tso), C(gro), C(lro), C(adaptive-rx) and C(rx-usecs) by interface.
    type: dict
    default: {}
author: RoGUE testbed (@rogue-testbed)
"""

_ARGUMENTS: dict[str, dict[str, object]] = {
    "state": {"type": "str", "choices": ["kept", "set", "restored"], "default": "set"},
    "paths": {"type": "list", "elements": "path", "default": []},
    **{name: {"type": "dict", "default": {}} for name in KINDS},
}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=_ARGUMENTS, supports_check_mode=True)
    system, state, check = System(), module.params["state"], module.check_mode
    result: dict[str, object] = {}
    failures: list[str] = []
    try:
        if state == "kept":
            changes = dict.fromkeys(keep(system, module.params["paths"], check), ("not stored", "stored"))
            result["packages"] = packages(system)
        elif state == "set":
            changes = establish(system, {name: module.params[name] for name in KINDS}, check)
        else:
            changes, result["packages_left"], failures = restore(system, check)
    except (StateError, OSError) as error:
        module.fail_json(msg=str(error))
    result["changes"] = sorted(changes)
    if failures:
        module.fail_json(msg=f"not restored: {'; '.join(failures)}", **result)
    before, after = ({key: pair[number] for key, pair in changes.items()} for number in (0, 1))
    module.exit_json(changed=bool(changes), diff={"before": before, "after": after}, **result)


if __name__ == "__main__":
    main()
