"""Secret references in one place: `env:NAME` and `vault:NAME` become values, and every value is masked from then on.

Implements contract §2.3 (slots), §2.4 (`secret_env`), decisions D19 and report P36: a reference that leads nowhere is
an error that names who needs what, before any process starts. Literal `env` values are never looked at (P35).
"""

import os
from collections.abc import Mapping

from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.config.vault import Vault
from compozy.model.errors import Unprocessable
from compozy.model.provider import Provider

ENV_PREFIX = "env:"
VAULT_PREFIX = "vault:"


class Secrets:
    """Resolves references for one home; what it gives out, its redactor knows."""

    def __init__(self, home: Home, redactor: Redactor, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._vault = Vault(home, self._environ)
        self._redactor = redactor

    def find(self, reference: str) -> str:
        """Return the value of a reference, "" when it leads nowhere.

        Raises:
            VaultError: the vault has it, and cannot be opened.
        """
        value = ""
        if reference.startswith(ENV_PREFIX):
            value = self._environ.get(reference.removeprefix(ENV_PREFIX), "")
        elif reference.startswith(VAULT_PREFIX):
            value = self._vault.get(reference.removeprefix(VAULT_PREFIX)) or ""
        if value:
            # Told first: it is masked wherever it turns up from now on.
            self._redactor.register(value)
        return value

    def is_there(self, reference: str) -> bool:
        """Whether a reference leads to a value; opens nothing.

        Raises:
            VaultError: the vault's file cannot be read.
        """
        if reference.startswith(ENV_PREFIX):
            return bool(self._environ.get(reference.removeprefix(ENV_PREFIX), ""))
        return reference.startswith(VAULT_PREFIX) and self._vault.has(reference.removeprefix(VAULT_PREFIX))

    def environment(self, owner: str, references: Mapping[str, str]) -> dict[str, str]:
        """Return the variables an owner (such as ``MCP server 'x'``) needs, by name.

        Raises:
            Unprocessable: code `mcp_secret_unresolved`; the first that leads nowhere.
            VaultError: the vault cannot be opened.
        """
        found: dict[str, str] = {}
        for name, reference in references.items():
            value = self.find(reference)
            if not value:
                raise unresolved(owner, name, reference)
            found[name] = value
        return found

    def require(self, owner: str, references: Mapping[str, str]) -> None:
        """Refuse references that lead nowhere, without opening one.

        Raises:
            Unprocessable, VaultError: as for `environment`.
        """
        for name, reference in references.items():
            if not self.is_there(reference):
                raise unresolved(owner, name, reference)

    def credentials(self, provider: Provider) -> dict[str, str]:
        """Return the variables of a provider's credential slots; an optional slot without a value is left out.

        Raises:
            Unprocessable: code `provider_credential_unresolved`; a required slot leads nowhere.
            VaultError: the vault cannot be opened.
        """
        found: dict[str, str] = {}
        for slot in provider.credential_slots:
            reference = slot.secret_ref or f"{ENV_PREFIX}{slot.target_env}"
            value = self.find(reference)
            if value:
                found[slot.target_env] = value
            elif slot.required:
                raise Unprocessable(
                    f"provider {provider.id!r} needs {slot.target_env} for its slot {slot.name!r}: "
                    f"{_why(reference)}; {_remedy(reference)}",
                    code="provider_credential_unresolved",
                    category="provider",
                    evidence={
                        "provider": provider.id,
                        "slot": slot.name,
                        "variable": slot.target_env,
                        "source": _shown(reference),
                        "recommended_action": "bind_secret",
                    },
                    hint=_command(reference),
                )
        return found


def unresolved(owner: str, name: str, reference: str) -> Unprocessable:
    """Return the error for a reference that leads nowhere; it names the owner, the key and the variable."""
    return Unprocessable(
        f"{owner} needs {name}: {_why(reference)}; {_remedy(reference)}",
        code="mcp_secret_unresolved",
        category="mcp",
        evidence={"owner": owner, "key": name, "source": _shown(reference)},
        hint=_command(reference),
    )


def _why(reference: str) -> str:
    # The reference itself is masked in every answer (contract §5.8), so the words must carry its name.
    if reference.startswith(ENV_PREFIX):
        return f"the variable {reference.removeprefix(ENV_PREFIX)} is not set where the daemon runs"
    if reference.startswith(VAULT_PREFIX):
        return f"the vault has no secret named {reference.removeprefix(VAULT_PREFIX)!r}"
    # Not quoted: it may be the secret itself.
    return "what is written there is no secret reference"


def _remedy(reference: str) -> str:
    if reference.startswith(ENV_PREFIX):
        return "set it there and restart the daemon"
    if reference.startswith(VAULT_PREFIX):
        return f"store it with `compozy vault set {reference.removeprefix(VAULT_PREFIX)}`"
    return "refer to a variable of the daemon (env) or to a secret of the vault (vault)"


def _command(reference: str) -> str | None:
    return f"compozy vault set {reference.removeprefix(VAULT_PREFIX)}" if reference.startswith(VAULT_PREFIX) else None


def _shown(reference: str) -> str:
    kind, colon, name = reference.partition(":")
    return f"{name} ({'variable of the daemon' if kind == 'env' else 'vault'})" if colon else "no reference"
