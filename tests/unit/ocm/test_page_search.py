"""The script of the published page, run by Node over the rows of a real page (issue 8 item 5)."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from compozy.ocm.index import build_index
from compozy.ocm.page import render_page

_BROWSER = """
const rows = ROWS.map(([terms, kind]) => ({dataset: {terms, kind}, hidden: false}));
const handlers = {};
const make = (id) => ({value: "", textContent: "", addEventListener: (name, run) => { handlers[id + name] = run; }});
const parts = {q: make("q"), kind: make("kind"), told: make("told"), search: make("search")};
globalThis.document = {getElementById: (id) => parts[id], querySelectorAll: () => rows};
{ SCRIPT }
const seen = [];
for (const [words, kind] of SEARCHES) {
  parts.q.value = words; parts.kind.value = kind; handlers.qinput();
  seen.push([rows.map((row) => !row.hidden), parts.told.textContent]);
}
console.log(JSON.stringify(seen));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on this machine")
def test_the_search_of_the_page_shows_what_has_every_word_and_the_kind() -> None:
    documents = [
        {"ocm": "1", "id": "acme/pay", "kind": "tool", "description": "Pays <back> broken orders"},
        {"ocm": "1", "id": "acme/map", "kind": "agent", "description": "Draws maps", "examples": ["way to the SEA"]},
    ]
    page = render_page(build_index(documents))
    rows = [
        (unescape(terms), kind) for kind, terms in re.findall(r'<li data-kind="(\w+)" data-terms="([^"]*)"', page)
    ]
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    searches = [["", ""], ["acme sea", ""], ["ORDERS <back>", ""], ["", "tool"], ["sea", "tool"]]
    source = _BROWSER.replace("ROWS", json.dumps(rows)).replace("SEARCHES", json.dumps(searches))
    done = subprocess.run(
        ["node", "-e", source.replace("SCRIPT", script)], capture_output=True, text=True, timeout=60, check=True
    )
    # Rows are sorted by id: the map comes first.
    assert json.loads(done.stdout) == [
        [[True, True], "2 capabilities"],
        [[True, False], "1 capability"],
        [[False, True], "1 capability"],
        [[False, True], "1 capability"],
        [[False, False], "0 capabilities"],
    ]
