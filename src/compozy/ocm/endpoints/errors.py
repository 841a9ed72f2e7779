"""The two ways a call ends without an answer: refused here before anything was sent, or failed over there (item 6).

They know nothing of protocols. Messages carry origins, never whole addresses, and never a credential.
"""

from compozy.model.errors import InvalidRequest, LocalError


class EndpointRefused(InvalidRequest):
    """Nothing was sent: there is no usable endpoint, its address breaks a rule, or what it needs was not given."""

    default_code = "endpoint_refused"
    category = "ocm"


class EndpointFailed(LocalError):
    """The endpoint did not answer, or answered something that is no answer; `code` says which."""

    default_code = "endpoint_failed"

    def __init__(self, message: str, *, code: str | None = None, is_temporary: bool = False) -> None:
        super().__init__(message, code=code)
        self.is_temporary = is_temporary
        """Whether the same call may succeed later."""


def own_error(error: BaseException) -> EndpointFailed | EndpointRefused | None:
    """Return the error of ours that a library wrapped, or None."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        if isinstance(one, EndpointFailed | EndpointRefused):
            return one
        seen.add(id(one))
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
    return None
