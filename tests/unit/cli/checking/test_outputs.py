"""How findings look in each output (issue 3 item 4)."""

import json
from pathlib import Path

import jsonschema
import pytest

from compozy.catalog.checking.files import text_check
from compozy.catalog.checking.run import CheckReport, RepairedFile
from compozy.cli.checking.command import unified
from compozy.cli.checking.github import render as render_github
from compozy.cli.checking.hiding import hide_secrets
from compozy.cli.checking.human import Painter, block, render, summary_line
from compozy.cli.checking.report import as_json
from compozy.cli.checking.sarif import document
from compozy.model.diagnostic import Diagnostic, Position, Repair, Severity, TextEdit

TEXT = "---\nname: ädä\n\tmödel:\t校对 # x\n---\n\x1b[31mHi\n"


def finding(path: str, line: int, column: int, length: int = 1, **more: object) -> Diagnostic:
    facts: dict[str, object] = {
        "code": "unknown-field",
        "severity": Severity.ERROR,
        "message": "a message",
        **more,
    }
    return Diagnostic(path=path, position=Position(line=line, column=column, length=length), **facts)  # type: ignore[arg-type]


def report(*found: Diagnostic) -> CheckReport:
    return CheckReport(files=1, diagnostics=found, texts={"/w/AGENT.md": TEXT})


def test_the_caret_stands_below_the_place_also_after_tabs_and_wide_letters() -> None:
    lines = block(finding("/w/AGENT.md", 3, 9, 2), report(), Painter(False)).split("\n")
    source, caret = lines[1], lines[2]
    assert source == "    3 |     mödel:    校对 # x"
    marked = source[len(caret) - len("^^^^") :][:2]
    assert caret.endswith("^^^^") and marked == "校对"


def test_a_line_that_tries_to_drive_the_terminal_is_shown_harmless() -> None:
    shown = render(report(finding("/w/AGENT.md", 5, 1, message="bad \x1b[2J value")), colour=False, strict=False)
    assert "\x1b" not in shown
    assert "·[31mHi" in shown and "bad [2J value" in shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("env: {API_TOKEN: abc, MODE: x}", "env: {API_TOKEN: ***, MODE: x}"),
        ('"API_TOKEN": "a b, c"}', '"API_TOKEN": ********}'),
        ("PASSWORD = 'x y' # why", "PASSWORD = ***** # why"),
        ("  API_KEY: env:API_KEY", "  API_KEY: env:API_KEY"),
        ("command: agent --api-key abc --model x", "command: agent --api-key *** --model x"),
        ("command: agent --token-file /run/key", "command: agent --token-file /run/key"),
        ("TOKEN_URL: https://h.example", "TOKEN_URL: https://h.example"),
    ],
)
def test_a_source_line_is_shown_without_the_secrets_in_it(line: str, shown: str) -> None:
    assert hide_secrets(line) == shown


def test_colour_is_used_only_when_welcome() -> None:
    assert "\x1b[31;1m" in render(report(finding("/w/AGENT.md", 2, 1)), colour=True, strict=False)
    assert "\x1b" not in render(report(finding("/w/AGENT.md", 2, 1)), colour=False, strict=False)


def test_a_very_long_line_is_cut_around_the_place() -> None:
    long = CheckReport(files=1, texts={"/w/a": "x" * 5000 + "Y" + "z" * 5000})
    lines = block(finding("/w/a", 1, 5001), long, Painter(False)).split("\n")
    assert len(lines[1]) < 130
    assert lines[1][lines[2].index("^")] == "Y"


def test_a_finding_without_place_or_text_is_one_line() -> None:
    one = Diagnostic(code="unreadable", severity=Severity.ERROR, path="/w/x", message="could not read")
    assert block(one, report(), Painter(False)) == "/w/x: error: could not read [unreadable]\n"


@pytest.mark.parametrize(
    ("found", "strict", "expected"),
    [
        ((), False, "checked 1 file: no problems"),
        ((Severity.ERROR, Severity.WARNING), False, "checked 1 file: 1 error, 1 warning"),
        (
            (Severity.WARNING, Severity.INFO),
            True,
            "checked 1 file: 0 errors, 1 warning, 1 note (warnings fail because of --strict)",
        ),
    ],
)  # fmt: skip
def test_the_summary_counts(found: tuple[Severity, ...], strict: bool, expected: str) -> None:
    made = report(*(finding("/w/AGENT.md", 1, 1, severity=one) for one in found))
    assert summary_line(made, Painter(False), strict=strict) == expected


def test_a_workflow_command_cannot_be_broken_out_of() -> None:
    nasty = finding("/w/a,b:c\n.md", 2, 3, 4, message="50% ::error::\n::set-env name=X::y", code="x")
    (line,) = render_github(report(nasty)).splitlines()
    assert line.startswith("::error file=/w/a%2Cb%3Ac%0A.md,line=2,col=3,endColumn=7,title=x::50%25 ::error::%0A")


