-- Layout 1. Private (decisions D22): read it through the Store, never directly.
-- Kept to what SQLite 3.26 knows: no RETURNING, no STRICT.

CREATE TABLE workspaces (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    data BLOB NOT NULL
) WITHOUT ROWID;

-- `num` stands for the session in every other table; AUTOINCREMENT because a number is never used again,
-- so that events of a removed session can be swept later.
CREATE TABLE sessions (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL,
    shown INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    parent_id TEXT NOT NULL,
    root_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_activity_at TEXT NOT NULL,
    attention INTEGER NOT NULL,
    attention_at TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    lived_us INTEGER NOT NULL,
    search TEXT NOT NULL
);
-- One index per order of the list; an update moves a session in the first two and in `sessions_agent`.
CREATE INDEX sessions_recent ON sessions (shown, updated_at, created_at, id);
CREATE INDEX sessions_activity ON sessions (shown, last_activity_at, id);
CREATE INDEX sessions_attention ON sessions (shown, attention, attention_at, id);
-- For filters that leave few rows; also the latest activity of an agent.
CREATE INDEX sessions_agent ON sessions (agent_name, workspace_id, shown, last_activity_at);
CREATE INDEX sessions_workspace ON sessions (workspace_id);
CREATE INDEX sessions_live ON sessions (state) WHERE state <> 'stopped';
CREATE INDEX sessions_archived ON sessions (archived) WHERE archived = 1;
CREATE INDEX sessions_special ON sessions (type) WHERE type <> 'user';
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id <> '';
CREATE INDEX sessions_root ON sessions (root_id) WHERE root_id <> '';

-- The wide part of a session apart, so that scans of `sessions` stay short.
CREATE TABLE session_data (
    session INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);

-- Frozen at creation: apart, because the rest of a session is written often.
CREATE TABLE session_startup (
    session INTEGER PRIMARY KEY,
    startup_prompt TEXT NOT NULL
);

-- Totals of lists and metrics of agents without counting rows. Kept by the triggers below.
CREATE TABLE session_rollup (
    workspace_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL,
    shown INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    lived_us INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, agent_name, type, state, shown, archived, failed)
) WITHOUT ROWID;

CREATE TRIGGER sessions_rollup_insert AFTER INSERT ON sessions BEGIN
    INSERT INTO session_rollup VALUES
        (NEW.workspace_id, NEW.agent_name, NEW.type, NEW.state, NEW.shown, NEW.archived, NEW.failed,
         1, NEW.created_us, NEW.lived_us)
    ON CONFLICT (workspace_id, agent_name, type, state, shown, archived, failed) DO UPDATE SET
        sessions = sessions + 1, created_us = created_us + excluded.created_us, lived_us = lived_us + excluded.lived_us;
END;

CREATE TRIGGER sessions_rollup_delete AFTER DELETE ON sessions BEGIN
    UPDATE session_rollup SET
        sessions = sessions - 1, created_us = created_us - OLD.created_us, lived_us = lived_us - OLD.lived_us
    WHERE workspace_id = OLD.workspace_id AND agent_name = OLD.agent_name AND type = OLD.type
        AND state = OLD.state AND shown = OLD.shown AND archived = OLD.archived AND failed = OLD.failed;
    DELETE FROM session_rollup
    WHERE workspace_id = OLD.workspace_id AND agent_name = OLD.agent_name AND type = OLD.type
        AND state = OLD.state AND shown = OLD.shown AND archived = OLD.archived AND failed = OLD.failed
        AND sessions = 0;
END;

CREATE TRIGGER sessions_rollup_update AFTER UPDATE ON sessions
WHEN OLD.state <> NEW.state OR OLD.lived_us <> NEW.lived_us OR OLD.archived <> NEW.archived
    OR OLD.failed <> NEW.failed OR OLD.shown <> NEW.shown OR OLD.type <> NEW.type
    OR OLD.agent_name <> NEW.agent_name OR OLD.workspace_id <> NEW.workspace_id OR OLD.created_us <> NEW.created_us
BEGIN
    UPDATE session_rollup SET
        sessions = sessions - 1, created_us = created_us - OLD.created_us, lived_us = lived_us - OLD.lived_us
    WHERE workspace_id = OLD.workspace_id AND agent_name = OLD.agent_name AND type = OLD.type
        AND state = OLD.state AND shown = OLD.shown AND archived = OLD.archived AND failed = OLD.failed;
    DELETE FROM session_rollup
    WHERE workspace_id = OLD.workspace_id AND agent_name = OLD.agent_name AND type = OLD.type
        AND state = OLD.state AND shown = OLD.shown AND archived = OLD.archived AND failed = OLD.failed
        AND sessions = 0;
    INSERT INTO session_rollup VALUES
        (NEW.workspace_id, NEW.agent_name, NEW.type, NEW.state, NEW.shown, NEW.archived, NEW.failed,
         1, NEW.created_us, NEW.lived_us)
    ON CONFLICT (workspace_id, agent_name, type, state, shown, archived, failed) DO UPDATE SET
        sessions = sessions + 1, created_us = created_us + excluded.created_us, lived_us = lived_us + excluded.lived_us;
END;

-- `key` is session number << 32 | sequence: an append goes to the right edge of its session, without a second index.
CREATE TABLE events (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    archived INTEGER NOT NULL,
    content BLOB NOT NULL
);

-- Sessions whose row is gone and whose events still have to be swept.
CREATE TABLE removed_sessions (
    session INTEGER PRIMARY KEY
);

CREATE TABLE prompts (
    session INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    message_id TEXT NOT NULL,
    payload_digest TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE UNIQUE INDEX prompts_key ON prompts (session, idempotency_key) WHERE idempotency_key <> '';
CREATE UNIQUE INDEX prompts_message ON prompts (session, message_id) WHERE message_id <> '';

CREATE TABLE processes (
    pid INTEGER NOT NULL,
    start_time TEXT NOT NULL,
    session_id TEXT NOT NULL,
    pgid INTEGER NOT NULL,
    marker TEXT NOT NULL,
    started_at TEXT NOT NULL,
    PRIMARY KEY (pid, start_time)
) WITHOUT ROWID;
