from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import Image
from rogue.virtual.machines import assembly
from rogue.virtual.machines.assembly import Accelerator

IMAGE = Image(Path("/cache/0123"))


class Probe:
    """Stands in for the probe boot: returns `verdict` and counts."""

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict
        self.boots = 0

    def boot(self, image: Image) -> str:
        self.boots += 1
        return self.verdict


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have named one."""
    monkeypatch.delenv(assembly.VARIABLE, raising=False)


@pytest.fixture
def kvm_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(assembly, "_KVM_DEVICE", tmp_path / "kvm")
    monkeypatch.setattr(assembly, "_qemu_version", lambda: "QEMU 7.2")


def choose(monkeypatch: pytest.MonkeyPatch, cache: Path, probe: Probe) -> Accelerator:
    monkeypatch.setattr(assembly, "_probe", probe.boot)
    return assembly.choose(IMAGE, cache, lambda text: None)


@pytest.mark.usefixtures("kvm_device")
@pytest.mark.parametrize(("verdict", "chosen"), [("", Accelerator.KVM), ("aborted", Accelerator.TCG)])
def test_the_probe_decides_once_and_is_remembered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: str, chosen: Accelerator
) -> None:
    probe = Probe(verdict)
    assert [choose(monkeypatch, tmp_path, probe) for _ in range(2)] == [chosen, chosen]
    assert probe.boots == 1


@pytest.mark.usefixtures("kvm_device")
def test_another_qemu_is_probed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    probe = Probe("aborted")
    choose(monkeypatch, tmp_path, probe)
    monkeypatch.setattr(assembly, "_qemu_version", lambda: "QEMU 10")
    choose(monkeypatch, tmp_path, probe)
    assert probe.boots == 2


@pytest.mark.usefixtures("kvm_device")
def test_a_damaged_record_of_verdicts_is_made_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kvm-verdicts.json").write_bytes(b"\xff{")
    assert choose(monkeypatch, tmp_path, Probe("")) is Accelerator.KVM


def test_without_a_kvm_device_nothing_is_probed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(assembly, "_KVM_DEVICE", tmp_path / "absent")
    probe = Probe("")
    assert choose(monkeypatch, tmp_path, probe) is Accelerator.TCG
    assert probe.boots == 0


@pytest.mark.usefixtures("kvm_device")
@pytest.mark.parametrize("named", Accelerator)
def test_what_the_environment_names_is_taken_without_a_probe(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: Accelerator
) -> None:
    monkeypatch.setenv(assembly.VARIABLE, named.value)
    probe = Probe("")
    assert choose(monkeypatch, tmp_path, probe) is named
    assert probe.boots == 0


def test_a_name_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(assembly.VARIABLE, "xen")
    with pytest.raises(
        VirtualTestbedError, match="got ROGUE_ACCELERATOR='xen', expected kvm or tcg; correct it"
    ):
        choose(monkeypatch, tmp_path, Probe(""))
