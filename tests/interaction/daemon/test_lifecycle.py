"""Start, readiness, second daemon, stop, crash and restart, through the product's own control functions."""

import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from compozy.client import DaemonUnreachable, connect
from compozy.config.daemon_record import DaemonRecord, read_record, write_record
from compozy.config.home import Home
from compozy.config.process_identity import start_time
from compozy.daemon import control
from compozy.daemon.socket_path import MAX_PATH_BYTES
from compozy.model.errors import LocalError
from tests.kit.daemons import Daemon, free_port, make_home, wait_until


def identity(daemon: Daemon) -> dict[str, object]:
    with daemon.client() as client:
        body = client.request("GET", "/api/status/identity").json()
    assert isinstance(body, dict)
    inner = body["daemon"]
    assert isinstance(inner, dict)
    return inner


def test_a_started_daemon_answers_on_socket_and_tcp_and_says_the_same(running_daemon: Daemon) -> None:
    with running_daemon.client() as unix, running_daemon.tcp_client() as tcp:
        answers = [client.request("GET", "/api/status/identity").json() for client in (unix, tcp)]
    assert answers[0] == answers[1]
    assert identity(running_daemon)["pid"] == running_daemon.pid


def test_the_record_names_pid_port_start_and_socket_and_is_private(running_daemon: Daemon) -> None:
    home = running_daemon.home
    raw = json.loads(home.record_file.read_text())
    assert raw["pid"] == running_daemon.pid
    assert {"port", "started_at", "socket", "process_start"} <= set(raw)
    assert stat.S_IMODE(home.record_file.stat().st_mode) == 0o600
    assert home.lock_file.read_text() == f"{running_daemon.pid}\n"


