"""The page of a published catalogue in a real headless Chromium: search, keyboard, landmarks (issue 8 tests).

Skipped by name where there is no Chromium; `.ci/run` installs the Debian package where it can.
"""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from compozy.ocm.publishing import publish
from tests.kit.chromium import Browser, Page, chromium, find_chromium

ATTACK = '<script>document.title = "owned"</script><img src=x onerror="document.title = 1">'
DOCUMENTS: list[dict[str, object]] = [
    {
        "ocm": "1",
        "id": "acme/refund",
        "kind": "agent",
        "name": "Refunds",
        "description": "Pays back orders that arrived broken",
        "examples": ["my cup came in pieces"],
    },
    {"ocm": "1", "id": "acme/translate", "kind": "tool", "name": "Translator", "description": "Translates letters"},
    {"ocm": "1", "id": "acme/attack", "kind": "tool", "name": ATTACK, "description": f"Translates badly {ATTACK}"},
]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("published")
    publish(DOCUMENTS, folder, title="Capabilities of Acme")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join(30)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with chromium(program, Path(tmp_path_factory.mktemp("profile"))) as running:
        yield running


@pytest.fixture
def page(browser: Browser, address: str) -> Page:
    return browser.open(address)


def shown(page: Page) -> list[str]:
    """The capabilities that a screen reader finds."""
    return [name for role, name in page.named("heading") if name not in ("Capabilities", "Capabilities of Acme")]


def told(page: Page) -> object:
    return page.value('document.getElementById("told").textContent')


def focused(page: Page) -> object:
    return page.value("document.activeElement.id || document.activeElement.textContent")


def test_a_screen_reader_finds_one_of_each_landmark_with_its_name(page: Page) -> None:
    roles = ("banner", "search", "main", "contentinfo")
    assert page.named(*roles) == [
        ("banner", ""),
        ("search", "Capabilities"),
        ("main", "Capabilities"),
        ("contentinfo", ""),
    ]
    (root, *_) = page.tree()
    assert (root.role, root.name) == ("RootWebArea", "Capabilities of Acme")
    levels = [node.properties.get("level") for node in page.tree() if node.role == "heading"]
    assert levels == [1, 2, 3, 3, 3]


def test_fields_have_names_and_the_count_is_announced(page: Page) -> None:
    assert page.named("searchbox", "combobox") == [("searchbox", "Search"), ("combobox", "Kind")]
    (status,) = [node for node in page.tree() if node.role == "status"]
    assert status.properties.get("live") == "polite"
    assert told(page) == "3 capabilities"


def test_the_page_is_searched_with_the_keyboard_alone(page: Page) -> None:
    page.press("Tab")
    assert focused(page) == "Skip to the list"
    for _ in range(5):
        if focused(page) == "q":
            break
        page.press("Tab")
    assert focused(page) == "q"
    page.press("BROKEN pieces")
    assert (shown(page), told(page)) == (["Refunds"], "1 capability")
    # Enter sends nothing away.
    page.press("Enter")
    assert (shown(page), focused(page)) == (["Refunds"], "q")
    page.press("Escape")
    assert len(shown(page)) == 3
    page.press("Tab", "ArrowDown")
    assert page.value('document.getElementById("kind").value') == "agent"
    assert shown(page) == ["Refunds"]
    page.press("Tab")
    assert focused(page) == "Refunds"
    page.follow()
    assert str(page.value("location.pathname")).endswith("/manifests/acme/refund/capability.json")


def test_what_a_search_leaves_out_is_gone_for_a_screen_reader_too(page: Page) -> None:
    page.value('document.getElementById("q").focus()')
    page.press("translates let")
    assert page.named("listitem") != [] and len(page.named("listitem")) == 1
    page.press("x y z")
    assert (shown(page), told(page)) == ([], "0 capabilities")


def test_the_skip_link_leads_to_the_list(page: Page) -> None:
    page.press("Tab", "Enter")
    assert page.value("location.hash") == "#list"
    page.press("Tab")
    assert focused(page) in ("Refunds", ATTACK, "Translator")


def test_nothing_of_a_manifest_runs_and_nothing_is_loaded_from_elsewhere(page: Page, address: str) -> None:
    assert page.value("document.title") == "Capabilities of Acme"
    assert page.value("document.images.length") == 0
    assert [url for url in page.requests() if not url.startswith(address)] == []
    assert [one for one in page.complaints() if "favicon" not in str(one)] == []
    assert ("heading", ATTACK) in page.named("heading")


def test_everything_is_listed_without_a_script(browser: Browser, address: str) -> None:
    page = browser.open(address, has_script=False)
    assert len(shown(page)) == 3
    assert told(page) == "3 capabilities"


def test_a_narrow_window_needs_no_sideways_scrolling(browser: Browser, address: str) -> None:
    page = browser.open(address, width=320)
    assert page.value("document.documentElement.scrollWidth <= window.innerWidth") is True


def test_every_capability_links_to_its_manifest(page: Page) -> None:
    script = "[...document.querySelectorAll('h3 a')].map(one => one.getAttribute('href')).join(' ')"
    assert str(page.value(script)).split() == [
        "manifests/acme/attack/capability.json",
        "manifests/acme/refund/capability.json",
        "manifests/acme/translate/capability.json",
    ]


_HOSTILE = (
    "</title></style></script><script>owned = 1</script>",
    '"><img src=x onerror="owned = 1">',
    "' onmouseover='owned = 1' x='",
    "<!--",
    "]]><svg/onload=owned=1>",
    "javascript:owned=1",
    "\u202e dlrow \u2066",
    "\ud800",
    "\0",
    "&lt;script&gt;owned=1&lt;/script&gt;",
    "${owned=1}",
)


def test_no_field_of_a_manifest_runs_leads_away_or_breaks_out_of_its_place(browser: Browser, tmp_path: Path) -> None:
    documents = [
        {
            "ocm": "1",
            "id": f"evil/x{number}",
            "kind": "tool",
            **dict.fromkeys(("name", "description", "publisher", "version"), text),
            "examples": [text],
            "capabilities": {key: [text] for key in ("tags", "domains", "actions")},
        }
        for number, text in enumerate(_HOSTILE)
    ]
    publish(documents, tmp_path, title="".join(_HOSTILE))
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        page = browser.open(f"http://127.0.0.1:{server.server_address[1]}/")
        assert page.value("typeof owned") == "undefined"
        assert page.value('document.querySelectorAll("li").length') == len(_HOSTILE)
        assert page.value('document.querySelectorAll("script").length') == 1
        assert page.value('document.querySelectorAll("img, svg, iframe, object, embed, link, base").length') == 0
        leading = page.value(
            '[...document.querySelectorAll("li a")].map((one) => one.getAttribute("href")).join(" ")'
        )
        wanted = sorted(f"manifests/evil/x{number}/capability.json" for number in range(len(_HOSTILE)))
        assert sorted(str(leading).split()) == wanted
        # Signs that turn the direction of writing end with the text they came in.
        assert page.value(
            '[...document.querySelectorAll("li")].every((one) => one.querySelectorAll("bdi").length >= 4)'
        )
        assert all(address.startswith("http://127.0.0.1:") for address in page.requests())
        assert page.value('document.getElementById("told").textContent') == f"{len(_HOSTILE)} capabilities"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)
