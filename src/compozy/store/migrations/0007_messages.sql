-- Messages between sessions, by receiver; a number is never used twice, so that "told up to" stays true.
CREATE TABLE messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver TEXT NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX messages_receiver ON messages (receiver, number);
