"""The effective configuration: every section after merging defaults, home and workspace (contract §2.1).

A plain record. Reading and checking is in `load.py`; what each key means is in `sections.py`.
"""

from compozy.config.role_sections import RolesSection
from compozy.config.sections import (
    AgentsSection,
    DaemonSection,
    DefaultsSection,
    Free,
    HistorySection,
    HooksSection,
    HttpSection,
    LimitsSection,
    LogSection,
    ModelsDevSection,
    ObservabilitySection,
    PermissionsSection,
    RedactSection,
    SelectionSection,
    SessionSection,
    SkillsSection,
    ToolsSection,
    TrustSection,
)
from compozy.model.provider import Provider
from compozy.model.record import Record


class Config(Record, frozen=True, kw_only=True):
    """Every section the product has.

    `providers` holds the built-in rows merged with the files, by canonical id. `notes` are findings that do not keep
    the configuration from being used: sections read past, workspace settings that were left out. `sources` are the
    files that were read.
    """

    daemon: DaemonSection = DaemonSection()
    http: HttpSection = HttpSection()
    defaults: DefaultsSection = DefaultsSection()
    permissions: PermissionsSection = PermissionsSection()
    limits: LimitsSection = LimitsSection()
    session: SessionSection = SessionSection()
    tools: ToolsSection = ToolsSection()
    skills: SkillsSection = SkillsSection()
    agents: AgentsSection = AgentsSection()
    log: LogSection = LogSection()
    redact: RedactSection = RedactSection()
    observability: ObservabilitySection = ObservabilitySection()
    trust: TrustSection = TrustSection()
    hooks: HooksSection = HooksSection()
    mcp_servers: tuple[Free, ...] = ()
    history: HistorySection = HistorySection()
    models_dev: ModelsDevSection = ModelsDevSection()
    selection: SelectionSection = SelectionSection()
    roles: RolesSection = RolesSection()
    providers: dict[str, Provider] = {}
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
