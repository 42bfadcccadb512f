"""Access to a node: its programs and files."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from pathlib import Path

COMMAND_LIMIT_S = 900
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}

_SET_DCB, _SET_DCBX, _INTERFACE, _DCBX = 79, 23, 1, 14
"""RTM_SETDCB, DCB_CMD_SDCBX, DCB_ATTR_IFNAME and DCB_ATTR_DCBX.  Source: Linux, uapi/linux/dcbnl.h."""
_REQUEST, _ERROR, _ERROR_AT, _STATUS_AT = 1, 2, 16, 24
"""An error has its negative number after the header.

Any other reply has one byte of status after its header, the DCB header and the attribute's header.
"""


class StateError(Exception):
    """The node cannot be set as requested; the message says what to do."""


class CommandError(StateError):
    """A program failed; `stderr` has its own message."""

    def __init__(self, command: list[str], stderr: str) -> None:
        super().__init__(f"`{' '.join(command)}` failed: {stderr.strip() or 'it printed no reason'}")
        self.stderr = stderr


def text_of(path: Path) -> str:
    """Return the stripped text of a small file; empty if it is absent or unreadable."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


class System:
    """The node that the module runs on."""

    def run(self, command: list[str], text: str = "") -> str:
        """Return the output of a program that reads `text`; raise CommandError if it fails."""
        try:
            done = subprocess.run(
                command,
                input=text,
                env=_ENVIRONMENT,
                text=True,
                capture_output=True,
                timeout=COMMAND_LIMIT_S,
                check=True,
            )
        except FileNotFoundError:
            raise CommandError(command, f"{command[0]} is not installed") from None
        except subprocess.TimeoutExpired:
            raise CommandError(command, f"it did not end within {COMMAND_LIMIT_S} s") from None
        except subprocess.CalledProcessError as error:
            raise CommandError(command, error.stderr or error.stdout) from None
        return done.stdout

    def give_dcbx_to_firmware(self, interface: str) -> None:
        """Set the DCBX mode 0, for which `dcb dcbx set` has no word; StateError if the driver refuses.

        Source: iproute2, dcb/dcb_dcbx.c; Linux, mlx5/core/en_dcbnl.c (mlx5e_dcbnl_setdcbx).
        """
        attributes = b"".join(
            struct.pack("=HH", 4 + len(value), kind) + value.ljust(-(-len(value) // 4) * 4, b"\0")
            for kind, value in ((_INTERFACE, interface.encode() + b"\0"), (_DCBX, b"\0"))
        )
        header = struct.pack("=IHHIIBBH", 20 + len(attributes), _SET_DCB, _REQUEST, 1, 0, 0, _SET_DCBX, 0)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as channel:
            channel.settimeout(COMMAND_LIMIT_S)
            channel.send(header + attributes)
            reply = channel.recv(4096)
        is_error = struct.unpack_from("=IH", reply)[1] == _ERROR
        if is_error or reply[_STATUS_AT]:
            number = -struct.unpack_from("=i", reply, _ERROR_AT)[0]
            reason = os.strerror(number) if is_error else f"status {reply[_STATUS_AT]}"
            raise StateError(
                f"interface {interface}: its driver does not give DCBX back to the firmware ({reason}); "
                "reboot the node"
            )

    def is_root(self) -> bool:
        """Return True if the module runs as root."""
        return os.geteuid() == 0

    def path(self, absolute: str) -> Path:
        """Return the path of a file of the node."""
        return Path(absolute)

    def read(self, absolute: str) -> str:
        """Return the text of a small file of the node, as `text_of` does."""
        return text_of(self.path(absolute))
