"""One place for each thing, whoever names it."""

from pathlib import Path

import pytest
import yaml

from rogue.agent.node import serve
from rogue.harness.provisioning.places import AGENT, DOOL, SPOOL

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"


@pytest.mark.parametrize(
    ("role", "path", "content"), [("agent", AGENT, "agent_archive"), ("monitoring", DOOL, "monitoring_dool")]
)
def test_roles_put_files_where_the_harness_looks(role: str, path: str, content: str) -> None:
    (task,) = yaml.safe_load((PLAYBOOKS / "roles" / role / "tasks/main.yml").read_text())
    wanted = task["rogue.testbed.node_state"]
    assert wanted["files"] == {path: {"source": f"{{{{ {content} }}}}", "mode": "0755"}}
    assert str(Path(path).parent) in wanted["directories"]


def test_samples_have_the_place_that_was_made_for_them() -> None:
    (task,) = yaml.safe_load((PLAYBOOKS / "roles/agent/tasks/main.yml").read_text())
    assert SPOOL in task["rogue.testbed.node_state"]["directories"]
    assert str(serve.SPOOL) == SPOOL


def test_the_doctor_sums_up_the_same_files() -> None:
    preflight = (PLAYBOOKS / "preflight.yml").read_text()
    assert f"['{AGENT}', '{DOOL}']" in preflight
