"""Load pyverbs under names that are the same for all its releases."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType


class VerbsUnavailable(RuntimeError):  # noqa: N818 - a condition of the node, reported as a sentence
    """The node has no pyverbs, no device, or no port with the experiment's address."""


class VerbsError(RuntimeError):
    """A verb failed."""

    def __init__(self, verb: str, problem: str, qp_num: int | None = None) -> None:
        place = f" on queue pair {qp_num}" if qp_num is not None else ""
        super().__init__(f"{verb}{place}: {problem}")
        self.verb = verb
        self.qp_num = qp_num


_ENUM_MODULES = ("pyverbs.libibverbs_enums", "pyverbs.enums")  # rdma-core 50 and later, before


@dataclass(frozen=True)
class Pyverbs:
    """pyverbs, module by module; `enums` only as `enums.<enumeration>.<NAME>`, which every release has."""

    addr: ModuleType
    cq: ModuleType
    device: ModuleType
    enums: ModuleType
    mr: ModuleType
    pd: ModuleType
    qp: ModuleType
    wr: ModuleType
    error: type[Exception]


def load(import_module: Callable[[str], ModuleType] = importlib.import_module) -> Pyverbs:
    """Import pyverbs; raises VerbsUnavailable if it is missing."""
    try:
        return Pyverbs(
            addr=import_module("pyverbs.addr"),
            cq=import_module("pyverbs.cq"),
            device=import_module("pyverbs.device"),
            enums=_enums(import_module),
            mr=import_module("pyverbs.mr"),
            pd=import_module("pyverbs.pd"),
            qp=import_module("pyverbs.qp"),
            wr=import_module("pyverbs.wr"),
            error=import_module("pyverbs.pyverbs_error").PyverbsError,
        )
    except ImportError as error:
        raise VerbsUnavailable(
            f"pyverbs cannot be imported ({error}): install the distribution's package python3-pyverbs"
        ) from None


def _enums(import_module: Callable[[str], ModuleType]) -> ModuleType:
    new, old = _ENUM_MODULES
    try:
        return import_module(new)
    except ImportError:
        return import_module(old)
