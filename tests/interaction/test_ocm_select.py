"""`compozy ocm select`, `eval`, `train` and `learn` as people call them: no daemon, files on disk."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from compozy.cli.app import root_command
from compozy.cli.commands import ocm_learning
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.requests import read_targets
from compozy.ocm.selection import evaluation
from compozy.ocm.selection.evaluation import estimate

CATALOGUE = """
- ocm: "1"
  id: acme/translator
  kind: agent
  name: translator
  description: Translates letters and contracts.
  capabilities: {languages: [en, fr]}
  examples: [translate this letter, put the contract into French]
- ocm: "1"
  id: acme/watch
  kind: agent
  name: nightWatch
  description: Watches servers at night.
  constraints: {regions: [eu], tenants: [acme]}
  examples: [watch the servers tonight, are the servers up at night]
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "targets.yaml"
    path.write_text(CATALOGUE)
    return path


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(root_command(), list(map(str, words)), obj=Invocation(), standalone_mode=False)


def test_a_capability_is_chosen_by_words_and_constraints(catalogue: Path) -> None:
    found = call("ocm", "select", "translate a letter", catalogue)
    assert found.return_value == 0 and found.output.startswith("acme/translator  ")
    refused = call("ocm", "select", "watch the servers", catalogue, "--explain")
    assert refused.return_value == 1 and "acme/watch  tenant: " in refused.output
    assert call("ocm", "select", "watch the servers", catalogue, "--tenant", "acme").return_value == 0
    planned = call("ocm", "select", "translate a letter", catalogue, "--plan", "-o", "json")
    assert set(json.loads(planned.output)["empty"]) == {"persona", "skill", "tool"}


def test_none_fits_is_said_once_and_a_task_behind_its_manifests_is_told_where_it_belongs(catalogue: Path) -> None:
    nothing = call("ocm", "select", "sail to Malta", catalogue)
    assert nothing.return_value == 1 and nothing.output.count("none fits") == 1
    swapped = call("ocm", "select", catalogue, "translate a letter")
    assert isinstance(swapped.exception, click.UsageError)
    assert "the task comes first" in swapped.exception.format_message()
    missing = call("ocm", "select", "translate a letter", "missing.yaml")
    assert str(missing.exception).startswith("missing.yaml: no such file or directory; check the path;")
    assert call("ocm", "select", "translate " * 200, catalogue).return_value == 0, "longer than a name may be"


def test_eval_shows_accuracy_and_can_fail_below_a_mark(catalogue: Path) -> None:
    found = json.loads(call("ocm", "eval", catalogue, "-o", "json").output)
    assert found["examples"] == 4 and 0 <= found["accuracy"] <= 1
    assert call("ocm", "eval", catalogue).output.startswith("4 examples of 2 capabilities: ")
    assert call("ocm", "eval", catalogue, "--at-least", "1").return_value in (0, 1)


def test_eval_says_what_would_take_too_long_and_judges_some_of_it(
    catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = estimate(read_targets((str(catalogue),))).each
    monkeypatch.setattr(evaluation, "PATIENCE", 2.5 * each)
    monkeypatch.setattr(ocm_learning, "_LONG", 0.0)
    some = call("ocm", "eval", catalogue)
    assert "4 examples take an index each" in some.stderr
    assert ": 2 of them, evenly chosen, are judged; --by-round is faster" in some.stderr
    assert some.stderr.endswith("--all judges every one\n")
    assert some.stdout.startswith("2 examples (2 left out) of 2 capabilities: ")
    told = json.loads(call("ocm", "eval", catalogue, "-o", "json").stdout)
    assert (told["examples"], told["left_out"]) == (2, 2)
    whole = call("ocm", "eval", catalogue, "--all")
    assert "judged" not in whole.stderr and whole.stdout.startswith("4 examples of 2 capabilities: ")


def test_a_model_is_trained_and_used(catalogue: Path, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    rows = [{"task": f"hoist flag {n}", "id": "acme/translator"} for n in range(4)]
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = tmp_path / "targets.model"
    assert call("ocm", "train", tasks, catalogue, "--to", model).return_value == 0
    assert call("ocm", "select", "hoist the flag", catalogue, "--model", model).output.startswith("acme/translator")


def test_a_model_trained_on_meaning_knows_words_that_no_task_had(catalogue: Path, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    known = {
        "acme/translator": ("raise the banner", "put up the pennant", "show our colours on the mast"),
        "acme/watch": ("cook the dinner", "make a meal", "bake bread for supper"),
    }
    rows = [{"task": task, "id": one} for one, told in known.items() for task in told]
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = tmp_path / "targets.model"
    assert call("ocm", "train", tasks, catalogue, "--semantic", "--to", model).return_value == 0
    for task, one in (("hoist a flag", "acme/translator"), ("prepare lunch", "acme/watch")):
        found = call("ocm", "select", task, catalogue, "--model", model, "--tenant", "acme")
        assert found.output.startswith(one)


def test_outcomes_are_recorded_and_become_priors(catalogue: Path, tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    call("ocm", "learn", file, "--good", "acme/watch", "--catalog", catalogue)
    call("ocm", "learn", file, "--bad", "acme/translator")
    rows = {row["id"]: row for row in json.loads(call("ocm", "learn", file, "-o", "json").output)}
    assert rows["acme/watch"]["prior"] > 0.5 > rows["acme/translator"]["prior"]
    assert rows["acme/watch"]["samples"] == 1
    assert call("ocm", "select", "translate a letter", catalogue, "--outcomes", file).return_value == 0


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("--max-cost-per-1k", "0.01"), "cost"),
        (("--max-cost-usd", "0.5"), "cost"),
        (("--max-latency-ms", "100"), "latency"),
        (("--modality", "text", "--modality", "image"), "modality"),
        (("--complexity", "0.9"), "complexity"),
        (("--boundary", "on_prem"), "data_boundary"),
        (("--pii",), "pii"),
        (("--kind", "tool"), "kind"),
        (("--tokens", "5000"), "max_tokens_in"),
        (("--language", "de"), "language"),
        (("--exclude", "acme/one"), "deny"),
        (("--region", "us"), "region"),
    ],
)
def test_every_demand_is_an_option_and_names_its_rule(tmp_path: Path, words: tuple[str, ...], rule: str) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(
        'ocm: "1"\nid: acme/one\nkind: agent\ndescription: Translates letters\ncapabilities: {max_complexity: 0.5}\n'
        "constraints: {regions: [eu], data_boundary: private, pii_allowed: false, max_tokens_in: 4000}\n"
        "cost: {usd_per_call: 1, usd_per_1k_tokens: 0.02}\n"
    )
    assert call("ocm", "select", "translate letters", path).return_value == 0
    found = call("ocm", "select", "translate letters", path, *words, "-o", "json")
    assert found.return_value == 1
    assert list(json.loads(found.output)["refused_by_rule"]) == [rule]


@pytest.mark.parametrize(
    "words",
    [
        ("select", "translate", "--max-cost-usd"),
        ("select", "translate", "--max-cost-per-1k"),
        ("select", "translate", "--max-latency-ms"),
        ("select", "translate", "--complexity"),
        ("select", "translate", "--minimum"),
        ("call", "translate", "--timeout"),
        ("eval", "--at-least"),
    ],
)
@pytest.mark.parametrize("value", ["nan", "-1"])
def test_a_bound_that_is_no_number_is_refused_and_lifts_nothing(
    catalogue: Path, words: tuple[str, ...], value: str
) -> None:
    found = call("ocm", *words, value, catalogue)
    assert isinstance(found.exception, click.UsageError) and value in found.exception.message
