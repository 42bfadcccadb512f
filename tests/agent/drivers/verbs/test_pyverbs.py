"""Tests: load pyverbs under names that hold for all its releases."""

from types import ModuleType

import pytest

from rogue.agent.drivers.verbs.pyverbs import VerbsError, VerbsUnavailable, load


class Modules:
    """Stands in for importlib: knows these names only."""

    def __init__(self, *enum_modules: str) -> None:
        names = ("addr", "cq", "device", "mr", "pd", "qp", "wr", "pyverbs_error")
        self._known = {f"pyverbs.{name}" for name in names} | set(enum_modules)

    def import_module(self, name: str) -> ModuleType:
        if name not in self._known:
            raise ModuleNotFoundError(f"No module named '{name}'")
        module = ModuleType(name)
        module.PyverbsError = OSError  # type: ignore[attr-defined]
        return module


@pytest.mark.parametrize("name", ["pyverbs.enums", "pyverbs.libibverbs_enums"])
def test_either_name_of_the_enumerations_is_found(name: str) -> None:
    assert load(Modules(name).import_module).enums.__name__ == name


def test_the_newer_name_wins_where_both_exist() -> None:
    modules = Modules("pyverbs.enums", "pyverbs.libibverbs_enums")
    assert load(modules.import_module).enums.__name__ == "pyverbs.libibverbs_enums"


def test_without_pyverbs_the_package_is_named() -> None:
    def nothing(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named '{name}'")

    with pytest.raises(VerbsUnavailable, match="install the distribution's package python3-pyverbs"):
        load(nothing)


def test_a_failed_verb_names_itself_and_its_queue_pair() -> None:
    error = VerbsError("ibv_modify_qp", "Errno: 22", 17)
    assert str(error) == "ibv_modify_qp on queue pair 17: Errno: 22"
    assert (error.verb, error.qp_num) == ("ibv_modify_qp", 17)


def test_a_verb_without_a_queue_pair_names_none() -> None:
    assert str(VerbsError("ibv_open_device", "no such device")) == "ibv_open_device: no such device"
