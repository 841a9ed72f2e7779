"""What the doctor says about the vault and about what was trusted (issue 5; decisions D15).

Every finding names the file and carries the one command that mends it. Opens each secret of the vault and forgets it.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from compozy.config.errors import TrustError, VaultError
from compozy.config.findings import Finding, finding
from compozy.config.home import Home
from compozy.config.trust_grants import TrustGrants
from compozy.config.vault import KEY_VARIABLE, Vault

_SHOWN = 3


def vault_findings(home: Home) -> Iterator[Finding]:
    """Say whether every secret of the vault can be opened, and that nobody else can read its file."""
    vault = Vault(home)
    try:
        number = vault.check()
    except VaultError as error:
        yield finding("vault", error.code, "error", error.message, command=_mend(vault, error.code))
        return
    mode = _mode(vault.path)
    if mode & 0o077:
        text = (
            f"{str(vault.path)!r} can be read by others (mode {mode:o}): names and times are readable without the key"
        )
        yield finding("vault", "vault_open", "warn", text, command=f"chmod 600 {shlex.quote(str(vault.path))}")
    if number:
        yield finding("vault", "vault_opens", "ok", f"every secret of the vault can be opened: {number}")


def _mend(vault: Vault, code: str) -> str:
    path, key = shlex.quote(str(vault.path)), shlex.quote(str(vault.key_path))
    if code == "vault_key_open":
        return f"chmod 600 {key}"
    if code in ("vault_key_missing", "vault_key_wrong", "vault_damaged"):
        # Nothing is lost by it: moved back beside the right key or from a backup, the file opens again.
        return f"mv {path} {path}.unopened"
    if code == "vault_key_invalid":
        if os.environ.get(KEY_VARIABLE, "").strip():
            return f"unset {KEY_VARIABLE}"
        return f"mv {path} {path}.unopened && mv {key} {key}.invalid"
    return f"ls -l {path} {key}"


def trust_findings(home: Home) -> Iterator[Finding]:
    """Say whether the record of what was trusted can be read, and which trusted files are gone."""
    grants = TrustGrants(home)
    try:
        known = grants.all()
    except TrustError as error:
        path = shlex.quote(str(grants.path))
        yield finding("trust", error.code, "error", error.message, command=f"mv {path} {path}.damaged")
        return
    gone = sorted({grant.path for grant in known if not Path(grant.path).exists()})
    if gone:
        shown = ", ".join(repr(path) for path in gone[:_SHOWN]) + (" and others" if len(gone) > _SHOWN else "")
        text = f"trusted files that are no longer there: {shown}; their grants do nothing"
        yield finding("trust", "trusted_files_gone", "info", text, evidence={"paths": gone})
    if known and not gone:
        yield finding("trust", "trust_readable", "ok", f"grants: {len(known)}, each for a file that is there")


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0
