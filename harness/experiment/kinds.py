"""A field whose class is chosen by its `kind` from a registry."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rogue.workloads.mistakes import mistake, mistakes_at
from rogue.workloads.specification import Specification
from rogue.workloads.spelling import meant


@dataclass(frozen=True, eq=False, slots=True)
class ByKind:
    """Annotation of such a field."""

    registry: Mapping[str, type[Specification]]

    def validate(self, value: object, info: ValidationInfo) -> Specification:
        """Hand the mapping to the class that its kind names."""
        first = next(iter(self.registry))
        if not isinstance(value, dict):
            raise mistake("a mapping with a kind", f"write {{kind: {first}, ...}}")
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in self.registry:
            found = mistake(f"one of the kinds {', '.join(self.registry)}", meant(kind, self.registry))
            raise mistakes_at({"kind": found})
        return self.registry[kind].model_validate(value, context=info.context)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        kinds = [
            handler.resolve_ref_schema(handler(kind.__pydantic_core_schema__))
            for kind in self.registry.values()
        ]
        return {"oneOf": [{**kind, "required": ["kind", *kind.get("required", [])]} for kind in kinds]}
