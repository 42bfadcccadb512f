"""Read and write the files that describe a search."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from rogue.harness.errors import ConfigError, DamagedRunError, Problem, UsageError
from rogue.harness.experiment.document import Document, read_document
from rogue.harness.results.files import write_whole
from rogue.harness.results.recorded_run import Run
from rogue.reports.reading.files import checksum, read_regular
from rogue.workloads.json_text import parse_json


def read_as(file: str, kind: str, advice: str) -> Document:
    """Read a file of some kind; a fault that speaks of an experiment is told of that kind instead."""
    try:
        return read_document(file)
    except ConfigError as error:
        raise ConfigError([_said_of(problem, kind, advice) for problem in error.problems]) from error


def _said_of(problem: Problem, kind: str, advice: str) -> Problem:
    if "experiment" not in f"{problem.expected} {problem.advice}":
        return problem
    advised = advice if "experiment" in problem.advice else problem.advice
    return replace(problem, expected=f"a readable {kind}", advice=advised)


PAGE: Final = "search.html"
FOUND: Final = "find.yml"
Record = TypeVar("Record", bound=BaseModel)


class Asked(BaseModel):
    """What was asked; the experiment itself stands in the manifest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    space_file: str
    space_sha256: str
    space: dict[str, JsonValue]
    """The space with what the command line changed in it."""
    has_baseline: bool

    @property
    def document(self) -> Document:
        """The space file as it was written."""
        return Document(self.space_file, self.space_sha256, self.space, {})


@dataclass(frozen=True, slots=True)
class SearchFiles:
    """Files of a search in the directory of its run."""

    run: Run

    def write(self, content: Mapping[str, str | None]) -> None:
        """Write files and note them in the manifest; None removes one."""
        directory, files = self.run.directory, self.run.manifest.files
        for name, text in content.items():
            if text is None:
                (directory / name).unlink(missing_ok=True)
                files.pop(name, None)
            else:
                write_whole(directory / name, text.encode())
                files[name] = checksum(directory / name)
        self.run.write()

    def write_record(self, name: str, asked: BaseModel) -> None:
        """Write what was asked, at the start."""
        self.write({name: json.dumps(asked.model_dump(mode="json"), indent=1) + "\n"})


def read_record(file: Path, model: type[Record]) -> Record:
    """Read what was asked; UsageError if the run was asked nothing, DamagedRunError if it cannot be read."""
    try:
        return model.model_validate(parse_json(read_regular(file)))
    except FileNotFoundError as error:
        got = f"{file.parent}: got a run without {file.name}, expected one of `rogue {file.stem}`"
        raise UsageError(f"{got}; `rogue run --resume` goes on with others.") from error
    except (OSError, ValueError, ValidationError) as error:
        raise DamagedRunError(f"{file}: got what cannot be read, expected what was asked.") from error


class AskedVariation(BaseModel):
    """What was asked; the experiment itself stands in the manifest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    file: str
    sha256: str
    variation: dict[str, JsonValue]
    claims: list[str]
