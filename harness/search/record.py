"""What a search was asked, beside the cells of its run: enough to go on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from rogue.harness.errors import DamagedRunError, UsageError
from rogue.harness.experiment.document import Document
from rogue.harness.results.files import write_whole
from rogue.harness.results.recorded_run import Run
from rogue.reports.reading.files import checksum, read_regular
from rogue.workloads.bounded_json import parse_json

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
