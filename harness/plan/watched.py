"""A plan whose plug-ins may never return: a process of its own makes it, and is ended if it falls silent."""

from multiprocessing.connection import Connection

from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.counting import Counted, in_silence
from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan import plan as plans
from rogue.harness.plan.plan import Plan, make_plan
from rogue.harness.plugins.watching import copied
from rogue.harness.testbeds.base import Testbed


def make_watched_plan(loaded: LoadedExperiment, testbed: Testbed, counted: Counted = in_silence) -> Plan:
    """Make the plan; ConfigError if a plug-in does not return within the time limit of a cell.

    Of the process nothing is believed but an end: whatever it could not plan is planned, and told, here.
    """
    asked = [plugin.source.file for plugin in loaded.plugins if not plugin.source.is_installed]
    if not asked or testbed.jobs_max is not None:  # connections to nodes cannot be shared with a process
        return make_plan(loaded, testbed, counted)
    limits_s = [(point.experiment.time_limit_ns or 0) / SECOND_NS for point in loaded.points]
    silent_s = max(plans.SILENT_SECONDS_MIN, *limits_s)

    def plan(pipe: Connection) -> None:
        """Tell how far it is, and then a list of all cells."""
        pipe.send(list(make_plan(loaded, testbed, lambda *count: pipe.send(count)).cells))

    with copied(plan) as pipe:
        try:
            while pipe.poll(silent_s):
                message = pipe.recv()
                if isinstance(message, list):
                    return Plan(loaded, testbed, tuple(message))
                counted(*message)
        except EOFError:
            return make_plan(loaded, testbed, counted)
    got = f"a plug-in that has not returned after {silent_s:g} s of planning"
    advice = "correct what never ends, or raise time_limit; `rogue check-plugin` shows more"
    raise ConfigError([Problem(", ".join(asked), "", got, "an end of each call", advice)])
