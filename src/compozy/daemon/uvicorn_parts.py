"""The parts of uvicorn this daemon uses, without the command line that its package imports (start-up cost).

``import uvicorn`` loads `uvicorn.main` with click and the reloading supervisors: a tenth of a second that a daemon
never needs. A placeholder stands in for that module while the parts load; nothing else of uvicorn is changed.
"""

import sys
from types import ModuleType

_MAIN = "uvicorn.main"


class _Placeholder(ModuleType):
    """Has every attribute, so that any list of names can be imported from it."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


_stands_in = _MAIN not in sys.modules
if _stands_in:
    sys.modules[_MAIN] = _Placeholder(_MAIN)
try:
    from uvicorn.config import Config as UvicornConfig
    from uvicorn.protocols.http.flow_control import CLOSE_HEADER
    from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
    from uvicorn.server import ServerState
finally:
    if _stands_in:
        # Whoever wants uvicorn's command line in this process gets the real one.
        del sys.modules[_MAIN]

__all__ = ["CLOSE_HEADER", "STATUS_LINE", "HttpToolsProtocol", "RequestResponseCycle", "ServerState", "UvicornConfig"]
