-- Which agents are active, for the facets of the fleet: one entry per agent with active sessions.
CREATE INDEX session_rollup_active ON session_rollup (workspace_id, agent_name) WHERE state = 'active' AND shown = 1;
