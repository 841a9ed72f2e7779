"""Hooks of AGENT.md: conversion to records, then the checks in their fixed order (formats §8)."""

from collections.abc import Mapping

from compozy.documents.decoding import flag_in, map_in, text_in, texts_in
from compozy.documents.environment import env_problems, reference_problems
from compozy.documents.fields import HOOK_EXECUTOR_FIELDS, MATCHER_TEXT_FIELDS
from compozy.documents.hook_events import EVENTS, SYNC_ELIGIBLE, matcher_fields, usable_in_agents
from compozy.documents.patterns import pattern_problem
from compozy.documents.problems import Fix, Path, Problem
from compozy.documents.text import nearest, shown, trim
from compozy.model.definition import HookDeclaration

_EXECUTOR_KINDS = ("subprocess", "native", "wasm")
_INT32 = range(-(2**31), 2**31)


class Hook:
    """One hook on its way: the record, and where its parts stand in the value tree."""

    __slots__ = ("executor_path", "path", "record", "where")

    def __init__(self, record: HookDeclaration, path: Path, executor_path: Path, where: str) -> None:
        self.record = record
        self.path = path
        self.executor_path = executor_path
        self.where = where


def convert(fields: Mapping[str, object], path: Path, where: str, agent_name: str) -> tuple[Hook, list[Problem]]:
    """Turn decoded fields into a record with the agent's name in its matcher; the conversion's own problems."""
    problems: list[Problem] = []
    executor = fields.get("executor")
    nested: Mapping[str, object] = executor if isinstance(executor, dict) else {}
    parts: Mapping[str, object] = fields
    executor_path = path
    if _has_command(nested):
        if _has_command(fields):
            message = f"{where}: declare the command either at the top level or under executor, not both"
            at: Path = (*path, "executor")
            problems.append(Problem(code="hook-executor-mixed", message=message, path=at, part="key"))
        else:
            parts, executor_path = nested, (*path, "executor")
    matcher, problem = _matcher(fields.get("matcher"), (*path, "matcher"), where, agent_name)
    problems += problem
    priority = fields.get("priority")
    if isinstance(priority, int) and priority not in _INT32:
        message = f"{where}.priority {priority} is outside int32 range (-2147483648 to 2147483647)"
        problems.append(Problem(code="hook-priority-range", message=message, path=(*path, "priority")))
        priority = None
    timeout = fields.get("timeout")
    record = HookDeclaration(
        name=trim(text_in(fields, "name")),
        event=trim(text_in(fields, "event")),
        mode=trim(text_in(fields, "mode")),
        enabled=flag_in(fields, "enabled"),
        required=bool(flag_in(fields, "required")),
        priority=priority if isinstance(priority, int) else None,
        timeout_ns=timeout if isinstance(timeout, int) else None,
        matcher=matcher,
        command=text_in(parts, "command"),
        args=texts_in(parts, "args"),
        env=map_in(parts, "env"),
        secret_env=map_in(parts, "secret_env"),
        metadata=map_in(fields, "metadata"),
        executor_kind=trim(text_in(nested, "kind")),
    )
    return Hook(record, path, executor_path, where), problems


def _has_command(fields: Mapping[str, object]) -> bool:
    """Whether one of the two executor forms is used; a blank command does not count (formats §8.2)."""
    if trim(text_in(fields, "command")):
        return True
    return any(fields.get(field.name) for field in HOOK_EXECUTOR_FIELDS if field.name != "command")


def _matcher(value: object, path: Path, where: str, agent_name: str) -> tuple[dict[str, str | bool], list[Problem]]:
    problems = []
    given: Mapping[str, object] = value if isinstance(value, dict) else {}
    matcher: dict[str, str | bool] = {}
    if agent_name:
        matcher["agent_name"] = agent_name
    for name in MATCHER_TEXT_FIELDS:
        item = given.get(name)
        if isinstance(item, bool):
            matcher[name] = item
        elif isinstance(item, str) and trim(item):
            if name == "agent_name":
                if item != agent_name:
                    message = f"{where}: matcher.agent_name must match agent name {shown(agent_name)}; leave it out"
                    at: Path = (*path, "agent_name")
                    fix = Fix(title="write the agent's own name", kind="set_value", text=agent_name)
                    problems.append(Problem(code="hook-matcher-agent", message=message, path=at, fix=fix))
                continue
            matcher[name] = item
    return matcher, problems


