"""The experiment with its defaults filled in, as the manifest keeps it: numbers in the unit the key names."""

from pydantic import JsonValue

from rogue.harness.experiment.choices import MEASURES, MeasureChoice
from rogue.harness.experiment.load import LoadedExperiment


def _resolved_measure(asked: MeasureChoice | None) -> dict[str, JsonValue]:
    """Its interval; of packets also which ones."""
    if asked is None or asked.kind != "packets":
        return {"interval_ns": asked.interval_ns if asked else None}
    return asked.model_dump(mode="json", exclude={"kind", "interval_ns"})


def resolve(loaded: LoadedExperiment) -> dict[str, JsonValue]:
    """Plain data; `traffic` is always there, `workload` where the short form was used."""
    experiment = loaded.experiment
    data: dict[str, JsonValue] = experiment.model_dump(mode="json")
    data["title"] = experiment.title or experiment.name
    data["traffic"] = [group.model_dump(mode="json") for group in experiment.groups]
    data["transports"] = [
        {"label": choice.shown, "name": str(choice.name), "parameters": dict(choice.parameters)}
        for choice in experiment.transports
    ]
    data["measure"] = {
        kind: _resolved_measure(experiment.asked(kind)) for kind in MEASURES if experiment.measures(kind)
    }
    del data["scales"]  # what the scale that was chosen says is in the data
    if experiment.workload is None:
        del data["workload"]
    return data
