#!/usr/bin/env bash
# The main job, end to end, on a copy of examples/webshop: `make demo`. Needs no account, no network and no Node.
# Everything it makes lies in .demo/ (or $COMPOZY_DEMO_DIR); running it again starts afresh. Your own home is not touched.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
demo=${COMPOZY_DEMO_DIR:-$root/.demo}
compozy=${COMPOZY_DEMO_PROGRAM:-$root/.venv/bin/compozy}

for name in ${!COMPOZY_@}; do unset "$name"; done
export COMPOZY_HOME=$demo/home
workspace=$demo/webshop

say() { printf '\n==> %s\n' "$*"; }
show() {
    printf '    $ compozy'
    for word in "$@"; do case $word in *[!A-Za-z0-9_./=-]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
    printf '\n\n'
    "$compozy" "$@"
    printf '\n'
}
stop_daemon() { [ ! -d "$COMPOZY_HOME" ] || "$compozy" daemon stop >/dev/null 2>&1 || true; }

trap stop_daemon EXIT
stop_daemon
rm -rf "$demo/home" "$workspace"
mkdir -p "$demo"
mkdir -m 700 "$COMPOZY_HOME"
cp -R "$root/examples/webshop" "$workspace"
# The socket is enough here, and an open port could meet another daemon's.
printf '[http]\nenabled = false\n\n[defaults]\nprovider = "offline"\n' >"$COMPOZY_HOME/config.toml"

say "A workspace: a copy of examples/webshop, which brings three agents."
"$compozy" daemon start >/dev/null
show workspace add "$workspace" --name webshop
show agent list --workspace webshop

say "A task. The agent is chosen by what the agents say they can do; it reads on its own and asks before it writes."
task="Find where a failed card payment is retried and how a customer could be charged twice. Write the findings to FINDINGS.md"
show run "$task" --workspace webshop --on-ask allow --timeout 2m --name "double charge"

say "What it wrote, in $workspace/FINDINGS.md:"
sed -n '1,12p' "$workspace/FINDINGS.md"

say "Another task fits another agent (the first lines of its answer):"
show run "Which log lines show a payment timeout?" --workspace webshop --on-ask deny --timeout 2m 2>&1 | sed -n '1,32p'

say "Everything was stored before it was shown. The sessions, and what happened in the first one:"
show session list --all --workspace webshop
first=$("$compozy" session list --all --workspace webshop -q "double charge" -o json |
    sed -n 's/.*"id": *"\(sess-[0-9a-f]*\)".*/\1/p' | head -n 1)
[ -n "$first" ] || { echo "the first session is not in the list" >&2; exit 1; }
show session events "$first" --last 12

say "Stopping the daemon."
show daemon stop
trap - EXIT
cat <<END

That was all of it, without a language model: provider "offline" only finds and ranks words. For real work give an
agent another provider (claude, codex, gemini, opencode, a local model), see README.md. To look around in this demo:
    export COMPOZY_HOME=$COMPOZY_HOME
    $compozy daemon start
    $compozy session list --all --workspace webshop
END
