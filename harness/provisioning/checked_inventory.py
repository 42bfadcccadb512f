"""What was checked of an inventory, as text for Ansible: nobody reads the file a second time.

`ansible-inventory --list` leaves out what the file says of Ansible's own variables, such as `ansible_limit`.
A playbook that read the file would obey values that were never checked.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import yaml

_META: Final = "_meta"
_ALL: Final = "all"
_VAULT: Final = "__ansible_vault"
"""How `ansible-inventory` writes a value that Ansible Vault has encrypted."""
_UNSAFE: Final = "__ansible_unsafe"
"""How it writes a text in which no template is looked for; none that has one gets here."""


class _Encrypted(str):
    """Such a value; it is decrypted by Ansible alone."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes each value in full, and encrypted ones with their tag."""

    def ignore_aliases(self, data: object) -> bool:
        """Write a value again instead of naming its first place."""
        return True


_Dumper.add_representer(
    _Encrypted, lambda dumper, value: dumper.represent_scalar("!vault", str(value), style="|")
)


def members(listed: Mapping[str, Any], group: str) -> list[str]:
    """Return the hosts of a group and of all groups below it, each once, as Ansible plays to them.

    listed: what `ansible-inventory --list` says, which refuses groups that stand in each other.
    """
    return list(dict.fromkeys(_members(listed, group)))


def text_for_ansible(listed: Mapping[str, Any], groups: Iterable[str]) -> str:
    """Return an inventory in YAML with these groups, their hosts, and the variables of these hosts.

    Other hosts are left out: nobody plays to them, and nobody has checked their names. One that is called
    `h0:2222` would be read as `h0`, and its variables would take the place of those of `h0`.
    """
    variables: Mapping[str, Mapping[str, Any]] = listed.get(_META, {}).get("hostvars", {})
    played = {name: members(listed, name) for name in groups}
    hosts = dict.fromkeys(each for own in played.values() for each in own)
    return yaml.dump(
        {
            _ALL: {
                "hosts": {name: _as_ansible_had_it(variables.get(name, {})) for name in hosts},
                "children": {name: {"hosts": {each: {} for each in own}} for name, own in played.items()},
            }
        },
        Dumper=_Dumper,
        sort_keys=False,
    )


def _members(listed: Mapping[str, Any], group: str) -> Iterator[str]:
    own: Mapping[str, list[str]] = listed.get(group, {})
    yield from own.get("hosts", ())
    for child in own.get("children", ()):
        yield from _members(listed, child)


def _as_ansible_had_it(value: object) -> object:
    if isinstance(value, Mapping):
        if value.keys() == {_VAULT}:
            return _Encrypted(value[_VAULT])
        if value.keys() == {_UNSAFE}:
            return value[_UNSAFE]
        return {key: _as_ansible_had_it(each) for key, each in value.items()}
    return [_as_ansible_had_it(each) for each in value] if isinstance(value, list) else value
