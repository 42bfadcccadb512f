#!/usr/bin/python
# WANT_JSON
"""A module that stands for one of Ansible's own: it changes nothing and reports its arguments as a diff.

A name or path with `absent` in it is missing. A command prints one character if it changes something, and the
words `unpack` and `loaded` in it change nothing.
"""

import json
import sys
from pathlib import Path
from typing import Any

given = json.loads(Path(sys.argv[1]).read_text())
name = given["_ansible_module_name"].rpartition("stand_in_")[2]
arguments = {key: value for key, value in given.items() if not key.startswith("_ansible")}
words = json.dumps(arguments)
is_absent = "absent" in words
is_done = "unpack" in words or "loaded" in words
failure = {"failed": is_absent, "msg": "no package matching" if is_absent else ""}
results: dict[str, dict[str, Any]] = {
    "stat": {"stat": {"exists": not is_absent}},
    "find": {"matched": 0 if is_absent else 1},
    "command": {
        "rc": int(is_absent),
        "stdout": "" if is_done else "x",
        "stderr": "no such module" if is_absent else "",
    },
    "apt": failure,
    "dnf": failure,
}
if name in {"apt", "dnf"} and isinstance(arguments.get("name"), list):
    arguments["name"].sort()  # Ansible's `difference` has no order
diff = [{"after": {name: arguments}}]
print(json.dumps({"changed": True, "diff": diff, **results.get(name, {})}))  # noqa: T201
