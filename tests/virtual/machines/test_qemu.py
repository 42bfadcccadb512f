from pathlib import Path

from virtual.machines.plan import pair
from virtual.machines.qemu import Accelerator, Boot, machine_command

BOOT = Boot(Path("/image/vmlinuz"), Path("/run/h1.initrd"), Path("/image/root.ext4"))


def command() -> list[str]:
    return machine_command(pair()[0], BOOT, Accelerator.TCG, Path("/run"), 2201)


def values_of(option: str) -> list[str]:
    arguments = command()
    return [arguments[i + 1] for i, argument in enumerate(arguments) if argument == option]


def test_nothing_of_the_hosts_network_is_touched() -> None:
    management, cable = values_of("-netdev")
    assert "restrict=on" in management
    assert "hostfwd=tcp:127.0.0.1:2201-:22" in management
    assert cable.startswith("dgram,")
    assert "local.path=/run/h1-h2.sock" in cable
    assert "remote.path=/run/h2-h1.sock" in cable


def test_the_shared_image_is_opened_read_only() -> None:
    assert values_of("-drive") == ["file=/image/root.ext4,format=raw,if=none,readonly=on,id=disk"]


def test_emulation_keeps_its_translation_cache_small() -> None:
    assert "tcg,tb-size=64" in values_of("-accel")


def test_a_crashed_kernel_ends_the_process() -> None:
    assert "-no-reboot" in command()
    assert "panic=-1" in values_of("-append")[0]
