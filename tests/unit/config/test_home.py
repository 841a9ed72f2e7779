"""Where the home folder is."""

from pathlib import Path

from compozy.catalog.discovery import discover
from compozy.config.home import Home
from tests.kit.agent_files import write_agent


def test_agents_of_a_home_behind_a_link_are_found(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    write_agent(real / "agents", "helm")
    (tmp_path / "link").symlink_to(real)
    home = Home.from_environment({"COMPOZY_HOME": str(tmp_path / "link")})
    assert home.root == real
    found = discover(workspace=None, home_agents=home.agents)
    assert [agent.name for agent in found.agents] == ["helm"] and found.complete


def test_a_link_below_the_home_is_still_refused(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    write_agent(root / "elsewhere", "helm")
    (root / "home").mkdir()
    (root / "home/agents").symlink_to(root / "elsewhere")
    home = Home.from_environment({"COMPOZY_HOME": str(root / "home")})
    assert not discover(workspace=None, home_agents=home.agents).complete
