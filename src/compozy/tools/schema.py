"""Arguments against a tool's JSON Schema. Imports the validator when the first foreign tool is called."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_KEPT = 256
_MOST = 3


def schema_problem(schema: object) -> str:
    """Say what is wrong with an input schema, "" for one that can be used."""
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return 'an input schema is a JSON Schema object with "type": "object"'
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - start-up cost
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - start-up cost

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"the input schema is not valid: {error.message[:200]}"
    return ""


def problem_with(schema: Mapping[str, object], arguments: Mapping[str, object]) -> str:
    """Say what is wrong with arguments, the first few problems with their places; "" when they fit."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - start-up cost

    checker = _checker(msgspec.json.encode(schema, order="sorted"))
    try:
        found = sorted(checker.iter_errors(dict(arguments)), key=lambda error: list(map(str, error.absolute_path)))
    except Unresolvable as error:
        return f"the tool's own input schema leads nowhere: {error}"
    return "; ".join(
        f"{'.'.join(map(str, error.absolute_path)) or 'input'}: {error.message[:200]}" for error in found[:_MOST]
    )


@lru_cache(maxsize=_KEPT)
def _checker(schema: bytes) -> "Validator":
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - start-up cost

    # References to other documents are not followed: nothing of a foreign server makes us fetch anything.
    return Draft202012Validator(msgspec.json.decode(schema))
