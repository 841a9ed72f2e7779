"""The page of a published catalogue: plain HTML with a search, no build step and nothing from elsewhere (item 5).

Everything is listed without a script too; the script only hides what a search does not mean. Text of manifests is
escaped, and a policy in the page keeps anything else from running.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}"
    "header,footer{padding:.5rem 0}input,select{font:inherit;padding:.4rem;min-width:10rem;max-width:100%}"
    "label{display:inline-block;margin:0 1rem .5rem 0}ul{list-style:none;padding:0}"
    "li{border-top:1px solid #8888;padding:.75rem 0;overflow-wrap:anywhere}h3{margin:0}code{font-size:.9em}"
    ".skip{position:absolute;left:-99rem}.skip:focus{position:static}"
)
_SCRIPT = """\
const box = document.getElementById("q"), kind = document.getElementById("kind");
const told = document.getElementById("told");
const rows = [...document.querySelectorAll("li[data-terms]")];
function show() {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const text = row.dataset.terms;
    const fits = (!kind.value || row.dataset.kind === kind.value) && words.every((word) => text.includes(word));
    row.hidden = !fits;
    count += fits;
  }
  told.textContent = count === 1 ? "1 capability" : count + " capabilities";
}
box.addEventListener("input", show);
kind.addEventListener("change", show);
document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
show();
"""


def render_page(index: Mapping[str, object], *, title: str = "Capabilities") -> str:
    """Return the page of an index."""
    found = index["capabilities"]
    rows: Sequence[Mapping[str, object]] = found if isinstance(found, list) else []
    kinds = sorted({str(row["kind"]) for row in rows})
    options = "".join(f'<option value="{escape(kind)}">{escape(kind)}</option>' for kind in kinds)
    policy = (
        f"default-src 'none'; script-src '{_hash(_SCRIPT)}'; style-src '{_hash(_STYLE)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    name = escape(title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>{_STYLE}</style>
</head>
<body>
<a class="skip" href="#list">Skip to the list</a>
<header><h1>{name}</h1>
<p>Open Capability Manifests. For programs: <a href="index.json">index.json</a>,
<a href="ocm.schema.json">schema</a>.</p></header>
<form id="search" role="search" aria-label="Capabilities">
<label for="q">Search</label> <input id="q" type="search" autocomplete="off">
<label for="kind">Kind</label> <select id="kind"><option value="">every kind</option>{options}</select>
</form>
<main id="list" aria-label="Capabilities">
<h2>Capabilities</h2>
<p id="told" role="status" aria-live="polite">{len(rows)} capabilities</p>
<ul>
{"".join(_row(row) for row in rows)}</ul>
</main>
<footer><p>Made by {escape(str(index["generator"]))}.</p></footer>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def _row(row: Mapping[str, object]) -> str:
    terms = row["terms"]
    words = " ".join(map(str, terms)) if isinstance(terms, list) else ""
    text = escape(f"{row['id']} {row['name']} {row['summary']} {words}".lower())
    facts = [str(row[field]) for field in ("kind", "publisher", "version") if row.get(field)]
    return (
        f'<li data-kind="{escape(str(row["kind"]))}" data-terms="{text}">'
        f'<h3><a href="{escape(str(row["path"]))}">{_apart(row["name"])}</a></h3>'
        f"<p>{_apart(row['summary'])}</p>"
        f"<p><code>{escape(str(row['id']))}</code> · {' · '.join(map(_apart, facts))}</p></li>\n"
    )


def _apart(text: object) -> str:
    """Escape a text and keep signs in it that turn the direction of writing from what follows."""
    return f"<bdi>{escape(str(text))}</bdi>"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
