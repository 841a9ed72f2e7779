-- Remembered answers about tools: one per workspace, tool, agent ("" for all) and input ("" for any).
CREATE TABLE tool_grants (
    workspace_id TEXT NOT NULL,
    tool_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    input_digest TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (workspace_id, tool_id, agent_name, input_digest)
) WITHOUT ROWID;
