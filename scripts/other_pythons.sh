#!/usr/bin/env bash
# Run tests on the other supported Pythons of this machine: the fast ones on every other version (3.11, 3.12, 3.13), each
# in its own environment; and those that depend on how asyncio ends and cancels things on the system's python3, where
# that is another patch release than ours (Debian's 3.11.2 cancels otherwise than 3.11.7).
# Interpreters are looked up on PATH and below pyenv; one that is missing is named and skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
run_tests() { "$@" -m pytest -p no:cacheprovider -n 3 --dist loadfile "${tests[@]}"; }
version_of() { "$1" -c "import sys; print('.'.join(map(str, sys.version_info[:$2])))"; }
ours=.venv/bin/python
export PYTHONHASHSEED=0

tests=(tests/unit tests/contract tests/golden)
for version in 3.11 3.12 3.13; do
    [ "$version" = "$(version_of $ours 2)" ] && continue
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
    run_tests "$venv/bin/python"
done

system=/usr/bin/python3
if ! "$system" -c 'import venv' 2>/dev/null; then
    echo "==> $system: not on this machine, skipped"
elif [ "$(version_of $system 2)" != "$(version_of $ours 2)" ]; then
    echo "==> $system: Python $(version_of $system 3), no other patch release of ours, nothing to add"
elif [ "$(version_of $system 3)" = "$(version_of $ours 3)" ]; then
    echo "==> $system: the same Python $(version_of $system 3), nothing to add"
else
    # Patch releases share what is installed: the environment only has to look into ours.
    venv=.cache/python-$(version_of $system 3)
    "$system" -m venv --without-pip --clear "$venv"
    "$venv/bin/python" - "$(realpath .venv)"/lib/python*/site-packages <<'PTH'
import sys, sysconfig
with open(f"{sysconfig.get_path('purelib')}/ours.pth", "w") as file:
    file.write(f"import site; site.addsitedir({sys.argv[1]!r})\n")
PTH
    tests=(tests/unit/acp tests/unit/daemon tests/unit/runtime tests/contract tests/failure/acp)
    tests+=(tests/interaction/mcp/test_servers.py tests/interaction/daemon/test_shutdown.py)
    echo "==> Python $(version_of $system 3): what depends on asyncio"
    run_tests "$venv/bin/python"
fi
