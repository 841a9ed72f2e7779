"""docs/deviations.md says of the agent's own routes what the records say; its other lists have tests of their own."""

import re
from pathlib import Path
from typing import get_args

from compozy.model.agent_kernel import Absent, InboxItem
from compozy.model.message import MessageKind

PAGE = Path(__file__).resolve().parents[2] / "docs" / "deviations.md"


def test_the_kinds_and_members_of_an_agents_inbox_are_those_that_the_page_names() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("# Where an agent's question about itself")[2]
    kinds = re.search(r"have the kinds (.*?), not", text, re.DOTALL)
    assert kinds is not None
    assert sorted(re.findall(r"`(\w+)`", kinds[1])) == sorted(get_args(MessageKind))
    fields = set(InboxItem.__struct_fields__)
    assert "sender" in fields and not fields & {"channel_id", "metadata"}
    assert Absent(available=False).available is False
