"""What authors are told about AGENT.md: every problem with its place, cause and repair (reports P01-P20)."""

from compozy.model.diagnostic import Severity
from tests.kit.agent_files import BODY, header, only, read, repaired


def place(text: str) -> tuple[int, int]:
    position = only(text).position
    assert position is not None
    return position.line, position.column


def test_a_colon_inside_a_plain_value_is_named_and_quoted() -> None:
    value = 'Checks postings. Use when: totals drift, or the user says "reconcile".'
    text = header(f"name: ledger-auditor\nmodel: {value}")
    found = only(text)
    assert place(text) == (3, len("model: Checks postings. Use when") + 1)
    assert '"model"' in found.cause and "a value containing `: ` must be quoted" in found.cause
    assert found.suggestion == f"model: '{value}'"
    mended = read(repaired(text, (found,))).definition
    assert mended is not None and mended.model == value
    assert repaired(text, (found,)).count("\n") == text.count("\n")


def test_a_line_that_goes_on_without_indentation_is_named() -> None:
    text = header("name: fare-clerk\nmodel: Answers fare questions and\nexplains zones.")
    found = only(text)
    assert place(text) == (4, 1)
    assert "this line is not indented; indent it or use `>-`" in found.cause
    assert read(text).definition is None
    mended = read(repaired(text, (found,))).definition
    assert mended is not None and mended.model == "Answers fare questions and explains zones."


def test_a_key_written_twice_is_an_error_that_names_both_lines() -> None:
    text = header("name: quay-helper\npermissions: deny-all\nprovider: claude\npermissions: approve-all")
    found = only(text)
    assert found.code == "duplicate-key" and "(lines 3 and 5)" in found.message
    assert place(text) == (5, 1)
    toml = header('name = "quay-helper"\npermissions = "deny-all"\nprovider = "x"\npermissions = "approve-all"')
    assert only(toml).code == "duplicate-key" and "lines 3 and 5" in only(toml).cause
    assert place(toml) == (5, 1)


def test_a_repetition_that_says_the_same_is_removed() -> None:
    text = header("name: quay-helper\ntools:\n  - a__b\nprovider: claude # here\ntools: [a__b] # again\nmodel: x")
    found = only(text)
    mended = repaired(text, (found,))
    assert mended == text.replace("tools: [a__b] # again\n", "")
    assert read(mended).diagnostics == ()


def test_an_indentation_slip_is_named_and_aligned() -> None:
    text = header("name: kiln-watch\n provider: claude")
    found = only(text)
    assert place(text)[0] == 3
    mended = read(repaired(text, (found,))).definition
    assert mended is not None and mended.provider == "claude"


def test_text_after_brackets_is_quoted() -> None:
    text = header("name: rope-splicer\nmodel: [fast] [safe] splicing")
    found = only(text)
    assert "text after a flow list; quote the value" in found.cause
    mended = read(repaired(text, (found,))).definition
    assert mended is not None and mended.model == "[fast] [safe] splicing"


def test_a_byte_order_mark_is_an_error_with_a_repair_and_hides_nothing() -> None:
    text = "\ufeff" + header("name: tide-clerk\nmodle: x")
    found = read(text).diagnostics
    assert [d.code for d in found] == ["frontmatter-bom", "unknown-field"]
    assert found[0].kind == "frontmatter.bom"
    mended = read(repaired(text, found)).definition
    assert mended is not None and mended.model == "x"


def test_crlf_and_mixed_line_ends_parse_and_keep_places() -> None:
    text = header("name: tide-clerk\nmodle: x").replace("\n", "\r\n")
    assert place(text) == (3, 1)
    mixed = "---\r\nname: tide-clerk\nprovider: claude\r\n---\r\nFirst line.\r\n"
    definition = read(mixed).definition
    assert definition is not None and definition.prompt == "First line."
    fixed = repaired(text, read(text).diagnostics)
    assert fixed.count("\r\n") == text.count("\r\n") and read(fixed).definition is not None


def test_the_header_ends_at_the_second_fence_and_later_rules_are_body() -> None:
    definition = read("---\nname: tide-scribe\n---\nIntro\n---\nSecond section\n").definition
    assert definition is not None and definition.prompt == "Intro\n---\nSecond section"
    late = only("# Notes\n\n---\nname: x\n---\nBody\n")
    assert late.code == "frontmatter-missing" and "found a fence on line 3" in late.message


def test_a_name_without_latin_letters_is_explained() -> None:
    found = only(header("name: 校对"))
    assert found.code == "name-invalid" and "校对" in found.cause and "prompt" in found.cause
    assert found.suggestion == "agent-6821-5bf9"
    accented = only(header("name: Café Helper"))
    assert accented.suggestion == "cafe-helper" and accented.repair is not None


def test_a_string_where_a_list_belongs_shows_the_list() -> None:
    for written in ('"compozy__list, compozy__read"', "compozy__list compozy__read"):
        text = header(f"name: seal-keeper\ntools: {written}")
        found = only(text)
        assert found.code == "type-mismatch"
        assert "a list of strings" in found.message and "string" in found.message
        assert found.suggestion == "[compozy__list, compozy__read]"
        mended = read(repaired(text, (found,))).definition
        assert mended is not None and mended.tools == ("compozy__list", "compozy__read")


