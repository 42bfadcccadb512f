"""Describe the keys of an experiment file: name, type, default and meaning."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rogue.workloads.printable import did_you_mean
from rogue.workloads.specification import Specification, meanings, mistake, mistakes_at
from rogue.workloads.units import QUANTITY_OF_SUFFIX, RATE, SIZE, TIME, Quantity


@dataclass(frozen=True, eq=False, slots=True)
class ByKind:
    """Annotation of such a field."""

    registry: Mapping[str, type[Specification]]

    def validate(self, value: object, info: ValidationInfo) -> Specification:
        """Validate a mapping with the class that its kind names."""
        first = next(iter(self.registry))
        if not isinstance(value, dict):
            raise mistake("a mapping with a kind", f"write {{kind: {first}, ...}}")
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in self.registry:
            found = mistake(f"one of the kinds {', '.join(self.registry)}", did_you_mean(kind, self.registry))
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


REQUIRED: Final = "required"
NONE: Final = "none"
BOUNDS: Final = {
    "minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below",
}  # fmt: skip
PLAIN_TYPES: Final = {"boolean": "true or false", "string": "text", "object": "mapping"}

Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Key:
    """One key of an experiment file."""

    name: str
    type: str
    default: str
    """As it would be written; `required` or `none` where there is none."""
    meaning: str


def keys_of(kind: type[BaseModel]) -> list[Key]:
    """Return every key of a part of the experiment in order, without `kind`."""
    properties, sentences = _properties(kind.model_json_schema()), meanings(kind)
    keys = []
    for name, field in kind.model_fields.items():
        key = field.alias or name
        if key in properties and "const" not in properties[key]:
            described = _without_null(properties[key])
            meaning = " ".join(sentences.get(name, "").split("Source:")[0].split())
            keys.append(Key(key, type_text(described), _default(name, field, described), meaning))
    return keys


def _properties(schema: Schema) -> Mapping[str, Schema]:
    forms = [schema, *schema.get("anyOf", [])]  # type: ignore[misc]
    return next(form["properties"] for form in forms if "properties" in form)


def type_text(schema: Schema) -> str:
    """Return the permitted values in words, from a JSON Schema."""
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(choices, list):
        return " or ".join(str(each) for each in choices)
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "oneOf" in schema:
        return "mapping with a kind"
    if schema.get("type") == "array":
        items = schema.get("items")
        return f"list: {type_text(items) if isinstance(items, dict) else 'anything'}"
    if schema.get("type") in ("integer", "number"):
        return f"{schema['type']}{_bounds(schema)}"
    return _text_type(schema)


def _text_type(schema: Schema) -> str:
    examples = schema.get("examples")
    if isinstance(examples, list) and "unbounded" in examples:
        return f"{SIZE.name} or unbounded"
    if examples == ["file"]:
        return "file"
    pattern = str(schema.get("pattern", ""))
    for quantity in (SIZE, RATE, TIME):
        if f"({'|'.join(quantity.units)})" in pattern:
            return quantity.name
    if re.match(r"\^h[\[(]", pattern):
        return "host"
    if "anyOf" in schema:
        return "text or number"
    return PLAIN_TYPES.get(str(schema.get("type")), "text")


def _bounds(schema: Schema) -> str:
    ends = [f"{word} {schema[key]}" for key, word in BOUNDS.items() if key in schema]
    return f", {' '.join(ends)}" if ends else ""


def _without_null(schema: Schema) -> Schema:
    choices = schema.get("anyOf")
    if not isinstance(choices, list):
        return schema
    others = [choice for choice in choices if choice.get("type") != "null"]
    return others[0] if len(others) == 1 else schema


def _default(name: str, field: FieldInfo, schema: Schema) -> str:
    if field.is_required():
        return REQUIRED
    value = field.get_default(call_default_factory=True)
    if value is None or value in ({}, [], ()):
        return NONE
    quantity = quantity_of(name) if schema.get("type") == "string" else None
    if quantity is not None and isinstance(value, int):
        return quantity.format(value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def quantity_of(name: str) -> Quantity | None:
    """Return the quantity of the unit at the end of a name."""
    return next((each for suffix, each in QUANTITY_OF_SUFFIX.items() if name.endswith(suffix)), None)
