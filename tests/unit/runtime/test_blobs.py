"""What lies beside the store for a session: leftovers of broken uploads go, whole and young files stay; names of
uploaded files carry nothing that could disturb a terminal."""

import os
from pathlib import Path

from compozy.runtime.sessions.attachments.files import _plain_name
from compozy.runtime.sessions.blobs import remove_broken_uploads

TEMPORARY = ".compozy-tmp-00"


def test_what_a_killed_daemon_left_of_uploads_goes_and_whole_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "session-attachments/ws_1/sess-1"
    other = tmp_path / "tool-artifacts/ws_1/sess-1"
    for place in (folder, other):
        place.mkdir(parents=True)
        for name in ("att-1", "att-1.json", "att-2", TEMPORARY):
            (place / name).write_text("x")
            os.utime(place / name, (1, 1))
    (folder / "att-3").write_text("in the making")
    assert remove_broken_uploads(tmp_path) == 2
    assert sorted(path.name for path in folder.iterdir()) == ["att-1", "att-1.json", "att-3"]
    assert len(list(other.iterdir())) == 4
    assert remove_broken_uploads(tmp_path / "nowhere") == 0


def test_a_name_keeps_its_last_part_without_control_characters() -> None:
    assert _plain_name("../../a\x1b[31m\x9b2Jb\u202etxt.png\n") == "a[31m2Jbtxt.png"
    assert _plain_name("c:\\dir\\name.txt") == "name.txt"
    assert _plain_name("\x00\x9f") == "file"