def test_a_deep_place_is_that_of_the_file() -> None:
    filler = "".join(f"# line {i}\n" for i in range(18))
    text = header(f"name: tide-clerk\n{filler}hooks:\n- name: a\n  event: turn.start\n  command: c\n  priority: high")
    found = only(text)
    lines = text.split("\n")
    assert place(text) == (lines.index("  priority: high") + 1, len("  priority: ") + 1)
    assert found.position is not None and found.position.length == len("high")


def test_a_misspelt_key_is_an_error_with_the_nearest_one_at_every_depth() -> None:
    text = header(
        "name: tide-clerk\nreasoning_efort: high\nmcp_servers:\n- {name: a, comand: c}\nhooks:\n"
        "- name: b\n  event: turn.start\n  command: c\n  matcher: {imput_class: user}"
    )
    found = read(text).diagnostics
    assert [(d.code, d.suggestion) for d in found] == [
        ("unknown-field", "reasoning_effort"),
        ("unknown-field", "command"),
        ("unknown-field", "input_class"),
    ]
    assert read(repaired(text, found)).definition is not None


def test_text_cut_by_a_comment_sign_is_a_warning_and_a_remark_is_not() -> None:
    found = only(header("name: tag-sorter\nmodel: sorts items by # of votes and colour"))
    assert found.severity is Severity.WARNING and found.code == "yaml-comment-in-value"
    assert "quote it if meant" in found.message and found.repair is None
    assert read(header("name: tag-sorter # the sorter\nmodel: gauge-1  # pinned, see above")).diagnostics == ()


def test_one_run_reports_every_problem_in_check_order() -> None:
    hook = "- {name: x, event: nope, command: c, matcher: {agent_name: y}}"
    text = header(
        "name: Bad Name\nmodle: x\npermissions: plan\nreasoning_effort: hgh\ntools: [rm]\ncategory_path: ['..']\n"
        f"mcp_servers:\n- {{name: a/b, command: c}}\nhooks:\n{hook}",
        body="",
    )
    assert [d.code for d in read(text).diagnostics] == [
        "unknown-field",
        "hook-matcher-agent",
        "prompt-required",
        "name-invalid",
        "reasoning-effort-invalid",
        "permissions-invalid",
        "tool-id-separator",
        "category-path-invalid",
        "mcp-name-invalid",
        "hook-event-invalid",
    ]


def test_several_faults_of_syntax_are_found_in_one_run_and_all_mended() -> None:
    text = header("name: tide-clerk\nmodel: a: b\nprovider: c: d\ncommand: [x] y\npermisions: deny-all")
    found = read(text).diagnostics
    assert [d.code for d in found] == ["frontmatter-decode"] * 3 + ["unknown-field"]
    assert [d.position.line for d in found if d.position] == [3, 4, 5, 6]
    mended = read(repaired(text, found)).definition
    assert mended is not None and mended.permissions == "deny-all" and mended.command == "[x] y"


def test_a_secret_looking_environment_name_is_only_a_warning() -> None:
    outcome = read(
        header("name: tide-clerk\nmcp_servers:\n- {name: a, command: c, env: {API_TOKEN: x, TOKEN_URL: y}}")
    )
    assert outcome.definition is not None
    assert [(d.code, d.severity) for d in outcome.diagnostics] == [("env-secret-like", Severity.WARNING)]
    assert "secret_env" in outcome.diagnostics[0].message


def test_a_secret_in_the_wrong_place_is_never_repeated_in_a_message() -> None:
    outcome = read(header("name: tide-clerk\nmcp_servers:\n- {name: a, command: c, secret_env: {PIN: tok_7f3a9}}"))
    assert [d.code for d in outcome.diagnostics] == ["secret-ref-invalid"]
    assert "tok_7f3a9" not in outcome.diagnostics[0].message


def test_toml_headers_have_places_and_repairs_too() -> None:
    text = header(
        'name = "tide-clerk"\nprovider = 7\n[skills]\ninherit = true\n[[hooks]]\nname = "a"\nevnt = "turn.start"'
    )
    found = read(text).diagnostics
    places = [(d.code, d.position.line, d.position.column) for d in found if d.position]
    assert places[:3] == [("type-mismatch", 3, 12), ("unknown-field", 5, 1), ("unknown-field", 8, 1)]
    assert 'unknown field "skills.inherit"' in found[1].message
    assert repaired(text, found[:1]).split("\n")[2] == 'provider = "7"'


def test_every_diagnostic_says_where_it_is_explained() -> None:
    for found in read(header("name: X\nfoo: 1\ntools: [a]", body=BODY)).diagnostics:
        assert found.doc == f"docs/formats.md#code-{found.code}" and found.cause


def test_a_secret_in_the_command_is_a_warning_at_its_line_that_does_not_repeat_it() -> None:
    outcome = read(header("name: tide-clerk\ncommand: agent --api-key tok_7f3a9-x"))
    assert outcome.definition is not None and outcome.definition.command.endswith("tok_7f3a9-x")
    (found,) = outcome.diagnostics
    assert (found.code, found.severity) == ("command-secret-like", Severity.WARNING)
    assert found.position is not None and found.position.line == 3
    assert "tok_7f3a9" not in found.message and "credential slot" in found.message
    assert read(header("name: tide-clerk\ncommand: agent --token-file /run/key")).diagnostics == ()
