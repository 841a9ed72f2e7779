"""docs/api.md lists the routes the daemon has, and every route says what it is."""

import importlib.util
from pathlib import Path

from compozy.daemon.route_table import RouteTable
from compozy.daemon.routes import ALL_ROUTES

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_what_the_daemon_serves() -> None:
    path = ROOT / "scripts" / "generate_api.py"
    spec = importlib.util.spec_from_file_location("generate_api", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert text == module.render(), f"run {path.relative_to(ROOT)}"


def test_every_route_can_be_found_and_has_a_name_and_a_summary_of_its_own() -> None:
    table = RouteTable(ALL_ROUTES)
    for route in ALL_ROUTES:
        assert table.find(route.path.replace("{", "").replace("}", "").encode())[route.method] is route
        assert route.summary
    names = [route.name for route in ALL_ROUTES]
    assert sorted(names) == sorted(set(names))


def test_a_route_that_changes_something_is_never_a_read() -> None:
    # Reads skip the strict query rules and the drain: a search by POST is the only thing that may.
    for route in ALL_ROUTES:
        if route.kind == "read":
            assert route.method == "GET" or route.name.startswith("select"), route.path
