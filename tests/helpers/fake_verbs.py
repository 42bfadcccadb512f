"""A fake pyverbs inside one process, and the sysfs of its port.

It offers the constructors and methods that the driver uses, with pyverbs's own argument names.
"""

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

from helpers import fake_verbs_device as device
from helpers import fake_verbs_network as network

from rogue.agent.drivers.verbs.pyverbs import Pyverbs

EVENT_FILE = "anon_inode:[eventfd]"


def gid(text: str) -> str:
    """pyverbs takes the full form only."""
    if len(text) != 39:
        raise device.FakeError(f"Invalid GID value {text}")
    return text


def fake_pyverbs(fabric: network.Fabric) -> Pyverbs:
    """A Pyverbs over this fabric."""

    def module(**members: object) -> ModuleType:
        return cast(ModuleType, SimpleNamespace(**members))

    return Pyverbs(
        addr=module(GID=gid, GlobalRoute=SimpleNamespace, AHAttr=SimpleNamespace, AH=network.AddressHandle),
        cq=module(
            CompChannel=device.CompletionChannel,
            CQ=device.CompletionQueue,
            CQEX=device.ExtendedQueue,
            CqInitAttrEx=SimpleNamespace,
            PollCqAttr=SimpleNamespace,
        ),
        device=module(Context=device.Context),
        enums=module(
            ibv_access_flags=device.Access,
            ibv_wc_flags=device.WcFlags,
            ibv_create_cq_wc_flags=device.CreateCqFlags,
            ibv_values_mask=device.ValuesMask,
            ibv_send_flags=device.SendFlags,
            ibv_wr_opcode=device.Opcode,
            ibv_qp_type=device.QpType,
            ibv_qp_state=device.QpState,
            ibv_qp_attr_mask=device.QpAttrMask,
        ),
        mr=module(MR=device.MemoryRegion),
        pd=module(PD=device.ProtectionDomain),
        qp=module(
            QPCap=network.QpCapacity,
            QPInitAttr=network.QpInit,
            QPAttr=network.QpAttributes,
            QP=lambda pd, init: network.QueuePair(fabric, pd, init),
        ),
        wr=module(SGE=network.ScatterGather, SendWR=network.SendRequest, RecvWR=network.RecvRequest),
        error=device.FakeError,
    )


def fake_sysfs(directory: Path, address_gid: str) -> None:
    """Lay out what the kernel shows of one port with a link-local and one experiment address."""
    port = directory / "rxe0" / "ports" / "1"
    for index, entry in enumerate(["fe80" + ":0000" * 7, address_gid]):
        for attribute, content in (
            ("gids", entry),
            ("gid_attrs/types", "RoCE v2"),
            ("gid_attrs/ndevs", "eth1"),
        ):
            path = port / attribute / str(index)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
    (port / "rate").write_text("2.5 Gb/sec (1X SDR)\n")
    (port / "state").write_text("4: ACTIVE\n")
    (port / "hw_counters").mkdir()
    (port / "hw_counters" / "sent_pkts").write_text("17\n")
    (port / "hw_counters" / "lifespan").write_text("10\n")
