"""What can go wrong below the core on a node, told apart by who can mend it."""


class VerbsUnavailable(RuntimeError):  # noqa: N818 - a condition of the node, reported as a sentence
    """The node lacks what verbs need: pyverbs, a device, a port with the experiment's address."""


class VerbsError(RuntimeError):
    """A verb failed."""

    def __init__(self, verb: str, problem: str, qp_num: int | None = None) -> None:
        place = f" on queue pair {qp_num}" if qp_num is not None else ""
        super().__init__(f"{verb}{place}: {problem}")
        self.verb = verb
        self.qp_num = qp_num