LEVEL = {"enum": ["none", "note", "warning", "error"]}
# The parts of SARIF 2.1.0 that readers insist on.
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "$schema": {"type": "string", "format": "uri"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "items": {
                                            "required": ["id", "shortDescription"],
                                            "properties": {
                                                "shortDescription": {"required": ["text"]},
                                                "defaultConfiguration": {"properties": {"level": LEVEL}},
                                            },
                                        }
                                    }
                                },
                            }
                        },
                    },
                    "results": {
                        "items": {
                            "type": "object",
                            "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
                            "properties": {
                                "level": LEVEL,
                                "message": {"required": ["text"]},
                                "locations": {
                                    "items": {
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "physicalLocation": {
                                                "required": ["artifactLocation"],
                                                "properties": {
                                                    "artifactLocation": {"required": ["uri"]},
                                                    "region": {
                                                        "properties": {
                                                            "startLine": {"type": "integer", "minimum": 1},
                                                            "startColumn": {"type": "integer", "minimum": 1},
                                                            "endColumn": {"type": "integer", "minimum": 1},
                                                        },
                                                        "additionalProperties": False,
                                                    },
                                                },
                                            }
                                        },
                                    }
                                },
                                "fixes": {
                                    "items": {
                                        "required": ["artifactChanges"],
                                        "properties": {
                                            "description": {"required": ["text"]},
                                            "artifactChanges": {
                                                "minItems": 1,
                                                "items": {
                                                    "required": ["artifactLocation", "replacements"],
                                                    "properties": {
                                                        "replacements": {
                                                            "minItems": 1,
                                                            "items": {"required": ["deletedRegion"]},
                                                        }
                                                    },
                                                },
                                            },
                                        },
                                    }
                                },
                            },
                        }
                    },
                },
            },
        },
    },
}  # fmt: skip


def test_sarif_has_the_shape_readers_insist_on_and_its_fixes_say_what_repairs_do() -> None:
    repair = Repair(title="rename it", edits=(TextEdit(start=4, end=8, replacement="nome"),))
    made = document(
        report(
            finding("/w/AGENT.md", 2, 1, 4, repair=repair, doc="docs/formats.md#x"),
            finding("/w/a b.md", 3, 1, 0, severity=Severity.WARNING, code="other"),
            Diagnostic(code="unreadable", severity=Severity.INFO, path="/w/x", message="could not read"),
        )
    )
    jsonschema.Draft202012Validator(SARIF).validate(json.loads(json.dumps(made)))
    (run,) = made["runs"]  # type: ignore[misc]
    first, second, third = run["results"]
    assert [first["level"], second["level"], third["level"]] == ["error", "warning", "note"]
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "/w/a%20b.md"
    assert [run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] for one in run["results"]] == [
        one["ruleId"] for one in run["results"]
    ]
    (change,) = first["fixes"][0]["artifactChanges"][0]["replacements"]
    region = change["deletedRegion"]
    text = TEXT[: region["charOffset"]] + change["insertedContent"]["text"]
    text += TEXT[region["charOffset"] + region["charLength"] :]
    assert text == TEXT.replace("name", "nome", 1)


def test_no_output_repeats_a_secret_of_the_file() -> None:
    text = "---\nname: a\nmcp_servers:\n- name: b\n   env: {API_TOKEN: tok_7f3a9}\n---\nHi\n"
    found = text_check(Path("/w/AGENT.md"))(text)
    made = CheckReport(files=1, diagnostics=found, texts={"/w/AGENT.md": text})
    assert found
    facts = [{key: value for key, value in as_json(one).items() if key != "repair"} for one in found]
    shown = [render(made, colour=False, strict=False), render_github(made), json.dumps(facts)]
    assert not any("tok_7f3a9" in one for one in shown)


def test_json_has_every_fact_once_and_no_empty_ones() -> None:
    repair = Repair(title="rename it", edits=(TextEdit(start=4, end=8, replacement="nome"),))
    assert as_json(finding("/w/AGENT.md", 2, 1, 4, repair=repair, cause="why", kind="frontmatter.invalid")) == {
        "code": "unknown-field",
        "severity": "error",
        "path": "/w/AGENT.md",
        "message": "a message",
        "line": 2,
        "column": 1,
        "length": 4,
        "cause": "why",
        "kind": "frontmatter.invalid",
        "repair": {"title": "rename it", "edits": [{"start": 4, "end": 8, "replacement": "nome"}]},
    }


def test_a_patch_is_relative_to_the_current_folder_and_marks_a_missing_final_newline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    change = RepairedFile(str(tmp_path / "d/AGENT.md"), "a\r\nb\u2028c\nd", "a\r\nB\u2028c\nd", ("x",))
    assert unified(change) == (
        "--- a/d/AGENT.md\n+++ b/d/AGENT.md\n@@ -1,3 +1,3 @@\n a\r\n-b\u2028c\n+B\u2028c\n d\n"
        "\\ No newline at end of file\n"
    )
