"""Ask whether one setting of the values that the RoGUE paper leaves open explains its figures 8 to 13.

.venv/bin/python scripts/infer_rogue.py run POINTS.jsonl     # resumes; 64 Sobol points, then 30 per fold
.venv/bin/python scripts/infer_rogue.py judge POINTS.jsonl   # held-out gain, null, and values per figure

Fixed before the first run: the space, the votes, the folds and the rule. A figure's vote is the share of its
claims whose number of one seed lies within the tolerance. For each of the 15 pairs of figures the best
setting of the other four is taken, and its votes for the pair are compared with those of the suite's setting.
The gain is the sum over the pairs, divided by 5, since each figure is held out five times. The null permutes
each figure's votes among the points, 1000 times. A setting is adopted only if the gain is above one claim and
above the null's 95 %. A point takes about 40 s of one core: 64 points 45 minutes, all 515 points 6 hours.
"""

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import optuna
import yaml
from scipy.stats import qmc

import rogue
from rogue.reports.claims import Claim, Verdict, evaluate, read_claims
from rogue.reports.claims.claim import Condition
from rogue.reports.claims.conditions import experiment_name
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.shipped import shipped

SPACE: Final[dict[str, tuple[object, ...]]] = {
    "base_rtt_floor": ("4us", "12500ns", "25us", "50us", "100us", "200us"),
    "mtu": (1024, 2048, 4096),
    "beta_packets": (4.0, 2.0),
    "estimator": ("drained_followers", "drained", "literal"),
    "hold_off": ("160000B", "291072B"),
    "start_within": ("10us", "100us", "1ms", "10ms"),
    "limiter_write": ("0ns", "3ms", "24ms", "67ms"),
    "rate_change_max": ("250Mbps", "500Mbps", "1Gbps", "2Gbps", "4Gbps"),
}
"""Choices per open value. The unit of the window is a packet of `mtu` bytes. `beta_packets` of 2 is what the
printed order comes to. A hold-off of 291 072 bytes counts from the wire, so two segments more.
"""
SUITE: Final = {
    **{key: values[0] for key, values in SPACE.items()},
    **{"base_rtt_floor": "50us", "mtu": 2048, "rate_change_max": "1Gbps"},
}
OF_AGENT: Final = (
    "base_rtt_floor",
    "beta_packets",
    "estimator",
    "hold_off",
    "limiter_write",
    "rate_change_max",
)


class Short(NamedTuple):
    """A short run of a shipped experiment, with the figures whose claims it judges."""

    experiment: str
    changes: Mapping[str, object]
    factors: Mapping[str, Sequence[object]]
    claims: Mapping[str, tuple[str, ...]]


RUNS: Final = (
    Short(
        "figure-8", {"workload.repeat_for": "2s"}, {"transports[0].rtt_noise": ["0us", "50us", "100us"]},
        {"8": ("R-14-tolerates", "R-14-degrades")},
    ),
    Short(
        "figure-9", {"workload.repeat_for": "500ms"},
        {"faults[0].one_in": [65536, 4096, 1024], "workload.verb_size": ["64KiB", "1KiB"]},
        {"9": ("R-15-good", "R-15-falls", "R-15-verbs")},
    ),
    Short(
        "incast", {"workload.repeat_for": "3s"}, {}, {"10": ("R-16-p50", "R-16-p10", "R-16-estimate-base")}
    ),
    Short(
        "figure-11-13", {"workload.repeat_for": "3s"}, {},
        {"11": ("R-20-p50", "R-20-p90", "R-20-max"), "13": ("R-19-jain",)},
    ),
    Short("figure-12", {"workload.step": "3s"}, {}, {"12": ("R-17",)}),
)  # fmt: skip
FIGURES: Final = ("8", "9", "10", "11", "12", "13")
FOLDS: Final = tuple(combinations(range(len(FIGURES)), 2))
SOBOL_POINTS, FOLD_POINTS, PERMUTATIONS = 64, 30, 1000
GOOD: Final = (Verdict.REPRODUCED, Verdict.CLOSE, Verdict.AGREES)
Point = Mapping[str, object]


def votes_of(point: Point) -> dict[str, float]:
    """Run the short experiments with the values of a point, and return the vote of each figure."""
    votes: dict[str, float] = {}
    for short in RUNS:
        document = yaml.safe_load(
            (shipped("experiments") / f"rogue-paper/{short.experiment}.yaml").read_text()
        )
        agent = {key: point[key] for key in OF_AGENT if point[key] != SUITE[key]}
        document |= {"transports": [{"name": "rogue", "label": "rogue"} | agent], "repetitions": 1}
        document |= {"factors": dict(short.factors)}
        document["topology"]["mtu"] = point["mtu"]
        if document["workload"]["kind"] == "incast":
            document["workload"]["start_within"] = point["start_within"]
        for path, value in short.changes.items():
            part, key = path.split(".")
            document[part][key] = value
        with tempfile.TemporaryDirectory() as out:
            rogue.run(document, out=out)
            (directory,) = Path(out).glob("*/*/")
            results = Results(Run(directory))
            for figure, names in short.claims.items():
                claims = [_free(claim, agent, results) for claim in read_claims() if claim.id in names]
                found = [outcome.found for outcome in evaluate(claims, results)]
                votes[figure] = sum(verdict in GOOD for verdict in found) / len(found)
    return votes


