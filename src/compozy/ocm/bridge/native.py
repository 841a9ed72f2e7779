"""Native catalogue entries as manifests (OCM §3, §4; decisions O7, O8).

What only native entries know goes to `metadata.native`. Nothing is lost, and nothing is invented:
an id that is not legal and a missing description are refused.
"""

from collections.abc import Mapping

from compozy.ocm.bridge.drafts import BridgeError, Draft, make_id
from compozy.ocm.grammar import FIELDS
from compozy.ocm.native import EXTRA_COSTS, EXTRA_FIELDS

KEY = "native"


def from_native_entry(entry: Mapping[str, object]) -> Draft:
    """Return the manifest of a valid native entry; `unmapped` names what routers will not read there any more.

    Raises:
        BridgeError: the id is not legal in OCM, or there is no description.
    """
    identity = make_id(*str(entry["id"]).split("/"))
    if not entry.get("description"):
        raise BridgeError(f"{identity!r} has no description, which a manifest needs; add one")
    kept: dict[str, object] = {field: entry[field] for field in EXTRA_FIELDS if field in entry}
    document: dict[str, object] = {"ocm": "1"}
    for field in FIELDS:
        if field in entry:
            document[field] = entry[field]
    cost = entry.get("cost")
    if isinstance(cost, Mapping) and (own := {key: cost[key] for key in EXTRA_COSTS if key in cost}):
        kept["cost"] = own
        document["cost"] = {key: value for key, value in cost.items() if key not in EXTRA_COSTS}
    if kept:
        metadata = entry.get("metadata")
        document["metadata"] = {**(metadata if isinstance(metadata, Mapping) else {}), KEY: kept}
    unmapped = tuple(f"{field} (kept under metadata.{KEY})" for field in kept)
    return Draft(document=document, unmapped=unmapped)
