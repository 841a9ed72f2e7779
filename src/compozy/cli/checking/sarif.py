"""Findings as SARIF 2.1.0, which code scanning services and editors read."""

import os
from urllib.parse import quote

from compozy import __version__
from compozy.catalog.checking.run import CheckReport
from compozy.cli.checking.hiding import hide_secrets
from compozy.cli.checking.report import shown_path
from compozy.model.diagnostic import Diagnostic, Position, Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def document(report: CheckReport, *, tool: str = "compozy agent check") -> dict[str, object]:
    """Return the log of one run: one rule a code, one result a finding, repairs as fixes."""
    codes = list(dict.fromkeys(one.code for one in report.diagnostics))
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": tool,
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(code, report) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, codes.index(one.code)) for one in report.diagnostics],
            }
        ],
    }


def _rule(code: str, report: CheckReport) -> dict[str, object]:
    first = next(one for one in report.diagnostics if one.code == code)
    rule: dict[str, object] = {
        "id": code,
        "shortDescription": {"text": first.cause or code.replace("-", " ").replace("_", " ")},
        "defaultConfiguration": {"level": _LEVELS[first.severity]},
    }
    if first.doc:
        rule["help"] = {"text": f"See {first.doc}"}
    return rule


def _result(one: Diagnostic, index: int) -> dict[str, object]:
    artifact = {"uri": quote(os.fsencode(shown_path(one.path)))}
    location: dict[str, object] = {"artifactLocation": artifact}
    if one.position is not None:
        location["region"] = _region(one.position)
    result: dict[str, object] = {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": _LEVELS[one.severity],
        "message": {"text": hide_secrets(one.message)},
        "locations": [{"physicalLocation": location}],
    }
    if one.repair is not None:
        replacements = [
            {
                "deletedRegion": {"charOffset": edit.start, "charLength": edit.end - edit.start},
                "insertedContent": {"text": edit.replacement},
            }
            for edit in one.repair.edits
        ]
        changes = [{"artifactLocation": artifact, "replacements": replacements}]
        result["fixes"] = [{"description": {"text": one.repair.title}, "artifactChanges": changes}]
    return result


def _region(position: Position) -> dict[str, object]:
    region: dict[str, object] = {"startLine": position.line, "startColumn": position.column}
    if position.length:
        region["endColumn"] = position.column + position.length
    return region
