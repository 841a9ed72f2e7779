-- Filters of the session list by badge, by attention and by what a prompt may start again.
ALTER TABLE sessions ADD COLUMN badge TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN resumable INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET badge = coalesce((
    SELECT json_extract(CAST(d.data AS TEXT), '$.session.badge') FROM session_data d WHERE d.session = sessions.num
), '');
UPDATE sessions SET resumable = 1 WHERE state = 'stopped' AND archived = 0 AND (
    SELECT json_extract(CAST(d.data AS TEXT), '$.session.attachable') FROM session_data d
    WHERE d.session = sessions.num
) = 1;
-- Both are small in any home: most sessions are stopped and want nobody.
CREATE INDEX sessions_badge ON sessions (badge) WHERE badge <> 'stopped';
CREATE INDEX sessions_waiting ON sessions (attention) WHERE attention > 0;
