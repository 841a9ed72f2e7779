"""Every route of the API, joined in one tuple (`ALL_ROUTES`). A new module of routes is added here."""

from compozy.daemon.routes import (
    agent_authoring,
    agent_capabilities,
    agent_catalog,
    agents,
    documents,
    extensions,
    ocm,
    providers,
    roles,
    session_interactions,
    session_prompt,
    session_streams,
    sessions,
    settings,
    status,
    trust,
    workspaces,
)
from compozy.daemon.routing import Route

ALL_ROUTES: tuple[Route, ...] = (
    *status.ROUTES,
    *settings.ROUTES,
    *providers.ROUTES,
    *workspaces.ROUTES,
    *agent_catalog.ROUTES,
    *agents.ROUTES,
    *extensions.ROUTES,
    *agent_authoring.ROUTES,
    *agent_capabilities.ROUTES,
    *sessions.ROUTES,
    *session_prompt.ROUTES,
    *session_streams.ROUTES,
    *session_interactions.ROUTES,
    *trust.ROUTES,
    *roles.ROUTES,
    *documents.ROUTES,
    *ocm.ROUTES,
)
