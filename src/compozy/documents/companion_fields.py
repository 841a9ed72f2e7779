"""The field tables of the files beside an agent: SOUL.md, HEARTBEAT.md and SKILL.md (formats §14, contract §8)."""

from compozy.documents.fields import Field, Kind, Table

T, L = Kind.TEXT, Kind.TEXTS

SOUL = Table(
    "soul",
    {
        field.name: field
        for field in (
            Field("version", T, "the author's own version of this file"),
            Field("role", T, "who the agent is, in one line"),
            Field("tone", L, "how it speaks"),
            Field("principles", L, "what it holds to"),
            Field("constraints", L, "what it never does"),
            Field("collaboration", L, "how it works with others"),
            Field("memory_policy", L, "what it keeps in mind"),
            Field("tags", L, "free tags"),
        )
    },
)
_WINDOW = Table(
    "window",
    {
        field.name: field
        for field in (
            Field("timezone", T, "an IANA time zone such as Europe/Berlin"),
            Field("start", T, "HH:MM"),
            Field("end", T, "HH:MM; before start means over midnight"),
        )
    },
    required=("timezone", "start", "end"),
)
_PREFERENCES = Table(
    "preferences",
    {
        field.name: field
        for field in (
            Field("min_interval", T, "shortest time between two wakes, at least 5m"),
            Field("active_hours", Kind.TABLES, "when it may wake", _WINDOW),
            Field("quiet_windows", Kind.TABLES, "when it must not wake", _WINDOW),
        )
    },
)
_CONTEXT = Table("context", {"include": Field("include", L, "what a wake is told about")})
HEARTBEAT = Table(
    "heartbeat",
    {
        field.name: field
        for field in (
            Field("version", Kind.WHOLE, "the version of this format: 1"),
            Field("enabled", Kind.FLAG, "false switches waking off"),
            Field("summary", T, "what a wake is for, in one line"),
            Field("preferences", Kind.TABLE, "when to wake", _PREFERENCES),
            Field("context", Kind.TABLE, "what a wake is told about", _CONTEXT),
        )
    },
)
SKILL_WHEN = Table(
    "when",
    {
        field.name: field
        for field in (
            Field("platforms", L, "any of these systems: linux, darwin, windows"),
            Field("environments", L, "any of these environments"),
            Field("requires_tools", L, "all of these tools"),
            Field("requires_capabilities", L, "all of these capability ids, as the agent's catalog has them"),
        )
    },
)
# Fields of the open skill format that other programs read and this one ignores in silence.
SKILL_FOREIGN = ("license", "compatibility", "allowed-tools")
SKILL = Table(
    "skill",
    {
        field.name: field
        for field in (
            Field("name", T, "the skill's name: its identity"),
            Field("description", T, "what it is good for and when to use it"),
            Field("version", T, "its version"),
            Field("metadata", Kind.TABLE, "free data; `compozy` below it is ours", Table("metadata", {})),
        )
    },
    required=("name",),
)
