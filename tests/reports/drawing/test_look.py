"""The look that everything drawn has."""

from matplotlib import rc_context, rcParams

from rogue.reports.drawing.look import figure_look


def test_what_the_report_does_not_set_is_as_matplotlib_comes() -> None:
    with rc_context({"text.usetex": True, "savefig.bbox": "tight"}):
        with figure_look():
            assert (rcParams["text.usetex"], rcParams["savefig.bbox"]) == (False, None)
        assert (rcParams["text.usetex"], rcParams["savefig.bbox"]) == (True, "tight")