def _free(claim: Claim, agent: Point, results: Results) -> Claim:
    """Return a claim that any experiment and these parameters may judge, in a shorter run."""
    kept = [
        each
        for each in claim.conditions
        if each.parameter.startswith(("faults", "transport.", "workload.verb"))
    ]
    own = [Condition(parameter=f"transport.{key}", equals=value) for key, value in agent.items()]
    name = experiment_name(results.run.manifest.source.file)
    return claim.model_copy(update={"conditions": (*kept, *own), "experiments": (name,)})


def sobol_points() -> list[dict[str, object]]:
    """Return the suite's setting, and then the Sobol points of the space."""
    drawn = qmc.Sobol(len(SPACE), seed=1).random(SOBOL_POINTS)
    rows = [
        {key: values[int(u * len(values))] for u, (key, values) in zip(row, SPACE.items(), strict=True)}
        for row in drawn
    ]
    return [dict(SUITE), *rows]


def next_point(points: Sequence[Point], votes: np.ndarray, fold: tuple[int, int], seed: int) -> Point:
    """Propose a point for the figures that a fold does not hold out, from all stored points."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {key: optuna.distributions.CategoricalDistribution(list(values)) for key, values in SPACE.items()}  # type: ignore[arg-type]
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    for point, score in zip(points, _training(votes, fold), strict=True):
        study.add_trial(optuna.trial.create_trial(params=dict(point), distributions=space, value=score))
    return study.ask(space).params


def _training(votes: np.ndarray, fold: tuple[int, int]) -> np.ndarray:
    return np.delete(votes, fold, axis=1).sum(axis=1)


def gain(votes: np.ndarray) -> float:
    """Return the held-out gain over the suite's setting, row 0, in figures' votes; ties share alike."""
    total = 0.0
    for fold in FOLDS:
        training, held = _training(votes, fold), votes[:, fold].sum(axis=1)
        total += held[training == training.max()].mean() - held[0]
    return float(total / (len(FIGURES) - 1))


def null_gains(votes: np.ndarray) -> np.ndarray:
    """Return the gains when each figure's votes are permuted among the points; row 0 stays."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(PERMUTATIONS):
        mixed = np.column_stack([random.permutation(column) for column in votes[1:].T])
        found.append(gain(np.vstack([votes[:1], mixed])))
    return np.array(found)


def run(path: Path) -> None:
    """Add points to the file until it has all."""
    points = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    planned = sobol_points()
    for number in range(len(points), len(planned) + len(FOLDS) * FOLD_POINTS):
        if number < len(planned):
            point: Point = planned[number]
        else:
            fold = FOLDS[(number - len(planned)) // FOLD_POINTS]
            point = next_point([each["point"] for each in points], _table(points), fold, number)
        points.append({"point": dict(point), "votes": votes_of(point)})
        with path.open("a") as file:
            file.write(json.dumps(points[-1]) + "\n")


def judge(path: Path) -> str:
    """Return the gain, the null, and the values with which each figure comes out."""
    points = [json.loads(line) for line in path.read_text().splitlines()]
    votes = _table(points)
    found, null = gain(votes), float(np.quantile(null_gains(votes), 0.95))
    is_adopted = found > 1 and found > null
    lines = [
        f"{len(points)} points; held-out gain {found:.2f} claims, 95 % of the null {null:.2f}:"
        f" {'adopt the best setting' if is_adopted else 'the words do not determine the figures'}."
    ]
    for number, figure in enumerate(FIGURES):
        whole = [each["point"] for each in points if each["votes"][figure] == 1]
        needs = {
            key: [value for value in values if any(each[key] == value for each in whole)]
            for key, values in SPACE.items()
        }
        bound = {key: kept for key, kept in needs.items() if len(kept) < len(SPACE[key])}
        lines.append(
            f"figure {figure}: {len(whole)} of {len(points)} points; suite {votes[0, number]:.2f}; {bound}"
        )
    return "\n".join(lines)


def _table(points: Sequence[Mapping[str, dict[str, float]]]) -> np.ndarray:
    return np.array([[each["votes"][figure] for figure in FIGURES] for each in points])


if __name__ == "__main__":
    command, file = sys.argv[1], Path(sys.argv[2])
    if command == "run":
        run(file)
    else:
        print(judge(file))
