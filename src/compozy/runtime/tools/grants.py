"""Remembered answers and single-use approvals (contract §6.3 layer 11).

Grants are stored: for one exact input of an agent, for an agent, or for everybody in a workspace; the most exact one
counts. Approval tokens live a short while in memory, as hashes; a restart takes them all back.
"""

import hashlib
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from compozy.model import times
from compozy.model.errors import NotFound
from compozy.model.tool import ApprovalGrant, ReasonCode, ToolApproval
from compozy.runtime.tools.faults import fault
from compozy.store.interface import Store

# A used grant is written again at most this often: the time of its last use is for people.
_TOUCH_SECONDS = 60.0
_MOST_TOKENS = 1_000
Answer = Literal["allow", "reject"]


class Grants:
    """The stored grants, read once per workspace and kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[ApprovalGrant, ...]] = {}
        self._touched: dict[str, float] = {}

    async def of(self, workspace_id: str) -> tuple[ApprovalGrant, ...]:
        """Return a workspace's grants, oldest first."""
        known = self._known.get(workspace_id)
        if known is None:
            known = self._known[workspace_id] = await self._store.list_grants(workspace_id)
        return known

    async def find(self, workspace_id: str, tool_id: str, agent: str, digest: str) -> ApprovalGrant | None:
        """Return the grant that counts for a call: for its exact input, its agent, its tool, in that order."""
        found = {
            (grant.agent_name, grant.input_digest): grant
            for grant in await self.of(workspace_id)
            if grant.tool_id == tool_id
        }
        for key in ((agent, digest), (agent, ""), ("", "")):
            if key in found:
                return found[key]
        return None

    async def put(
        self, workspace_id: str, tool_id: str, decision: Answer, *, agent: str = "", digest: str = ""
    ) -> ApprovalGrant:
        """Remember an answer in place of the one for the same."""
        stamp = times.now()
        grant = ApprovalGrant(
            id=f"grant-{secrets.token_hex(8)}",
            workspace_id=workspace_id,
            tool_id=tool_id,
            decision=decision,
            created_at=stamp,
            last_used_at=stamp,
            agent_name=agent,
            input_digest=digest,
        )
        await self._store.put_grant(grant)
        self._known.pop(workspace_id, None)
        return grant

    async def delete(self, workspace_id: str, grant_id: str) -> None:
        """Forget an answer.

        Raises:
            NotFound: there is none of that id in that workspace.
        """
        self._known.pop(workspace_id, None)
        if not await self._store.delete_grant(workspace_id, grant_id):
            raise NotFound(
                f"grant {grant_id!r} does not exist in workspace {workspace_id!r}: see `compozy tool approvals list`",
                code="grant_not_found",
            )

    async def used(self, grant: ApprovalGrant) -> None:
        """Note that a grant was used."""
        now = time.monotonic()
        if now - self._touched.get(grant.id, -_TOUCH_SECONDS) < _TOUCH_SECONDS:
            return
        self._touched[grant.id] = now
        await self._store.put_grant(msgspec.structs.replace(grant, last_used_at=times.now()))
        self._known.pop(grant.workspace_id, None)


@dataclass(frozen=True, kw_only=True)
class _Token:
    tool_id: str
    session_id: str
    digest: str
    expires: float


class Approvals:
    """Single-use permissions: each for one tool, one input, one session."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tokens: dict[str, _Token] = {}
        self._used: dict[str, None] = {}

    def issue(self, tool_id: str, session_id: str, digest: str) -> ToolApproval:
        """Return a new token; it is shown here and nowhere else."""
        token = secrets.token_urlsafe(32)
        self._forget_old()
        self._tokens[_hash(token)] = _Token(
            tool_id=tool_id, session_id=session_id, digest=digest, expires=time.monotonic() + self._seconds
        )
        expires = datetime.now(UTC) + timedelta(seconds=self._seconds)
        return ToolApproval(
            approval_token=token, expires_at=times.format_time(expires), input_digest=digest, tool_id=tool_id
        )

    def use(self, token: str, tool_id: str, session_id: str, digest: str) -> None:
        """Use a token up.

        Raises:
            ToolFault: it is not valid for this call, and why.
        """
        key = _hash(token)
        known = self._tokens.get(key)
        if known is None:
            reason: ReasonCode = "approval_token_replayed" if key in self._used else "approval_token_mismatch"
            raise _refused(tool_id, reason)
        if (known.tool_id, known.session_id, known.digest) != (tool_id, session_id, digest):
            raise _refused(tool_id, "approval_token_mismatch")
        del self._tokens[key]
        self._used[key] = None
        if time.monotonic() > known.expires:
            raise _refused(tool_id, "approval_token_expired")

    def _forget_old(self) -> None:
        now = time.monotonic()
        self._tokens = {key: token for key, token in self._tokens.items() if token.expires > now}
        for kept in (self._tokens, self._used):
            while len(kept) >= _MOST_TOKENS:
                kept.pop(next(iter(kept)))


_WORDS: dict[ReasonCode, str] = {
    "approval_token_replayed": "was used before: it is good for one call",
    "approval_token_mismatch": "is not one for this tool, input and session",
    "approval_token_expired": "has expired",
}


def _refused(tool_id: str, reason: ReasonCode) -> Exception:
    return fault(
        "tool_denied",
        f"the approval token {_WORDS[reason]}; approve the call again",
        tool_id=tool_id,
        layer="approval",
        reasons=(reason,),
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
