from rogue.virtual.machines.machine_plan import reserve


def test_ports_are_distinct_and_not_privileged() -> None:
    ports = reserve(20)
    assert len(set(ports)) == 20
    assert all(1024 <= port <= 65_535 for port in ports)
