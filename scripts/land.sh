#!/usr/bin/env bash
# Land the current branch on main: rebase, check, fast-forward. For developers who work in several worktrees.
# Usage: scripts/land.sh [pytest arguments for the quick check]
set -euo pipefail
branch=$(git rev-parse --abbrev-ref HEAD)
main=$(git worktree list --porcelain | awk '/^worktree /{w=$2} /^branch refs\/heads\/main$/{print w}')
[ -z "$(git status --porcelain)" ] || { echo "commit first: the tree is not clean" >&2; exit 1; }
exec 9>"$(git rev-parse --git-common-dir)/land.lock"
flock -w 900 9
git rebase -q main
make lint
[ $# -eq 0 ] || .venv/bin/python -m pytest "$@"
git -C "$main" merge -q --ff-only "$branch"
echo "landed $branch at $(git rev-parse --short HEAD)"