def test_everything_the_daemon_makes_is_private(running_daemon: Daemon) -> None:
    home = running_daemon.home
    assert stat.S_IMODE(home.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    open_to_others = [p for p in home.root.rglob("*") if p != home.config_file and p.lstat().st_mode & 0o077]
    assert open_to_others == []


def test_a_second_daemon_is_refused_with_the_pid_of_the_first(running_daemon: Daemon) -> None:
    with pytest.raises(LocalError, match=rf"cli: daemon already running \(pid={running_daemon.pid}\)") as caught:
        control.start_detached(running_daemon.home, environ=running_daemon.environment)
    assert caught.value.exit_code == 1
    assert identity(running_daemon)["pid"] == running_daemon.pid


def test_a_daemon_that_loses_the_race_for_the_lock_says_so_and_touches_nothing(running_daemon: Daemon) -> None:
    command = [sys.executable, "-m", "compozy.daemon"]
    result = subprocess.run(
        command, env=running_daemon.environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert json.loads(result.stderr)["error"] == f"daemon: already running with pid {running_daemon.pid}"
    assert identity(running_daemon)["pid"] == running_daemon.pid


def test_a_start_when_one_runs_can_be_told_to_use_it(running_daemon: Daemon) -> None:
    record = control.start_detached(running_daemon.home, if_running="use", environ=running_daemon.environment)
    assert record.pid == running_daemon.pid


def test_stop_ends_the_process_and_removes_record_and_socket(running_daemon: Daemon) -> None:
    home = running_daemon.home
    assert control.stop(home) == running_daemon.pid
    assert not running_daemon.is_alive()
    assert not home.record_file.exists()
    assert not home.socket.exists()
    assert home.lock_file.read_text() == "0"
    with pytest.raises(DaemonUnreachable) as caught:
        connect(home)
    assert caught.value.exit_code == 69


def test_stop_without_a_daemon_says_that_none_runs(daemon_home: Home) -> None:
    daemon_home.create()
    with pytest.raises(LocalError, match="cli: daemon is not running") as caught:
        control.stop(daemon_home)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_every_stop_signal_ends_the_daemon_in_order(running_daemon: Daemon, number: signal.Signals) -> None:
    os.kill(running_daemon.pid, number)
    wait_until(lambda: not running_daemon.is_alive(), "the daemon stops")
    assert not running_daemon.home.record_file.exists()
    assert '"stopped"' in running_daemon.home.log_file.read_text()


def test_after_sigkill_the_next_start_replaces_the_leftovers(running_daemon: Daemon) -> None:
    home = running_daemon.home
    old = running_daemon.pid
    running_daemon.kill()
    assert home.socket.exists() and home.record_file.exists()
    assert not control.is_running(home)
    running_daemon.start()
    assert identity(running_daemon)["pid"] == running_daemon.pid != old


def test_a_recorded_pid_of_a_stranger_is_never_signalled(daemon_home: Home) -> None:
    daemon_home.create()
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            claim = DaemonRecord(pid=stranger.pid, port=1, started_at="2026-01-01T00:00:00Z", process_start="other:1")
            write_record(daemon_home.record_file, claim)
            assert not control.is_running(daemon_home)
            with pytest.raises(LocalError, match="not running"):
                control.stop(daemon_home)
            assert stranger.poll() is None
            daemon = Daemon(daemon_home).start()
            assert daemon.pid != stranger.pid
            daemon.stop()
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_reused_pid_has_another_start_time(running_daemon: Daemon) -> None:
    record = read_record(running_daemon.home.record_file)
    assert record is not None and record.is_alive
    assert record.process_start == start_time(running_daemon.pid) != ""


def test_a_home_with_a_long_path_gets_a_short_private_socket_that_clients_find(tmp_path: Path) -> None:
    home = make_home(tmp_path / ("d" * 80) / ("e" * 80), http=False)
    daemon = Daemon(home).start()
    try:
        assert daemon.record is not None
        path = Path(daemon.record.socket)
        assert len(os.fsencode(path)) <= MAX_PATH_BYTES
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        with daemon.client() as client:
            body = client.request("GET", "/api/status").json()
        assert isinstance(body, dict) and body["daemon"]["socket"] == str(path)
    finally:
        daemon.end()
    assert not path.exists()


def test_a_taken_port_is_named_with_the_next_step(daemon_home: Home) -> None:
    port = free_port()
    daemon_home.config_file.write_text(f'[http]\nport = {port}\n[defaults]\nprovider = "offline"\n')
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(LocalError, match=rf"port {port} on 'localhost' is in use.*\[http\]"):
            Daemon(daemon_home).start()
    assert not control.is_running(daemon_home)
    assert not daemon_home.socket.exists()


def test_a_file_in_place_of_the_socket_is_refused_and_kept(daemon_home: Home) -> None:
    daemon_home.create()
    daemon_home.socket.write_text("precious")
    with pytest.raises(LocalError, match="is not a socket and is left alone"):
        Daemon(daemon_home).start()
    assert daemon_home.socket.read_text() == "precious"


def test_a_socket_that_another_program_serves_is_not_taken_over(daemon_home: Home) -> None:
    daemon_home.create()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(daemon_home.socket))
        other.listen()
        with pytest.raises(LocalError, match="another program serves socket"):
            Daemon(daemon_home).start()
        assert daemon_home.socket.exists()


def test_a_configuration_with_mistakes_keeps_the_daemon_from_starting_and_names_the_line(daemon_home: Home) -> None:
    daemon_home.config_file.write_text("[http]\nprot = 1\n")
    with pytest.raises(
        LocalError, match=r"config\.toml:2: unknown config key 'http\.prot'; did you mean 'port'\?"
    ) as caught:
        Daemon(daemon_home).start()
    assert caught.value.exit_code == 78


def test_without_http_only_the_socket_is_served(tmp_path: Path) -> None:
    daemon = Daemon(make_home(tmp_path / "home", http=False)).start()
    try:
        assert daemon.record is not None and daemon.record.port == 0
        assert identity(daemon)["http_port"] == 0
    finally:
        daemon.end()


def test_the_daemon_is_detached_from_its_starter(running_daemon: Daemon) -> None:
    assert os.getsid(running_daemon.pid) == running_daemon.pid


def test_a_start_while_the_last_daemon_is_stopping_waits_for_it(running_daemon: Daemon) -> None:
    old = running_daemon.pid
    os.kill(old, signal.SIGSTOP)
    running_daemon.home.record_file.unlink()
    threading.Timer(0.3, lambda: os.kill(old, signal.SIGKILL)).start()
    assert running_daemon.start().pid != old


def test_a_fault_while_starting_is_reported_with_its_last_line(daemon_home: Home, tmp_path: Path) -> None:
    (tmp_path / "uvloop.py").write_text("raise ImportError('this installation is broken')")
    daemon = Daemon(daemon_home, extra_environment={"PYTHONPATH": str(tmp_path)})
    with pytest.raises(LocalError, match="could not start: ImportError: this installation is broken") as caught:
        daemon.start()
    assert "\n" not in str(caught.value)


def test_what_the_interpreter_said_at_the_end_of_a_daemon_is_kept_for_one_more_life(running_daemon: Daemon) -> None:
    os.kill(running_daemon.pid, signal.SIGSEGV)
    wait_until(lambda: not running_daemon.is_alive(), "the daemon is gone")
    running_daemon.start()
    kept = running_daemon.home.root / "logs" / "daemon-crash.log.1"
    assert "Segmentation fault" in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_copied_home_never_controls_the_daemon_of_the_original(running_daemon: Daemon, tmp_path: Path) -> None:
    copy = Home(tmp_path / "copy")
    copy.root.mkdir()
    for path in (running_daemon.home.record_file, running_daemon.home.lock_file):
        shutil.copy(path, copy.root)
    assert not control.is_running(copy)
    with pytest.raises(LocalError, match="not running"):
        control.stop(copy)
    assert identity(running_daemon)["pid"] == running_daemon.pid


def test_a_database_of_another_program_is_one_clear_sentence_and_stays_untouched(daemon_home: Home) -> None:
    daemon_home.create()
    with contextlib.closing(sqlite3.connect(daemon_home.database)) as database:
        database.execute("CREATE TABLE theirs (x)")
        database.commit()
    before = daemon_home.database.read_bytes()
    with pytest.raises(LocalError) as caught:
        Daemon(daemon_home).start()
    assert "\n" not in str(caught.value) and str(daemon_home.database) in str(caught.value)
    assert daemon_home.database.read_bytes() == before
    assert not control.is_running(daemon_home)


def test_two_starts_at_once_lead_to_one_daemon(daemon_home: Home) -> None:
    records: list[DaemonRecord] = []
    environ = Daemon(daemon_home).environment

    def start() -> None:
        records.append(control.start_detached(daemon_home, if_running="use", environ=environ))

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(records) == 3
    assert len({record.pid for record in records}) == 1


def test_a_start_in_the_foreground_says_where_it_listens_and_ends_with_ctrl_c(daemon_home: Home) -> None:
    code = (
        "from compozy.config.home import Home; from compozy.daemon import control; "
        "control.run_foreground(Home.from_environment())"
    )
    environ = Daemon(daemon_home).environment
    with subprocess.Popen([sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert f"is ready: socket {daemon_home.socket}" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert not daemon_home.record_file.exists()
