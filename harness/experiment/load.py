"""Load an experiment file, check it, and resolve its defaults."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Final

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from rogue.harness.data.files import DataFiles, files_beside
from rogue.harness.data.source import DataSource
from rogue.harness.data.yaml_text import format_path
from rogue.harness.errors import PROBLEMS_SHOWN_MAX, ConfigError, Problem
from rogue.harness.experiment.choices import MEASURES, MeasureChoice, Scalar
from rogue.harness.experiment.document import (
    FACTORS,
    PAPER,
    Document,
    apply_settings,
    parse_path,
    read_document,
    show,
    with_setting,
)
from rogue.harness.experiment.model import Experiment
from rogue.harness.plugins.loading import LoadedPlugin, load_plugins
from rogue.harness.plugins.source import PluginSource, each_once, read_plugin
from rogue.workloads.printable import did_you_mean
from rogue.workloads.specification import MISTAKE
from rogue.workloads.units import UnitError

_CORRECT = "correct the value"
_TEXTS = {
    "missing": ("a value", "add the key"),
    "string_pattern_mismatch": ("lower-case letters, digits, - and _, at most 63", "choose another name"),
    "int_type": ("a whole number", _CORRECT),
    "float_type": ("a number", _CORRECT),
    "finite_number": ("a finite number", _CORRECT),
    "string_type": ("text", _CORRECT),
    "list_type": ("a list", _CORRECT),
    "tuple_type": ("a list", _CORRECT),
    "dict_type": ("a mapping", _CORRECT),
    "model_type": ("a mapping", _CORRECT),
    "greater_than": ("a number above {gt}", _CORRECT),
    "greater_than_equal": ("a number of at least {ge}", _CORRECT),
    "less_than": ("a number below {lt}", _CORRECT),
    "less_than_equal": ("a number of at most {le}", _CORRECT),
    "too_short": ("a list of at least {min_length}", _CORRECT),
    "too_long": ("a list of at most {max_length}", _CORRECT),
    "string_too_short": ("at least {min_length} characters", _CORRECT),
    "string_too_long": ("at most {max_length} characters", _CORRECT),
    "literal_error": ("one of {expected}", _CORRECT),
}


def find_problems(error: ValidationError, document: Document) -> list[Problem]:
    """Return one problem per mistake, in the order of the model's fields."""
    return [_problem(each, document) for each in error.errors(include_url=False)]


def _problem(error: ErrorDetails, document: Document) -> Problem:
    path = document.as_written(tuple(error["loc"]))
    context = error.get("ctx", {})
    expected, advice = _expected(error["type"], error["msg"], context)
    got = context.get("got") or show(document.written(path))
    return Problem(document.place(path), format_path(path), got, expected, advice)


def _expected(kind: str, message: str, context: Mapping[str, object]) -> tuple[str, str]:
    cause = context.get("error")
    if kind == MISTAKE:
        return str(context["expected"]), str(context["advice"])
    if isinstance(cause, UnitError):
        return cause.expected, cause.advice
    expected, advice = _TEXTS.get(kind, (message, _CORRECT))
    return expected.format(**context), advice


