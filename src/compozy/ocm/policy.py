"""Hard constraints: who may take a request at all, decided exactly and before any score (OCM §7; decisions O4).

Every rule fails closed: an unknown data boundary is an error, a request without a tenant never reaches a
tenant-restricted capability, and a price that is unknown does not fit a budget.
"""

from collections.abc import Callable

from compozy.model.errors import InvalidRequest
from compozy.model.record import Record
from compozy.ocm.endpoints.choice import is_reachable
from compozy.ocm.grammar import BOUNDARIES
from compozy.ocm.target import Target

# From this risk on, only people and capabilities tagged `safety` may answer.
JAILBREAK_RISK = 0.5


class Request(Record, frozen=True, kw_only=True):
    """What a request demands and what its text shows. Budgets in USD, latency in milliseconds, sizes in tokens.

    `max_cost_usd` bounds the whole request (per-call price plus tokens); `max_cost_per_1k` only token prices.
    """

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    region: str = ""
    data_boundary: str = ""
    tenant: str = ""
    max_cost_per_1k: float | None = None
    max_cost_usd: float | None = None
    max_latency_ms: float | None = None
    require_tools: bool = False
    complexity_band: bool = False
    tokens: int = 0
    contains_pii: bool = False
    modalities: tuple[str, ...] = ("text",)
    language: str = "en"
    jailbreak_risk: float = 0.0
    complexity: float = 0.0


class Decision(Record, frozen=True, kw_only=True):
    """Whether a target may take the request; `rule` and `reason` name the first rule that refused."""

    admitted: bool
    rule: str = ""
    reason: str = ""


def check_request(request: Request) -> None:
    """Refuse a request that cannot be decided.

    Raises:
        InvalidRequest: the data boundary is not one of public, private, on_prem.
    """
    if request.data_boundary and request.data_boundary not in BOUNDARIES:
        raise InvalidRequest(
            f"unknown data boundary {request.data_boundary!r}: use one of {', '.join(BOUNDARIES)}",
            code="data_boundary_unknown",
        )


def decide(target: Target, request: Request) -> Decision:
    """Apply the rules in order; the first that refuses gives the reason.

    Raises:
        InvalidRequest: see `check_request`.
    """
    check_request(request)
    for rule, judge in _RULES:
        reason = judge(target, request)
        if reason is not None:
            return Decision(admitted=False, rule=rule, reason=reason)
    return Decision(admitted=True)


def price_usd(target: Target, tokens: int) -> float:
    """Return the price of one request of `tokens` tokens: the call plus its tokens, in USD."""
    return target.cost.get("usd_per_call", 0.0) + target.cost.get("usd_per_1k_tokens", 0.0) * tokens / 1000


def _enabled(target: Target, request: Request) -> str | None:
    return None if target.enabled else "disabled"


def _allow(target: Target, request: Request) -> str | None:
    return None if request.allow is None or target.id in request.allow else "not in the allow list"


def _deny(target: Target, request: Request) -> str | None:
    return "in the deny list" if target.id in request.deny else None


def _kind(target: Target, request: Request) -> str | None:
    return None if not request.kinds or target.kind in request.kinds else f"kind {target.kind} is not asked for"


def _region(target: Target, request: Request) -> str | None:
    if not request.region or not target.regions:
        return None
    served = {region.casefold() for region in target.regions}
    return None if request.region.casefold() in served else f"region {request.region} is not served"


def _endpoint(target: Target, request: Request) -> str | None:
    if not request.region or not target.endpoints:
        return None
    offered = [str(endpoint.get("region") or "") for endpoint in target.endpoints]
    # Who could only be called elsewhere cannot take the request: an endpoint in another region is never used (O5).
    return None if is_reachable(offered, request.region) else f"no endpoint in region {request.region}"


def _boundary(target: Target, request: Request) -> str | None:
    if not request.data_boundary:
        return None
    offered, required = BOUNDARIES.index(target.data_boundary), BOUNDARIES.index(request.data_boundary)
    return None if offered >= required else f"data boundary {target.data_boundary} is below {request.data_boundary}"


def _pii(target: Target, request: Request) -> str | None:
    return "personal data is not allowed" if request.contains_pii and not target.pii_allowed else None


def _tenant(target: Target, request: Request) -> str | None:
    if not target.tenants:
        return None
    if not request.tenant:
        return "restricted to tenants, and the request names none"
    allowed = any(request.tenant == tenant or request.tenant.startswith(f"{tenant}/") for tenant in target.tenants)
    return None if allowed else f"tenant {request.tenant} is not permitted"


def _cost(target: Target, request: Request) -> str | None:
    per_1k = target.cost.get("usd_per_1k_tokens", 0.0)
    # A limit that is no number (NaN) is met by nothing.
    if request.max_cost_per_1k is not None and not per_1k <= request.max_cost_per_1k:
        return f"{per_1k:g} USD per 1,000 tokens is over {request.max_cost_per_1k:g}"
    if request.max_cost_usd is not None and not price_usd(target, request.tokens) <= request.max_cost_usd:
        return f"{price_usd(target, request.tokens):g} USD for this request is over {request.max_cost_usd:g}"
    return None


def _latency(target: Target, request: Request) -> str | None:
    if request.max_latency_ms is None or target.latency_ms <= request.max_latency_ms:
        return None
    return f"latency {target.latency_ms:g} ms is over {request.max_latency_ms:g} ms"


def _tokens(target: Target, request: Request) -> str | None:
    if target.max_tokens_in is None or request.tokens <= target.max_tokens_in:
        return None
    return f"{request.tokens} input tokens are over {target.max_tokens_in}"


def _window(target: Target, request: Request) -> str | None:
    if target.context_window is None or request.tokens <= target.context_window:
        return None
    return f"{request.tokens} tokens do not fit the window of {target.context_window}"


def _tools(target: Target, request: Request) -> str | None:
    # Only a bare model needs the flag: agents and tools bring their own way of acting.
    refused = request.require_tools and target.kind == "llm" and not target.supports_tools
    return "tools are required and not supported" if refused else None


def _modality(target: Target, request: Request) -> str | None:
    missing = [modality for modality in request.modalities if modality not in target.modalities]
    return f"modality {missing[0]} is not supported" if missing else None


def _language(target: Target, request: Request) -> str | None:
    if not request.language or request.language in target.languages or "*" in target.languages:
        return None
    return f"language {request.language} is not supported"


def _jailbreak(target: Target, request: Request) -> str | None:
    if request.jailbreak_risk < JAILBREAK_RISK or target.kind == "human" or "safety" in target.tags:
        return None
    return "a risky request goes to people or capabilities tagged 'safety' only"


def _complexity(target: Target, request: Request) -> str | None:
    if not request.complexity_band or target.min_complexity <= request.complexity <= target.max_complexity:
        return None
    return f"complexity {request.complexity:g} is outside {target.min_complexity:g} to {target.max_complexity:g}"


_RULES: tuple[tuple[str, Callable[[Target, Request], str | None]], ...] = (
    ("enabled", _enabled),
    ("allow", _allow),
    ("deny", _deny),
    ("kind", _kind),
    ("region", _region),
    ("endpoint", _endpoint),
    ("data_boundary", _boundary),
    ("pii", _pii),
    ("tenant", _tenant),
    ("cost", _cost),
    ("latency", _latency),
    ("max_tokens_in", _tokens),
    ("context_window", _window),
    ("tools", _tools),
    ("modality", _modality),
    ("language", _language),
    ("jailbreak", _jailbreak),
    ("complexity", _complexity),
)
