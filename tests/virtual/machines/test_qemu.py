from pathlib import Path

from rogue.virtual.machines.assembly import Accelerator, Boot, escaped, machine_command
from rogue.virtual.machines.machine_plan import pair

BOOT = Boot(Path("/image/vmlinuz"), Path("h1.initrd"), Path("/image/root.ext4"))


def command() -> list[str]:
    return machine_command(pair()[0], BOOT, Accelerator.TCG, 2201)


def values_of(option: str) -> list[str]:
    arguments = command()
    return [arguments[i + 1] for i, argument in enumerate(arguments) if argument == option]


def test_nothing_of_the_hosts_network_is_touched() -> None:
    management, cable = values_of("-netdev")
    assert "restrict=on" in management
    assert "hostfwd=tcp:127.0.0.1:2201-:22" in management
    assert cable.startswith("dgram,")
    assert "local.path=h1-h2.sock" in cable
    assert "remote.path=h2-h1.sock" in cable


def test_the_shared_image_is_opened_read_only() -> None:
    assert values_of("-drive") == ["file=/image/root.ext4,format=raw,if=none,readonly=on,id=disk"]


def test_emulation_keeps_its_translation_cache_small() -> None:
    assert "tcg,tb-size=64" in values_of("-accel")


def test_emulation_keeps_the_order_of_memory_accesses_for_devices_in_other_threads() -> None:
    """TCG does for machines that could have more than one processor."""
    assert values_of("-smp") == ["1,maxcpus=2"]


def test_a_crashed_kernel_ends_the_process() -> None:
    assert "-no-reboot" in command()
    assert "panic=-1" in values_of("-append")[0]


def test_files_of_the_machine_are_named_from_its_directory() -> None:
    """A unix socket's path may have 107 characters; the directory's may have more."""
    assert values_of("-serial") == ["file:h1.console"]
    assert all("/" not in cable for cable in values_of("-netdev")[1:])


def test_a_comma_in_a_path_separates_nothing() -> None:
    assert escaped(Path("/a,b/root.ext4")) == "/a,,b/root.ext4"


def test_emulated_machines_get_more_time() -> None:
    assert Accelerator.TCG.boot_timeout_s > Accelerator.KVM.boot_timeout_s
