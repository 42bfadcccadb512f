from pathlib import Path

import paramiko
import pytest

from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator, assemble, logins
from rogue.virtual.machines.machine_plan import pair


@pytest.fixture
def image(tmp_path: Path) -> Image:
    (tmp_path / "image").mkdir()
    (tmp_path / "image/initrd.img").write_bytes(b"base")
    return Image(tmp_path / "image")


def test_commands_name_files_that_were_written(tmp_path: Path, image: Image) -> None:
    assembly = assemble(pair(), image, Accelerator.TCG, tmp_path)
    for machine, command in assembly.commands.items():
        initrd = command[command.index("-initrd") + 1]
        assert (tmp_path / initrd).read_bytes().startswith(b"base")
        assert f"name={machine}\n".encode() in (tmp_path / initrd).read_bytes()


def test_every_machine_can_be_logged_in_to_at_its_own_port(tmp_path: Path, image: Image) -> None:
    assembly = assemble(pair(), image, Accelerator.TCG, tmp_path)
    by_name = logins(tmp_path, assembly.ssh_ports)
    known = paramiko.HostKeys(str(by_name["h1"].known_hosts[0]))
    assert {f"[127.0.0.1]:{login.port}" for login in by_name.values()} == set(known.keys())
    assert len({login.port for login in by_name.values()}) == 2
    assert paramiko.ECDSAKey.from_private_key_file(str(by_name["h1"].key_files[0]))
    for name, login in by_name.items():
        assert f"hostfwd=tcp:127.0.0.1:{login.port}-:22" in " ".join(assembly.commands[name])
