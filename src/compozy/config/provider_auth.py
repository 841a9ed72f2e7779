"""Whether a provider can be used as it is: its program, its login, its credentials, and the command that mends it.

Implements the auth states and recommended actions of contract §2.3. Looks at PATH and at whether secrets exist, and
starts nothing. Asking the program itself is a probe (`runtime/providers/probe.py`), whose result is passed in.
"""

from collections.abc import Callable

from compozy.config.commands import find_executable, split_command
from compozy.config.detection import INSTALL_COMMANDS, missing_program
from compozy.config.openai_compatible import is_openai_compatible, missing_setting
from compozy.model.errors import CompozyError
from compozy.model.provider import CredentialSlot, Provider
from compozy.model.provider_answers import Action, AuthState, Login, ProviderAuth
from compozy.model.record import Record

IsThere = Callable[[str], bool]

_ACTIONS: dict[AuthState, Action | None] = {
    "authenticated": None,
    "needs_login": "login",
    "missing_cli": "install_cli",
    "missing_credential": "bind_secret",
    "permission_denied": "no_retry",
    "rate_limited": "retry",
    "transient": "retry",
    "none": None,
    "unknown": "inspect",
}
CODES: dict[AuthState, str] = {
    "needs_login": "provider_not_authenticated",
    "missing_cli": "provider_cli_missing",
    "missing_credential": "provider_credential_unresolved",
    "permission_denied": "provider_permission_denied",
    "rate_limited": "provider_rate_limited",
    "transient": "provider_transient_failure",
    "unknown": "provider_classification_unknown",
}


class Probed(Record, frozen=True, kw_only=True):
    """What asking the provider itself brought."""

    state: AuthState
    message: str
    at: str


def auth_status(provider: Provider, is_there: IsThere, probed: Probed | None = None) -> ProviderAuth:
    """Return the state of a provider; a probe counts while nothing is missing on this side."""
    state, message, mend = _state(provider, is_there)
    if probed is not None and state in ("authenticated", "unknown", "none"):
        state, message = probed.state, probed.message
        mend = _mend_probed(provider, state)
    action = _ACTIONS[state]
    if state == "unknown" and provider.auth_login_command:
        action = "login"
    return ProviderAuth(
        state=state,
        mode=provider.auth_mode,
        env_policy=provider.env_policy,
        home_policy=provider.home_policy,
        login=_login(provider, action),
        code=CODES.get(state, "") if message and state != "unknown" else "",
        message=message,
        status_command=provider.auth_status_command,
        last_probe_at=probed.at if probed is not None else None,
        mend=mend,
    )


def _state(provider: Provider, is_there: IsThere) -> tuple[AuthState, str, str]:
    """Return state, sentence and remedy as far as this machine knows."""
    missing = missing_program(provider)
    if missing:
        return "missing_cli", f"the program {missing!r} is not on this machine", install_step(provider, missing)
    setting, example = missing_setting(provider, provider.default_model)
    if setting:
        key = f"providers.{provider.id}.{setting}"
        return "unknown", f"{setting} is not set", f"compozy config set {key} {example}"
    if provider.auth_mode == "none":
        return "none", "", ""
    if provider.auth_mode == "bound_secret":
        return _credential_state(provider, is_there)
    return "unknown", "the program has its own login, which is not looked into", _login_step(provider)


def _credential_state(provider: Provider, is_there: IsThere) -> tuple[AuthState, str, str]:
    for slot in provider.credential_slots:
        present, why = slot_presence(slot, is_there)
        if slot.required and not present:
            return "missing_credential", f"{slot.target_env} has no value: {why}", _bind_step(slot)
    if is_openai_compatible(provider):
        return "unknown", "whether the endpoint answers shows a probe", f"compozy provider auth status {provider.id}"
    return "authenticated", "the credential is set; the service sees it with the first prompt", ""


def reference_of(slot: CredentialSlot) -> str:
    """Return where a slot's value comes from."""
    return slot.secret_ref or f"env:{slot.target_env}"


def slot_presence(slot: CredentialSlot, is_there: IsThere) -> tuple[bool, str]:
    """Return whether a slot has a value, and why not."""
    reference = reference_of(slot)
    kind, _, name = reference.partition(":")
    try:
        present = is_there(reference)
    except CompozyError as error:
        return False, error.message
    if present:
        return True, ""
    return False, f"the vault has no {name!r}" if kind == "vault" else f"{name} is not set where the daemon runs"


def _bind_step(slot: CredentialSlot) -> str:
    kind, _, name = reference_of(slot).partition(":")
    if kind == "vault":
        return f"compozy vault set {name}"
    # No `NAME=…`: what follows a name like a key's is masked wherever it is shown.
    return f"read -rs {name} && export {name} && compozy daemon stop; compozy daemon start"


def install_step(provider: Provider, missing: str) -> str:
    """Return the command or step that puts a missing program on this machine."""
    if is_openai_compatible(provider) and missing.endswith("/bin/agentao"):
        return "compozy provider install openai-compatible"
    if missing == "npx":
        return "install Node.js 20 or newer: https://nodejs.org"
    return INSTALL_COMMANDS.get(provider.id, f"install {missing} and put it on PATH")


def _login_step(provider: Provider) -> str:
    if not provider.auth_login_command:
        return ""
    executable = split_command(provider.auth_login_command)[0]
    if find_executable(executable) is None:
        return install_step(provider, executable)
    return f"compozy provider auth login {provider.id}"


def _mend_probed(provider: Provider, state: AuthState) -> str:
    if state in ("needs_login", "missing_credential"):
        if provider.auth_login_command:
            return _login_step(provider)
        return next((_bind_step(slot) for slot in provider.credential_slots), "")
    return f"compozy provider auth status {provider.id}" if state in ("transient", "rate_limited") else ""


def _login(provider: Provider, action: Action | None) -> Login:
    if not provider.auth_login_command:
        return Login(configured=False, presence="unknown", recommended_action=action)
    executable = split_command(provider.auth_login_command)[0]
    return Login(
        configured=True,
        presence="present" if find_executable(executable) else "missing",
        executable=executable,
        recommended_action=action,
        source="auth_login_command",
    )
