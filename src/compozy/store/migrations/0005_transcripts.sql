-- Ended turns folded into transcript entries, so that a long transcript is not folded anew for every reader.
-- Made from events and never more than them: any row may be deleted and comes again.
CREATE TABLE transcript_segments (
    -- Session number << 32 | first sequence, and the same with the last.
    key INTEGER PRIMARY KEY,
    last_key INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    data BLOB NOT NULL
);
-- Counts what made segments wrong, so that one folded before such a change is not kept after it.
CREATE TABLE transcript_marks (
    session INTEGER PRIMARY KEY,
    mark INTEGER NOT NULL
);
CREATE TRIGGER transcript_archived AFTER UPDATE OF archived ON events WHEN OLD.archived <> NEW.archived BEGIN
    DELETE FROM transcript_segments WHERE last_key >= NEW.key
        AND key = (SELECT max(key) FROM transcript_segments WHERE key <= NEW.key);
    INSERT OR IGNORE INTO transcript_marks VALUES (NEW.key >> 32, 0);
    UPDATE transcript_marks SET mark = mark + 1 WHERE session = NEW.key >> 32;
END;
CREATE TRIGGER transcript_session_deleted AFTER DELETE ON sessions BEGIN
    DELETE FROM transcript_segments WHERE key > OLD.num << 32 AND key < (OLD.num + 1) << 32;
    DELETE FROM transcript_marks WHERE session = OLD.num;
END;
