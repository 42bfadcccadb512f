"""CloudLab's profile against a stand-in for its `geni` package, which cannot be installed for Python 3."""

import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rogue.harness.provisioning.cloudlab import CARDS

PROFILE = Path(__file__).parents[1] / "profile.py"


class Node:
    """A node of a request."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.addresses: list[tuple[str, str]] = []
        self.services: list[dict[str, str]] = []

    def addInterface(self, name: str) -> "Node":
        return self

    def addAddress(self, address: tuple[str, str]) -> None:
        self.addresses.append(address)

    def addService(self, service: dict[str, str]) -> None:
        self.services.append(service)


class Context:
    """Answers with each parameter's default, or with what the test says."""

    def __init__(self, answers: dict[str, object]) -> None:
        self._values = dict(answers)
        self.legal: dict[str, list[str]] = {}
        self.errors: list[str] = []
        self.nodes: list[Node] = []
        self.lan = SimpleNamespace(members=[], isolated=False, is_jumbo=False)
        self.is_printed = False

    def defineParameter(
        self, name: str, _: str, __: str, default: object, legal: Any = (), **___: str
    ) -> None:
        self._values.setdefault(name, default)
        self.legal[name] = [value for value, _ in legal]

    def bindParameters(self) -> SimpleNamespace:
        return SimpleNamespace(**self._values)

    def reportError(self, error: str) -> None:
        self.errors.append(error)

    def verifyParameters(self) -> None:
        if self.errors:
            raise SystemExit(self.errors[0])

    def makeRequestRSpec(self) -> "Context":
        return self

    def RawPC(self, name: str) -> Node:
        self.nodes.append(Node(name))
        return self.nodes[-1]

    def LAN(self, _: str) -> SimpleNamespace:
        self.lan.addInterface = self.lan.members.append
        if "geni.rspec.emulab" in sys.modules:  # without it a LAN has none of these
            self.lan.setNoInterSwitchLinks = lambda: setattr(self.lan, "isolated", True)
            self.lan.setJumboFrames = lambda: setattr(self.lan, "is_jumbo", True)
        return self.lan

    def printRequestRSpec(self, request: object) -> None:
        assert request is self
        self.is_printed = True


def run(monkeypatch: pytest.MonkeyPatch, **answers: object) -> Context:
    context = Context(answers)
    portal, pg, emulab, rspec, geni = map(ModuleType, ("portal", "pg", "emulab", "rspec", "geni"))
    vars(portal).update(
        context=context,
        Context=Context,
        ParameterType=SimpleNamespace(
            BOOLEAN="boolean", INTEGER="integer", NODETYPE="nodetype", STRING="string"
        ),
        ParameterError=lambda text, names: f"{', '.join(names)}: {text}",
    )
    vars(pg).update(IPv4Address=lambda *words: words, Execute=lambda **words: words)
    vars(rspec).update(pg=pg, emulab=emulab)
    vars(geni).update(portal=portal, rspec=rspec)
    names = {"geni": geni, "geni.portal": portal, "geni.rspec": rspec, "geni.rspec.pg": pg}
    names["geni.rspec.emulab"] = emulab
    for name, module in names.items():
        monkeypatch.setitem(sys.modules, name, module)
    runpy.run_path(str(PROFILE), run_name="__main__")
    return context


def test_hosts_share_one_lan_and_the_controller_is_not_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    context = run(monkeypatch, hosts=3)
    assert [node.name for node in context.nodes] == ["h0", "h1", "h2", "controller"]
    assert [node.name for node in context.lan.members] == ["h0", "h1", "h2"]
    assert [node.addresses for node in context.lan.members] == [
        [(f"10.10.1.{number}", "255.255.255.0")] for number in (1, 2, 3)
    ]
    assert context.lan.isolated
    assert context.is_printed


@pytest.mark.parametrize("is_jumbo", [True, False])
def test_the_lan_has_jumbo_frames_unless_somebody_declines(
    monkeypatch: pytest.MonkeyPatch, is_jumbo: bool
) -> None:
    assert run(monkeypatch).lan.is_jumbo
    assert run(monkeypatch, jumbo_frames=is_jumbo).lan.is_jumbo is is_jumbo


def test_only_hardware_is_offered_that_an_inventory_can_be_written_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert set(run(monkeypatch).legal["hardware"]) <= set(CARDS)


def test_a_number_of_hosts_that_makes_no_experiment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="hosts: from 2 to 40 hosts"):
        run(monkeypatch, hosts=1)


@pytest.mark.parametrize(
    "words",
    [
        ["pytest", "--collect-only", "-q", "tests/test_profile.py"],
        ["cProfile", "-o", "{made}", "-m", "rogue", "--help"],
        ["profile", "-o", "{made}", "tests/test_profile.py"],
    ],
    ids=lambda words: words[0],
)
def test_the_standard_library_s_module_of_this_name_still_works_from_the_root(
    words: list[str], tmp_path: Path
) -> None:
    made = str(tmp_path / "made")
    command = [sys.executable, "-m", *(word.format(made=made) for word in words)]
    ended = subprocess.run(command, cwd=PROFILE.parent, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
