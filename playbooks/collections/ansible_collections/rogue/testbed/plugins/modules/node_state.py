#!/usr/bin/python
"""Puts a node into the state that a role wants."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_state
short_description: Put a node into a state, and write down what was there before
description:
  - Establishes kernel modules, sysctls, MTUs, soft-RoCE links, C(tc) trees, rates, priorities and
    DCQCN of cards, governors, interrupts, directories, files, programs and packages.
  - Before anything is changed, what was there is written to C(/var/lib/rogue/changes.json) on the node.
    M(rogue.testbed.node_restored) puts it back.
  - What an owner wanted in an earlier run and does not want now is put back at once.
  - Idempotent; supports check mode and diff.
options:
  owner:
    description: Role that wants it.
    type: str
    required: true
  package_source:
    description: Where apt or dnf finds packages beside its own mirrors, C(proxy) and C(repository).
    type: dict
    default: {}
  packages:
    description: >-
      Packages of the distribution, by the name of their list, for all nodes or by family, C(debian) and
      C(rhel); missing ones are installed with apt or dnf.
    type: dict
    default: {}
  kernel_modules:
    description: Modules to load.
    type: list
    elements: str
    default: []
  sysctls:
    description: Settings by dotted name; not persistent.
    type: dict
    default: {}
  mtu:
    description: MTU in bytes by interface.
    type: dict
    default: {}
  soft_roce:
    description: Name of the soft-RoCE device by interface; an RDMA device that is there already will do.
    type: dict
    default: {}
  traffic_control:
    description: Lines for C(tc -batch) by interface; they replace whatever tree this module made there.
    type: dict
    default: {}
  card_rates:
    description: Interfaces of cards whose traffic classes are to have no maximum rates.
    type: list
    elements: str
    default: []
  ofed:
    description: DOCA-OFED by the interface of the card, with C(version), C(url) and C(sha256) of doca-host.
    type: dict
    default: {}
  roce_mode:
    description: What rdma_cm does by default, C(mode) and C(tos), by the interface of the card.
    type: dict
    default: {}
  card_priorities:
    description: >-
      Traffic classes, pauses and table of DSCPs by the interface of the card, in C(dcb)'s words, such as
      C({pfc: {prio-pfc: "0:off 1:off"}}). They are set also where the driver reports them already.
    type: dict
    default: {}
  dcqcn:
    description: By the interface of the card C(state), one of kept, enabled and disabled, and C(parameters).
    type: dict
    default: {}
  governor:
    description: Governor of the processors' frequency, under the key C(all).
    type: dict
    default: {}
  card_interrupts:
    description: C(local) by the interface of the card, to be served by processors of its NUMA node.
    type: dict
    default: {}
  directories:
    description: Directories to make; teardown removes them with what is in them.
    type: list
    elements: str
    default: []
  files:
    description: >-
      By destination: C(source), a file of the controller, or C(text); and C(mode), 0644 by default.
      The action plugin reads sources and hands over C(content) and C(sha256).
    type: dict
    default: {}
  unpacked:
    description: >-
      Directories that get the content of an archive of the node, compiled; by directory, which is called as
      the archive without its C(.pyz). A program in the archive can so start without compiling itself.
    type: dict
    default: {}
author:
  - RoGUE testbed (@rogue-testbed)
"""

EXAMPLES = r"""
- name: Put soft-RoCE on the experiment interface
  rogue.testbed.node_state:
    owner: soft_roce
    kernel_modules: [rdma_rxe]
    mtu: {eth1: 4300}
    soft_roce: {eth1: rxe_eth1}
"""

RETURN = r"""
changes:
  description: What was changed, as C(kind key).
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

from ..module_utils.ledger import Ledger  # noqa: E402
from ..module_utils.states import Wanted, establish  # noqa: E402
from ..module_utils.system import StateError, System  # noqa: E402

_DICTIONARIES = (
    "package_source",
    "packages",
    "sysctls",
    "mtu",
    "soft_roce",
    "traffic_control",
    "files",
    "unpacked",
    "ofed",
    "roce_mode",
    "card_priorities",
    "dcqcn",
    "governor",
    "card_interrupts",
)
_LISTS = ("kernel_modules", "card_rates", "directories")


def wanted_of(parameters: dict[str, object]) -> Wanted:
    """What the parameters ask for, per kind."""
    wanted: Wanted = {}
    for name in _DICTIONARIES:
        value = parameters[name]
        assert isinstance(value, dict)
        wanted[name] = value
    for name in _LISTS:
        value = parameters[name]
        assert isinstance(value, list)
        wanted[name] = dict.fromkeys(value, True)
    wanted["sysctls"] = {key: " ".join(str(value).split()) for key, value in wanted["sysctls"].items()}
    wanted["mtu"] = {key: int(value) for key, value in wanted["mtu"].items()}
    return wanted


def main() -> None:
    """Entry point."""
    arguments: dict[str, dict[str, object]] = {"owner": {"type": "str", "required": True}}
    arguments.update({name: {"type": "dict", "default": {}} for name in _DICTIONARIES})
    arguments.update({name: {"type": "list", "elements": "str", "default": []} for name in _LISTS})
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    system = System()
    try:
        ledger = Ledger(system)
        wanted = wanted_of(module.params)
        changes = establish(system, ledger, module.params["owner"], wanted, module.check_mode)
    except (StateError, OSError) as error:
        module.fail_json(msg=str(error))
    diff = {"before": changes.before, "after": changes.after}
    module.exit_json(changed=bool(changes), changes=sorted(changes.before), diff=diff)


if __name__ == "__main__":
    main()
