"""The filter `rogue.testbed.port_trees`: switch ports to lines for `tc`, by the harness's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from ansible.errors import AnsibleFilterError

from harness.provisioning.ports import PortSettings, port_lines, port_name

Ports = list[dict[str, str]]
Settings = dict[str, object]


def port_trees(ports: Ports, every: Settings, special: dict[str, Settings]) -> dict[str, list[str]]:
    """Per interface its lines; `special` settings of a port, by name, win over those of every port."""
    unknown = sorted(set(special) - {port_name(port) for port in ports})
    if unknown:
        raise AnsibleFilterError(
            f"switch_linux_ports: got {', '.join(unknown)}, expected names of ports: "
            f"{', '.join(port_name(port) for port in ports)}"
        )
    return {port["interface"]: _lines(port, {**every, **special.get(port_name(port), {})}) for port in ports}


def _lines(port: dict[str, str], settings: Settings) -> list[str]:
    try:
        checked = PortSettings(**settings)  # type: ignore[arg-type]
    except TypeError as error:
        raise AnsibleFilterError(f"port {port_name(port)}: {error}") from error
    mistake = checked.mistake()
    if mistake is not None:
        raise AnsibleFilterError(f"port {port_name(port)}: {mistake}")
    return port_lines(port["interface"], checked)


class FilterModule:
    """What Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., object]]:
        """The filters of this file."""
        return {"port_trees": port_trees}