FACTOR_ROOTS: Final = ("topology", "workload", "traffic", "probe", "transports", "faults")
POINTS_MAX: Final = 10_000
PLUGINS: Final = "plugins"


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of factor values, as written, and the experiment it makes."""

    factors: Mapping[str, Scalar]
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class LoadedExperiment:
    """A checked experiment."""

    document: Document
    settings: tuple[str, ...]
    factors: Mapping[str, Sequence[Scalar]]
    points: tuple[Point, ...]
    plugins: tuple[LoadedPlugin, ...] = ()
    """Code from outside that was loaded for it."""
    data: tuple[DataSource, ...] = ()
    """Files of data that it names."""

    @property
    def experiment(self) -> Experiment:
        """Return the experiment at its first point, for values without factors."""
        return self.points[0].experiment


def ignore_progress() -> None:
    """Ignore progress."""


def load_experiment(
    file: str, settings: Sequence[str] = (), plugins: Sequence[PluginSource] = ()
) -> LoadedExperiment:
    """Read an experiment file, load its plug-ins and those named beside it, and check it."""
    return load_document(read_document(file), settings, plugins)


def load_document(
    document: Document, settings: Sequence[str] = (), plugins: Sequence[PluginSource] = ()
) -> LoadedExperiment:
    """Load an experiment from a document; its plug-ins are relative to the folder of its file."""
    document = apply_settings(document, settings)
    loaded = load_plugins(each_once([*plugins, *_plugins_of(document)]))
    return check_document(document, settings, loaded)


def _plugins_of(document: Document) -> list[PluginSource]:
    """Return the plug-ins that the file names.

    `check_document` reports a value that is not a list of strings.
    """
    named = document.data.get(PLUGINS)
    if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
        return []
    places = [f"{document.place((PLUGINS, index))}: {PLUGINS}[{index}]" for index in range(len(named))]
    here = Path(document.file).parent
    return [read_plugin(str(here / each), place) for each, place in zip(named, places, strict=True)]


def check_document(
    document: Document,
    settings: Sequence[str],
    plugins: tuple[LoadedPlugin, ...] = (),
    files: DataFiles | None = None,
    checked: Callable[[], object] = ignore_progress,
) -> LoadedExperiment:
    """Check every factor point; all mistakes together are one ConfigError. No plug-in is loaded here.

    Files of data are beside the document unless `files` has them. `checked` is called after each point.
    """
    files = files or files_beside(document.file)
    factors = _read_factors(document)
    points: list[Point] = []
    problems: dict[str, Problem] = {}
    for chosen in _combinations(factors):
        try:
            points.append(Point(chosen, _check_point(document, chosen, files)))
        except ConfigError as error:
            problems |= {str(problem): problem for problem in error.problems}
        checked()
        if len(problems) > PROBLEMS_SHOWN_MAX:
            break
    if problems:
        raise ConfigError(tuple(problems.values()))
    data = tuple(files.sources.values())
    return LoadedExperiment(document, tuple(settings), factors, tuple(points), plugins, data)


def _combinations(factors: Mapping[str, Sequence[Scalar]]) -> Iterator[dict[str, Scalar]]:
    for values in product(*factors.values()):
        yield dict(zip(factors, values, strict=True))


def _check_point(document: Document, chosen: Mapping[str, Scalar], files: DataFiles) -> Experiment:
    for key, value in chosen.items():
        path = parse_path(key)
        try:
            document = with_setting(document, path or (), value, document.place((FACTORS, key)))
        except LookupError as error:
            known = () if path and path[0] in document.data else map(format_path, document.places)
            advice = did_you_mean(key, known, f"the file has no {error.args[0]}")
            raise _factor_error(
                document, key, "a path that leads nowhere", "a key of the file", advice
            ) from error
    try:
        return Experiment.model_validate(document.data, context=files)
    except ValidationError as error:
        raise ConfigError(find_problems(error, document)) from error


def _read_factors(document: Document) -> dict[str, list[Scalar]]:
    written = document.data.get(FACTORS, {})
    if not isinstance(written, dict):
        raise _factor_error(document, "", show(written), "a mapping from keys to lists", "write {} for none")
    factors = {key: _read_values(document, key, values) for key, values in written.items()}
    points = prod(len(values) for values in factors.values())
    if points > POINTS_MAX:
        got = f"{points} combinations"
        raise _factor_error(document, "", got, f"at most {POINTS_MAX}", "take values away")
    return factors


def _read_values(document: Document, key: str, values: object) -> list[Scalar]:
    path = parse_path(key)
    if path is None or path[0] not in FACTOR_ROOTS or len(path) < 2:
        expected = f"a dotted key that starts with {', '.join(FACTOR_ROOTS)}"
        raise _factor_error(document, key, repr(key), expected, "write for example workload.senders")
    if not isinstance(values, list) or not values:
        raise _factor_error(document, key, show(values), "a list of values", "write for example [1, 2, 4]")
    for index, value in enumerate(values):
        if not isinstance(value, Scalar):
            raise _factor_error(document, key, show(value), "single words or numbers", "write each value out")
        if value in values[:index]:
            raise _factor_error(document, key, f"{show(value)} twice", "each value once", "remove one")
    return values


def _factor_error(document: Document, key: str, got: str, expected: str, advice: str) -> ConfigError:
    path = (FACTORS, key) if key else (FACTORS,)
    return ConfigError([Problem(document.place(path), format_path(path), got, expected, advice)])


def _resolved_measure(requested: MeasureChoice | None) -> dict[str, JsonValue]:
    if requested is None or requested.kind != "packets":
        return {"interval_ns": requested.interval_ns if requested else None}
    return requested.model_dump(mode="json", exclude={"kind", "interval_ns"})


def resolve(loaded: LoadedExperiment) -> dict[str, JsonValue]:
    """Return the experiment, at its first point, as plain data with defaults filled in.

    `traffic` is always there, `workload` only if the file used it.
    """
    experiment = loaded.experiment
    data: dict[str, JsonValue] = experiment.model_dump(mode="json")
    data["title"] = experiment.title or experiment.name
    data["traffic"] = [group.model_dump(mode="json") for group in experiment.groups]
    data["transports"] = [
        {"label": choice.shown, "name": str(choice.name), "parameters": dict(choice.parameters)}
        for choice in experiment.transports
    ]
    data["measure"] = {
        kind: _resolved_measure(experiment.measure_choice(kind))
        for kind in MEASURES
        if experiment.measures(kind)
    }
    del data["scales"]  # the chosen one is applied already
    if experiment.workload is None:
        del data["workload"]
    return data


def hidden_values(loaded: LoadedExperiment) -> Iterator[str]:
    """Return a sentence for each base value that no point uses because a factor replaces it."""
    document = loaded.document
    if loaded.experiment.scale != PAPER:
        return
    for key, values in loaded.factors.items():
        path = parse_path(key) or ()
        base = document.written(path)
        is_set = document.place((FACTORS, key)).startswith("--set")
        if base is not None and base not in values and not is_set:
            has = f"factors has {', '.join(map(show, values))}"
            yield f"{document.place(path)}: {format_path(path)}: {show(base)} is never run: {has}"
