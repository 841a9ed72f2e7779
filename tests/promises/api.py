"""Promises about the API's own description and the typed client (issue 4, item 9)."""

from tests.promises import Promise

_BOTH = "tests/contract/api/test_both_listeners.py"
_OPENAPI = "tests/schema/test_openapi.py"
_WIRE = "tests/interaction/cli/test_json_is_the_answer.py"

PROMISES: tuple[Promise, ...] = (
    Promise(
        id="api-openapi-served",
        source="issue 4 §9; design §2",
        text="/api/openapi.json is a valid OpenAPI 3.1 document of every route served",
        test=f"{_OPENAPI}::test_the_document_is_served_and_every_schema_in_it_is_one",
    ),
    Promise(
        id="api-openapi-complete",
        source="issue 4 §9",
        text="every route names the record it takes and the record it answers",
        test=f"{_OPENAPI}::test_every_route_says_what_it_takes_and_what_it_answers",
    ),
    Promise(
        id="api-openapi-members",
        source="issue 4 §9",
        text="no answer is described as just an object",
        test=f"{_OPENAPI}::test_every_answer_is_described_down_to_its_members",
    ),
    Promise(
        id="api-openapi-true",
        source="issue 4 §9; contract §1.3",
        text="real answers fit their schema, the same over TCP and the socket",
        test=f"{_OPENAPI}::test_a_real_answer_fits_its_schema_and_both_listeners_give_the_same",
    ),
    Promise(
        id="api-both-listeners",
        source="issue 4 tests; contract §1.3",
        text="every operation succeeds with the same status, headers and body over TCP and over the socket",
        test=f"{_BOTH}::test_an_operation_succeeds_alike_over_both_listeners",
    ),
    Promise(
        id="api-both-listeners-refusals",
        source="issue 4 tests; contract §1.3",
        text="wrong requests to every route are refused alike over both listeners",
        test=f"{_BOTH}::test_a_wrong_request_is_refused_alike_over_both_listeners",
    ),
    Promise(
        id="api-records-lossless",
        source="issue 4 §9",
        text="every answer survives being read as the record its route names",
        test=f"{_BOTH}::test_an_answer_survives_being_read_as_its_record",
    ),
    Promise(
        id="api-typed-client",
        source="issue 4 §9",
        text="compozy.Client runs a task from choice to transcript in records",
        test="tests/interaction/client/test_typed_client.py::test_a_task_runs_from_choice_to_transcript_in_records",
    ),
    Promise(
        id="api-client-complete",
        source="issue 4 §9",
        text="each operation of the OpenAPI document has a method of compozy.Client, or a named reason to have none",
        test="tests/schema/test_client_methods.py::test_each_operation_has_a_method_or_a_reason_to_have_none",
    ),
    Promise(
        id="api-client-is-the-cli",
        source="issue 4 §9",
        text="commands are written on compozy.Client; -o json prints what the daemon sent, nothing lost",
        test=f"{_WIRE}::test_a_reading_command_prints_the_daemons_answer",
    ),
    Promise(
        id="api-client-is-the-cli-writes",
        source="issue 4 §9",
        text="changing commands print the daemon's answer",
        test=f"{_WIRE}::test_a_changing_command_prints_the_daemons_answer",
    ),
    Promise(
        id="api-client-documented",
        source="issue 4 §9",
        text="the examples of the page about the Python client run",
        test="tests/golden/test_docs_client.py::test_the_examples_of_the_page_run",
    ),
    Promise(
        id="api-generated-requests",
        source="issue 4 tests",
        text="requests generated from the document are answered as documented, never with a fault",
        test="tests/schema/test_generated_requests.py::test_a_generated_request_is_answered_as_documented",
    ),
)
