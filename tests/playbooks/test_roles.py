"""What holds for every role, without a machine."""

import ast
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

PLAYBOOKS = Path(__file__).parents[2] / "playbooks"
ROLES = sorted(path.name for path in (PLAYBOOKS / "roles").iterdir())
OF_THE_INVENTORY = {"experiment_interface", "experiment_mtu"}
PAGE = (PLAYBOOKS.parent / "docs" / "TESTBEDS.md").read_text()


def load(role: str, part: str) -> Any:
    return yaml.safe_load((PLAYBOOKS / "roles" / role / part).read_text())


def options(role: str) -> dict[str, dict[str, Any]]:
    specification: dict[str, dict[str, Any]] = load(role, "meta/argument_specs.yml")["argument_specs"]["main"]
    return specification.get("options", {})


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_is_described_typed_and_named_after_its_role(role: str) -> None:
    for name, option in options(role).items():
        assert name.startswith(f"{role}_") or name in OF_THE_INVENTORY, name
        assert option["description"].endswith("."), name
        assert "type" in option, name


@pytest.mark.parametrize("role", ROLES)
def test_what_is_said_to_be_the_default_is_the_default(role: str) -> None:
    said = {name: option["default"] for name, option in options(role).items() if "default" in option}
    assert said == load(role, "defaults/main.yml")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_owns_what_it_changes_and_costs_one_task(role: str) -> None:
    (task,) = load(role, "tasks/main.yml")
    assert task["rogue.testbed.node_state"]["owner"] == role


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_played_and_its_page_says_what_it_changes(role: str) -> None:
    plays = [
        play
        for name in ("provision", "switch")
        for play in yaml.safe_load((PLAYBOOKS / f"{name}.yml").read_text())
    ]
    assert role in {each["role"] for play in plays for each in play.get("roles", [])}
    assert f"| `{role}` |" in PAGE


def test_what_users_may_lock_is_one_word_of_one_line() -> None:
    """Others would be limits of somebody else's choice, for everybody on the node."""
    (task,) = load("rdma", "tasks/main.yml")
    text = task["rogue.testbed.node_state"]["files"]["/etc/security/limits.d/rogue.conf"]["text"]
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text)
    for value in ("unlimited", 65536, "unlimited\nroot hard nproc 0", "1\x0b2 3"):
        lines = template.render(rdma_locked_memory=value).splitlines()
        assert [line.split()[:3] for line in lines] == [["*", "soft", "memlock"], ["*", "hard", "memlock"]]
        assert all(len(line.split()) == 4 for line in lines)


def test_limiters_are_classes_that_packets_reach_by_their_traffic_class() -> None:
    template = (PLAYBOOKS / "roles/priorities/templates/limiters.tc.j2").read_text()
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    lines = (
        environment.from_string(template)
        .render(
            experiment_interface="eth1",
            priorities_limiters=7,
            priorities_line_rate_bps=10_000_000_000,
            priorities_burst_bytes=1_250_000,
        )
        .splitlines()
    )
    assert lines[0] == "qdisc add dev eth1 root handle 1: htb default 10"
    classes = [line for line in lines if line.startswith("class")]
    assert [line.split("classid ")[1].split()[0] for line in classes] == [f"1:1{k}" for k in range(8)]
    assert all("rate 10000000000bit burst 1250000 cburst 1250000 " in line for line in classes)
    assert all(line.endswith(" overhead 24 mpu 84") for line in classes), "rates count bytes on the wire"
    filters = [line for line in lines if line.startswith("filter")]
    assert [line.split("ip_tos ")[1] for line in filters] == [
        f"{k << 5:#x}/0xe0 classid 1:1{k}" for k in range(1, 8)
    ]


@pytest.mark.parametrize(("address", "protocol"), [("10.9.0.10", "ip"), ("fd00::10", "ipv6")])
def test_limiters_know_packets_of_the_hosts_own_protocol(address: str, protocol: str) -> None:
    template = (PLAYBOOKS / "roles/priorities/templates/limiters.tc.j2").read_text()
    values = {"priorities_limiters": 1, "priorities_line_rate_bps": 1, "priorities_burst_bytes": 1}
    text = jinja2.Environment(trim_blocks=True).from_string(template)
    rendered = text.render(experiment_interface="eth1", experiment_address=address, **values)
    assert f"parent 1: protocol {protocol} prio 1 flower ip_tos 0x20/0xe0" in rendered


def test_what_ansible_runs_imports_nothing_of_the_harness() -> None:
    for path in PLAYBOOKS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "harness" for name in names), path


def test_whoever_only_runs_experiments_can_have_the_nodes_looked_at() -> None:
    """He may be allowed nothing but to start the agent, and `rogue run` asks the doctor first."""
    (play,) = yaml.safe_load((PLAYBOOKS / "preflight.yml").read_text())
    assert play["become"] is False
