"""Every route of the API, joined in one tuple (`ALL_ROUTES`). A new module of routes is added here."""

from compozy.daemon.routes import status
from compozy.daemon.routing import Route

ALL_ROUTES: tuple[Route, ...] = (*status.ROUTES,)
