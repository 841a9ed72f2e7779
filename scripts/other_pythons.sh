#!/usr/bin/env bash
# Run the fast tests on every other supported Python this machine has (3.11, 3.12, 3.13), each in its own environment.
# Interpreters are looked up on PATH and below pyenv; one that is missing is named and skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
current=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
for version in 3.11 3.12 3.13; do
    [ "$version" = "$current" ] && continue
    python=""
    for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python3; do
        if "$candidate" -c 'import venv' 2>/dev/null; then python=$candidate; break; fi
    done
    if [ -z "$python" ]; then echo "==> Python $version: not on this machine, skipped"; continue; fi
    venv=.cache/python-$version
    if [ ! -e "$venv/.ready" ] || [ requirements-dev.lock -nt "$venv/.ready" ]; then
        "$python" -m venv "$venv"
        "$venv/bin/python" -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements-dev.lock
        "$venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-deps --no-build-isolation -e .
        touch "$venv/.ready"
    fi
    echo "==> Python $version: unit, contract and golden tests"
    "$venv/bin/python" -m pytest -p no:cacheprovider -n 3 --dist loadfile tests/unit tests/contract tests/golden
done
