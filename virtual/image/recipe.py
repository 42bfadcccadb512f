"""Recipe of the image; its digest is the name of the cached image."""

import hashlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

_HERE = Path(__file__).parent
GUEST_DIRECTORY = _HERE / "guest"
CUSTOMIZE_SCRIPT = _HERE / "customize.sh"

KERNEL_PACKAGE = "linux-image-amd64"  # the full kernel: the "cloud" one has no rdma_rxe
PACKAGES = (
    "busybox-static",
    "ethtool",
    "ibverbs-providers",
    "ibverbs-utils",
    "iperf3",
    "iproute2",
    "iputils-ping",
    "kmod",
    "librdmacm1",
    "openssh-server",
    "perftest",
    "procps",
    "python3",
    "python3-apt",
    "python3-pyverbs",
    "rdma-core",
    "tcpdump",
    "udev",
)
MODULE_PATHS = (  # below /lib/modules/RELEASE/kernel, as shell patterns
    "arch/x86/crypto",
    "crypto",
    "drivers/block/virtio_blk.ko*",
    "drivers/infiniband/core",
    "drivers/infiniband/sw",
    "drivers/net/dummy.ko*",
    "drivers/net/ifb.ko*",
    "drivers/net/net_failover.ko*",
    "drivers/net/veth.ko*",
    "drivers/net/virtio_net.ko*",
    "drivers/virtio",
    "fs/ext4",
    "fs/jbd2",
    "fs/mbcache.ko*",
    "fs/overlayfs",
    "lib",
    "net/802",
    "net/8021q",
    "net/bridge",
    "net/core",
    "net/ipv4",
    "net/ipv6",
    "net/llc",
    "net/netfilter",
    "net/sched",
)
BOOT_MODULES = ("virtio_pci", "virtio_blk", "overlay", "crc32c_generic", "ext4")
FILES_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
_GUEST_FILES = {
    "etc/inittab": ("inittab", 0o644),
    "etc/rogue/boot": ("boot.sh", 0o755),
    "etc/ssh/sshd_config": ("sshd_config", 0o644),
}


def digest(codename: str) -> str:
    """Name the recipe for the host's release ``codename``: same recipe, same name."""
    hasher = hashlib.sha256(codename.encode())
    for path in _sources():
        hasher.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    """Yield the files that determine the image, in a fixed order."""
    yield from sorted(_HERE.glob("*.py"))
    yield CUSTOMIZE_SCRIPT
    yield from sorted(GUEST_DIRECTORY.iterdir())


def guest_files() -> bytes:
    """Return the guest's own files as a tar archive, owned by root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as packed:
        for path, (source, mode) in _GUEST_FILES.items():
            content = (GUEST_DIRECTORY / source).read_bytes()
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), mode
            packed.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def initramfs_script() -> bytes:
    """Return the first program of the kernel."""
    return (GUEST_DIRECTORY / "initramfs.sh").read_bytes()
