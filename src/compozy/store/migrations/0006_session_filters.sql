-- The filters by badge, by attention and by what can go on: each is counted and found in one index of its own.
DROP INDEX sessions_badge;
DROP INDEX sessions_waiting;
CREATE INDEX sessions_badge ON sessions (badge, archived, shown, workspace_id);
CREATE INDEX sessions_waiting ON sessions (attention, archived, shown, workspace_id) WHERE attention > 0;
CREATE INDEX sessions_resumable ON sessions (resumable, archived, shown, workspace_id) WHERE resumable = 1;
