"""Requests made up from the OpenAPI document by schemathesis, against a real daemon: no answer is a fault of ours.

Every answer is in the document, and a refusal carries the envelope. Draining and settings are left alone, because
they would change what the other requests meet; endless streams are read by tests of their own. Places that a request
names are moved into the test's folder: a workspace at `/` would be made there, and a backup anywhere.
"""

import json
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from compozy.daemon.openapi import openapi_document
from compozy.daemon.routes import ALL_ROUTES
from tests.kit.daemons import Daemon

_LEFT_ALONE = ("/api/drain", "/api/undrain")
ROUTES = tuple(
    route
    for route in ALL_ROUTES
    if route.path not in _LEFT_ALONE and not route.path.startswith("/api/settings") and not route.streams
)
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(openapi_document(ROUTES))))


_PLACES = ("add_dirs", "additional_dirs", "path", "paths", "root_dir", "workspace_path", "workspace_paths")


def moved(value: object, folder: Path, *, is_place: bool = False) -> object:
    """Return a body whose absolute places lie below a folder."""
    if isinstance(value, dict):
        return {key: moved(item, folder, is_place=key in _PLACES) for key, item in value.items()}
    if isinstance(value, list):
        return [moved(item, folder, is_place=is_place) for item in value]
    if is_place and isinstance(value, str) and value.lstrip().startswith(("/", "~")):
        return f"{folder}/{value.replace('..', '').lstrip().lstrip('/~')}"
    return value


@SCHEMA.parametrize()
@settings(
    max_examples=15,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_a_generated_request_is_answered_as_documented(case: schemathesis.Case, shared_daemon: Daemon) -> None:
    record = shared_daemon.record
    assert record is not None
    case.body = moved(case.body, shared_daemon.home.root.parent)
    response = case.call(base_url=f"http://localhost:{record.port}", timeout=30)
    # 503 is an answer: something outside of the daemon is out of reach.
    assert response.status_code not in (500, 502), response.text
    case.validate_response(response, checks=[status_code_conformance, response_schema_conformance])
    is_page = response.headers.get("content-type", [""])[0].startswith("text/html")
    if response.status_code >= 400 and not is_page:
        assert response.json()["error"]
