"""Hosts with RDMA cards on one LAN, and a controller that provisions them and runs experiments.

CloudLab reads this file, which must stand at the root of the repository, with its own `geni` package.

Instructions:
Log in to the controller and work in tmux, so that a lost connection ends nothing:

  cd /local/repository && make setup
  geni-get manifest > manifest.xml
  .venv/bin/rogue inventory from-manifest manifest.xml > nodes.yaml
  .venv/bin/rogue provision nodes.yaml && .venv/bin/rogue doctor nodes.yaml

The controller needs a key that the hosts accept: there, `geni-get key > ~/.ssh/id_ed25519` and
`chmod 600 ~/.ssh/id_ed25519`; on each host, append what `ssh-keygen -y -f ~/.ssh/id_ed25519` prints on the
controller to ~/.ssh/authorized_keys.
"""  # noqa: A005  (CloudLab chose the name)

# CloudLab looks for `defineParameter` in the text of this file, so the whole profile is in this file.

from __future__ import annotations

import sysconfig
from pathlib import Path

IMAGE = "urn:publicid:IDN+emulab.net+image+emulab-ops//%s"
NETMASK = "255.255.255.0"
HOSTS_MAX = 40
CONTROLLER_PACKAGES = (
    "sudo apt-get -qq update && sudo apt-get -qq -y install g++ make python3-dev python3-venv tmux"
)


def parameters(context: portal.Context) -> object:
    """Define the parameters that CloudLab shows when an experiment is created."""
    context.defineParameter("hosts", "Number of hosts", portal.ParameterType.INTEGER, 4)
    context.defineParameter(
        "hardware",
        "Type of the hosts",
        portal.ParameterType.NODETYPE,
        "m510",
        [
            ("m510", "m510: ConnectX-3, 10 Gb/s"),
            ("xl170", "xl170: ConnectX-4 Lx, 25 Gb/s"),
            ("c6525-25g", "c6525-25g: ConnectX-5, 25 Gb/s"),
            ("d6515", "d6515: ConnectX-5, 100 Gb/s"),
        ],
        longDescription="Types with ConnectX cards; see harness/provisioning/cloudlab.py.",
    )
    context.defineParameter(
        "image",
        "System of the hosts",
        portal.ParameterType.STRING,
        "UBUNTU22-64-STD",
        longDescription="The distribution's own RDMA stack is used. On m510 the card carries the control "
        "network, too, and is never reset.",
    )
    context.defineParameter(
        "jumbo_frames",
        "Frames of 9000 bytes on the LAN",
        portal.ParameterType.BOOLEAN,
        True,
        longDescription="RoCE packets of 2048 bytes, which the paper's experiments use, do not fit 1500. "
        "Not all clusters have such frames: without them, run with `--set topology.mtu=1024`.",
    )
    bound = context.bindParameters()
    if not 2 <= bound.hosts <= HOSTS_MAX:
        context.reportError(portal.ParameterError(f"from 2 to {HOSTS_MAX} hosts", ["hosts"]))
    context.verifyParameters()
    return bound


def describe(context: portal.Context) -> None:
    """Ask for the nodes."""
    asked = parameters(context)
    request = context.makeRequestRSpec()
    lan = request.LAN("lan0")
    lan.best_effort = True  # at the port's own rate: less would be shaped in software
    lan.setNoInterSwitchLinks()  # one switch, so that there is one queue to share
    if asked.jumbo_frames:
        lan.setJumboFrames()
    for number in range(asked.hosts):
        host = request.RawPC(f"h{number}")
        host.hardware_type = asked.hardware
        host.disk_image = IMAGE % asked.image
        interface = host.addInterface("if1")
        interface.addAddress(pg.IPv4Address(f"10.10.1.{number + 1}", NETMASK))
        lan.addInterface(interface)
    controller = request.RawPC("controller")
    controller.hardware_type = asked.hardware
    controller.disk_image = IMAGE % "UBUNTU24-64-STD"  # the harness needs Python 3.11
    controller.addService(pg.Execute(shell="bash", command=CONTROLLER_PACKAGES))
    context.printRequestRSpec(request)


if __spec__ is None:  # run as a script, as CloudLab does
    from geni import portal
    from geni.rspec import emulab, pg  # noqa: F401  (emulab gives links their methods beyond GENI's)

    describe(portal.context)
else:  # the standard library's `profile` is meant (cProfile imports it): become that module
    standard = Path(sysconfig.get_path("stdlib"), "profile.py")
    exec(compile(standard.read_text(), standard, "exec"))
