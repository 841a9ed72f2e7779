"""The 104 events a hook can wait for, which allow sync mode, and what a matcher may name (formats §8.1, §8.4).

Data and look-ups only.
"""

_SYNC = """
    session.pre_create session.post_create session.pre_resume session.post_resume session.pre_stop
    session.post_stop sandbox.prepare sandbox.sync.before sandbox.stop input.pre_submit prompt.post_assemble
    automation.job.pre_fire automation.trigger.pre_fire agent.pre_start agent.spawned agent.crashed
    agent.stopped agent.heartbeat.wake.before turn.start turn.end message.start message.end tool.pre_call
    tool.post_call tool.post_error permission.request context.pre_compact context.post_compact
    coordinator.pre_spawn coordinator.spawned coordinator.decision coordinator.stopped coordinator.failed
    task.blocked task.unblocked task.needs_attention task.recovered task.run.enqueued task.run.pre_claim
    task.run.post_claim task.run.lease_extended task.run.lease_expired task.run.lease_recovered
    task.run.released task.run.completed task.run.failed loop.generation.pre loop.gate.pre spawn.pre_create
    spawn.created spawn.parent_stopped spawn.ttl_expired spawn.reaped network.participation.pre_resolve
    worktree.pre_create worktree.pre_remove
"""
_ASYNC = """
    session.message_persisted session.runtime_recovery.started session.runtime_recovery.succeeded
    session.runtime_recovery.exhausted sandbox.ready sandbox.sync.after event.pre_record event.post_record
    automation.job.post_fire automation.trigger.post_fire automation.run.completed automation.run.failed
    agent.soul.snapshot.resolved agent.soul.mutation.after agent.heartbeat.policy.resolved
    agent.heartbeat.wake.after session.health.update.after message.delta permission.resolved permission.denied
    task.status_changed loop.started loop.generation.post loop.gate.post loop.node.terminal loop.terminal
    session.attention.changed network.thread.opened network.direct_room.opened network.message.persisted
    network.work.opened network.work.transitioned network.work.closed network.peer.joined network.peer.left
    network.participation.resolved window_manager.layout.applied window_manager.desktop.created
    window_manager.desktop.deleted window_manager.window.moved window_manager.window.opened
    window_manager.window.closed window_manager.stack.grouped window_manager.stack.ungrouped
    window_manager.stack.activated worktree.created worktree.adopted worktree.removed
"""
SYNC_EVENTS: tuple[str, ...] = tuple(_SYNC.split())
ASYNC_EVENTS: tuple[str, ...] = tuple(_ASYNC.split())
EVENTS = frozenset(SYNC_EVENTS + ASYNC_EVENTS)
SYNC_ELIGIBLE = frozenset(SYNC_EVENTS)

_WORKSPACE = "workspace_id workspace_root"
_AGENT_WORKSPACE = f"agent_name {_WORKSPACE} worktree_id"
_TASK = "agent_name workspace_id task_id run_id workflow_id participation_channel release_reason"
# What a matcher may name, per family of events (the table of formats §8.4).
_FAMILIES: dict[str, frozenset[str]] = {
    family: frozenset(words.split())
    for family, words in {
        "session": f"{_AGENT_WORKSPACE} session_type",
        "sandbox": f"{_AGENT_WORKSPACE} sandbox_id sandbox_backend sandbox_profile sync_direction",
        "input": f"{_AGENT_WORKSPACE} input_class",
        "prompt": f"{_AGENT_WORKSPACE} input_class",
        "turn": f"{_AGENT_WORKSPACE} input_class",
        "event": "agent_name worktree_id acp_event_type turn_id",
        "automation": "agent_name workspace_id",
        "agent": _AGENT_WORKSPACE,
        "agent.narrow": "agent_name workspace_id",
        "tool": f"{_AGENT_WORKSPACE} tool_id tool_read_only",
        "permission": f"{_AGENT_WORKSPACE} tool_name decision_class",
        "coordinator": f"agent_name {_WORKSPACE} task_id run_id workflow_id participation_channel "
        "coordinator_session_id",
        "task": _TASK,
        "task.run": f"{_TASK} loop_run_id",
        "loop": "agent_name workspace_id task_id run_id loop_run_id loop_name node_id workflow_id "
        "participation_channel",
        "spawn": f"agent_name {_WORKSPACE} task_id run_id workflow_id participation_channel parent_session_id "
        "root_session_id child_session_id spawn_role",
        "message": "worktree_id message_role message_delta_type",
        "context": "worktree_id compaction_reason compaction_strategy",
        "network": "channel surface kind direction work_state",
        "network.participation": "workspace_id channel participation_mode participation_source",
        "window_manager": "workspace_id",
        "worktree": f"{_WORKSPACE} worktree_id",
    }.items()
}
# Three observations of one agent are told without their workspace's root.
_NARROW_AGENT_EVENTS = frozenset(
    {"agent.soul.snapshot.resolved", "agent.soul.mutation.after", "agent.heartbeat.policy.resolved"}
)


def family_of(event: str) -> str:
    """The family an event belongs to."""
    if event in _NARROW_AGENT_EVENTS:
        return "agent.narrow"
    for family in ("task.run", "network.participation"):
        if event.startswith(family + "."):
            return family
    return event.split(".", 1)[0]


def matcher_fields(event: str) -> frozenset[str]:
    """The matcher fields an event understands."""
    return _FAMILIES[family_of(event)]


def usable_in_agents(event: str) -> bool:
    """Whether a hook in AGENT.md, which always carries the agent's name, can wait for the event."""
    return "agent_name" in matcher_fields(event)