def hook_problems(hook: Hook, failed: set[Path]) -> list[Problem]:
    """Validate one converted hook (formats §8.3, after conversion)."""
    record, path, where = hook.record, hook.path, hook.where

    def unusable(name: str) -> bool:
        return (*path, name) in failed

    problems: list[Problem] = []
    if not record.name and not unusable("name"):
        problems.append(
            Problem(code="hook-name-required", message=f"{where}: hook name is required", path=(*path, "name"))
        )
    event = record.event
    if event not in EVENTS and not unusable("event"):
        problems.append(_event_problem(event, path, where))
        # Judged as it will be after the repair.
        event = problems[-1].suggestion
    known_event = event in EVENTS
    problems += _mode_problems(record, path, where, known_event=known_event)
    if record.timeout_ns is not None and record.timeout_ns < 0:
        message = f"{where}.timeout must not be negative"
        problems.append(Problem(code="hook-timeout-negative", message=message, path=(*path, "timeout")))
    problems += _executor_problems(hook, failed)
    if known_event and not unusable("matcher"):
        problems += _matcher_problems(record, event, path, where)
    at = hook.executor_path
    env_at, secret_at = (*at, "env"), (*at, "secret_env")
    problems += env_problems(record.env, env_at, f"{where}.env", refuse_injection=False, secret=False)
    problems += env_problems(record.secret_env, secret_at, f"{where}.secret_env", refuse_injection=False, secret=True)
    problems += reference_problems(record.secret_env, secret_at, f"{where}.secret_env", "hooks")
    return problems


def _event_problem(event: str, path: Path, where: str) -> Problem:
    close = nearest(event, sorted(filter(usable_in_agents, EVENTS)))
    message = f"{where}: invalid hook event {shown(event)}"
    if close:
        message = f"{message}: did you mean {shown(close)}?"
    fix = Fix(title=f"write {close}", kind="set_value", text=close) if close else None
    return Problem(code="hook-event-invalid", message=message, path=(*path, "event"), suggestion=close, fix=fix)


def _mode_problems(record: HookDeclaration, path: Path, where: str, *, known_event: bool) -> list[Problem]:
    at: Path = (*path, "mode")
    if record.mode not in ("", "sync", "async"):
        close = nearest(record.mode, ("sync", "async"))
        message = f"{where}: invalid hook mode {shown(record.mode)}; use sync or async"
        fix = Fix(title=f"write {close}", kind="set_value", text=close) if close else None
        return [Problem(code="hook-mode-invalid", message=message, path=at, suggestion=close, fix=fix)]
    problems = []
    if record.required and record.mode != "sync":
        message = f"{where}: hook cannot be required in async mode (async is the default); write `mode: sync`"
        problems.append(Problem(code="hook-required-async", message=message, path=(*path, "required")))
    if record.mode == "sync" and known_event and record.event not in SYNC_ELIGIBLE:
        message = f"{where}: event {shown(record.event)} does not allow sync mode; write `mode: async`"
        fix = Fix(title="write async", kind="set_value", text="async")
        problems.append(Problem(code="hook-sync-not-eligible", message=message, path=at, fix=fix))
    return problems


def _executor_problems(hook: Hook, failed: set[Path]) -> list[Problem]:
    record, path, where = hook.record, hook.path, hook.where
    kind, at = record.executor_kind, (*path, "executor", "kind")
    command_at: Path = (*hook.executor_path, "command")
    if {(*path, "executor"), (*path, "executor", "kind"), (*path, "command"), command_at} & failed:
        return []
    if not kind and not trim(record.command):
        message = f"{where}: executor kind is required; give a command"
        return [Problem(code="hook-executor-required", message=message, path=command_at)]
    if kind and kind not in _EXECUTOR_KINDS:
        close = nearest(kind, _EXECUTOR_KINDS)
        message = f"{where}: invalid hook executor kind {shown(kind)}; use subprocess or wasm"
        return [Problem(code="hook-executor-kind", message=message, path=at, suggestion=close)]
    if kind == "native":
        message = f"{where}: only native sources may use a native executor; use subprocess"
        return [Problem(code="hook-executor-native", message=message, path=at)]
    if kind in ("", "subprocess") and not trim(record.command):
        message = f"{where}: hook command is required for a subprocess executor"
        return [Problem(code="hook-command-required", message=message, path=command_at)]
    if kind == "wasm" and (trim(record.command) or record.args or record.env or record.secret_env):
        message = f"{where}: command, args, env and secret_env require a subprocess executor"
        return [Problem(code="hook-executor-fields", message=message, path=at)]
    return []


def _matcher_problems(record: HookDeclaration, event: str, path: Path, where: str) -> list[Problem]:
    allowed = matcher_fields(event)
    at: Path = (*path, "matcher")
    problems = []
    wrong = sorted(name for name in record.matcher if name not in allowed)
    if wrong:
        message = f"{where}: matcher fields [{', '.join(wrong)}] are not valid for event {shown(event)}"
        if not usable_in_agents(event):
            message += "; hooks of an agent always match on agent_name, so this event cannot be used in AGENT.md"
            place: Path = (*path, "event")
        else:
            place = (*at, next(name for name in wrong))
        fix = Fix(title=f"remove {wrong[0]}", kind="drop") if place[-1] in wrong else None
        problems.append(Problem(code="hook-matcher-field", message=message, path=place, fix=fix))
    for name, value in record.matcher.items():
        if isinstance(value, str) and (reason := pattern_problem(value)):
            message = f"{where}.matcher.{name}: {shown(value)} is not a well-formed pattern: {reason}"
            problems.append(Problem(code="hook-matcher-pattern", message=message, path=(*at, name)))
    return problems
