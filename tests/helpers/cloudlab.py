"""CloudLab manifests: three files, written after real ones with made-up names, and one of many nodes."""

from pathlib import Path

DATA = Path(__file__).parents[1] / "harness" / "data" / "manifests"
M510, XL170, C6525 = (DATA / f"{name}.xml" for name in ("m510", "xl170", "c6525"))


def manifest_of(hosts: int) -> str:
    """Hosts of type m510 on one LAN."""
    nodes = "".join(
        f'<node client_id="node{number}"><hardware_type name="m510"/>'
        f'<interface client_id="node{number}:eth1" mac_address="1458d0{number:06x}">'
        f'<ip address="10.10.{1 + number // 250}.{1 + number % 250}" type="ipv4" netmask="255.255.0.0"/>'
        f'</interface><services><login hostname="ms{number}.example.net" username="alice"/></services></node>'
        for number in range(hosts)
    )
    references = "".join(f'<interface_ref client_id="node{number}:eth1"/>' for number in range(hosts))
    return f'<rspec>{nodes}<link client_id="lan0">{references}</link></rspec>'
