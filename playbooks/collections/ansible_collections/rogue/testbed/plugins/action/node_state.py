"""Reads the files that `node_state` puts on a node, on the controller, and hands their content over."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible has no types
    """Replaces `source` and `text` by `content` and `sha256`."""

    def run(self, tmp: object = None, task_vars: dict[str, object] | None = None) -> dict[str, object]:
        """Run the module with what it needs."""
        result: dict[str, object] = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        files = arguments.get("files", {})
        arguments["files"] = {path: _file(path, wanted) for path, wanted in files.items()}
        result.update(self._execute_module(module_args=arguments, task_vars=task_vars))
        # It repeats the files' contents, and of a result beyond 700 kB ansible-runner drops everything.
        result.pop("invocation", None)
        return result


def _file(path: str, wanted: dict[str, str]) -> dict[str, str]:
    if "text" in wanted:
        content = wanted["text"].encode()
    else:
        try:
            content = Path(wanted["source"]).read_bytes()
        except OSError as error:
            raise AnsibleActionFail(f"{path}: cannot read {wanted['source']}: {error.strerror}") from error
    return {
        "content": base64.b64encode(content).decode(),
        "sha256": hashlib.sha256(content).hexdigest(),
        "mode": wanted.get("mode", "0644"),
    }
