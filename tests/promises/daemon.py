"""Promises of the daemon, its configuration and its client."""

from tests.promises import Promise

_LIFE = "tests/interaction/daemon/test_lifecycle.py::"
_DOWN = "tests/interaction/daemon/test_shutdown.py::"
_HTTP = "tests/interaction/daemon/test_http.py::"
_APP = "tests/unit/daemon/test_application.py::"
_SSE = "tests/unit/daemon/test_sse.py::"
_LOG = "tests/unit/daemon/test_log.py::"
_LOAD = "tests/unit/config/test_load.py::"
_HOME = "tests/unit/config/test_install.py::"
_ENV = "tests/unit/config/test_environment.py::"
_RED = "tests/unit/config/test_redaction.py::"
_CLIENT = "tests/unit/client/test_client.py::"

PROMISES: tuple[Promise, ...] = (
    Promise(
        "daemon-start-ready",
        "contract 1.4",
        "a start is over when a request was answered; socket and TCP say the same",
        _LIFE + "test_a_started_daemon_answers_on_socket_and_tcp_and_says_the_same",
    ),
    Promise(
        "daemon-detached",
        "contract 1.4",
        "the daemon leads a session of its own",
        _LIFE + "test_the_daemon_is_detached_from_its_starter",
    ),
    Promise(
        "daemon-record",
        "contract 1.1",
        "daemon.json names pid, port, start and socket, and is private",
        _LIFE + "test_the_record_names_pid_port_start_and_socket_and_is_private",
    ),
    Promise(
        "daemon-private",
        "contract 1.1",
        "folders 0700, files and socket 0600",
        _LIFE + "test_everything_the_daemon_makes_is_private",
    ),
    Promise(
        "daemon-second",
        "contract 1.4",
        "a second daemon is refused with the pid of the first",
        _LIFE + "test_a_second_daemon_is_refused_with_the_pid_of_the_first",
    ),
    Promise(
        "daemon-lock",
        "contract 1.4",
        "the lock decides races, with the contract's text",
        _LIFE + "test_a_daemon_that_loses_the_race_for_the_lock_says_so_and_touches_nothing",
    ),
    Promise(
        "daemon-stop",
        "contract 1.4",
        "a stop ends the process and removes record and socket",
        _LIFE + "test_stop_ends_the_process_and_removes_record_and_socket",
    ),
    Promise(
        "daemon-stranger",
        "P64",
        "a recorded pid of a stranger is never signalled",
        _LIFE + "test_a_recorded_pid_of_a_stranger_is_never_signalled",
    ),
    Promise(
        "daemon-copied-home",
        "P64",
        "a copied home never controls the daemon of the original",
        _LIFE + "test_a_copied_home_never_controls_the_daemon_of_the_original",
    ),
    Promise(
        "daemon-stale-socket",
        "P65",
        "leftovers of a killed daemon are replaced",
        _LIFE + "test_after_sigkill_the_next_start_replaces_the_leftovers",
    ),
    Promise(
        "daemon-foreign-socket",
        "P65",
        "a socket somebody serves is not taken over",
        _LIFE + "test_a_socket_that_another_program_serves_is_not_taken_over",
    ),
    Promise(
        "daemon-no-socket",
        "contract 1.4",
        "what is no socket is refused and kept",
        _LIFE + "test_a_file_in_place_of_the_socket_is_refused_and_kept",
    ),
    Promise(
        "daemon-long-path",
        "P65",
        "a long path falls back to a short private one that clients find",
        _LIFE + "test_a_home_with_a_long_path_gets_a_short_private_socket_that_clients_find",
    ),
    Promise(
        "daemon-port-taken",
        "issue 2",
        "a taken port is named with the next step",
        _LIFE + "test_a_taken_port_is_named_with_the_next_step",
    ),
    Promise(
        "daemon-foreign-store",
        "D22",
        "a foreign compozy.db is one clear sentence and stays as it is",
        _LIFE + "test_a_database_of_another_program_is_one_clear_sentence_and_stays_untouched",
    ),
    Promise(
        "daemon-bad-home",
        "issue 2",
        "a home that cannot be used is one clear sentence",
        _HOME + "test_a_file_where_a_folder_is_needed_is_one_clear_sentence",
    ),
    Promise(
        "daemon-shutdown-agents",
        "contract 1.4",
        "a stop ends agents and stops sessions with reason shutdown",
        _DOWN + "test_a_stop_during_a_turn_ends_the_agent_and_the_session_says_why",
    ),
    Promise(
        "daemon-shutdown-streams",
        "contract 1.4",
        "open streams end with session_stopped and hold nothing up",
        _DOWN + "test_an_open_stream_ends_with_session_stopped_and_does_not_hold_the_daemon_up",
    ),
    Promise(
        "daemon-sigkill",
        "issue 2",
        "SIGKILL during a turn loses no shown event and leaves no agent",
        _DOWN + "test_a_killed_daemon_leaves_no_agent_after_the_next_start_and_loses_nothing_shown",
    ),
    Promise(
        "daemon-drain",
        "contract 1.4",
        "draining refuses new work with 503 daemon_draining and lets turns go on",
        _DOWN + "test_while_draining_no_session_is_created_and_a_running_turn_goes_on",
    ),
    Promise(
        "http-host",
        "D16",
        "a foreign Host header is refused on TCP",
        _HTTP + "test_a_foreign_host_header_is_refused",
    ),
    Promise(
        "http-origin",
        "contract 1.3",
        "a foreign Origin is refused",
        _HTTP + "test_a_foreign_origin_is_refused",
    ),
    Promise(
        "http-cross-site",
        "contract 1.3",
        "cross-site writes are refused",
        _HTTP + "test_a_cross_site_write_is_refused_and_a_read_is_not",
    ),
    Promise(
        "http-bind",
        "contract 1.3",
        "bound to an open address, the API is 403 on TCP",
        _HTTP + "test_a_daemon_bound_to_an_open_address_serves_the_api_on_the_socket_only",
    ),
    Promise(
        "http-body-limit",
        "contract 1.3",
        "a body above 4 MiB is 413",
        _HTTP + "test_a_body_above_four_mib_is_refused_with_413",
    ),
    Promise(
        "http-unknown-route",
        "D31",
        "unknown routes and methods have the envelope",
        _HTTP + "test_an_unknown_route_and_a_wrong_method_have_the_error_envelope",
    ),
    Promise(
        "http-query-strict",
        "D23",
        "unknown and repeated query parameters are refused on writes only",
        _HTTP + "test_unknown_and_repeated_query_parameters_are_refused_on_writes_and_ignored_on_reads",
    ),
    Promise(
        "http-masked",
        "D23",
        "5xx texts are masked on TCP; the request id leads to the log",
        _APP + "test_a_fault_is_masked_on_tcp_and_its_request_id_leads_to_the_log",
    ),
    Promise(
        "http-strict-body",
        "contract 3.3",
        "a body that does not fit is 400 with the reason",
        _APP + "test_a_body_that_does_not_fit_is_refused_with_the_reason",
    ),
    Promise(
        "http-status",
        "contract 3.6",
        "status has every section its clients read",
        _HTTP + "test_status_has_every_section_its_clients_read",
    ),
    Promise(
        "http-doctor",
        "contract 3.6",
        "the doctor filters and sums up",
        _HTTP + "test_the_doctor_filters_and_sums_up",
    ),
    Promise(
        "sse-keep-alive",
        "contract 3.5",
        "a silent stream sends comments",
        _SSE + "test_a_silent_stream_sends_a_comment_from_time_to_time",
    ),
    Promise(
        "sse-bounded",
        "issue 2",
        "a client that stops reading piles nothing up",
        _SSE + "test_a_client_that_stops_reading_stops_the_iteration_and_piles_nothing_up",
    ),
    Promise(
        "sse-resume",
        "contract 3.5",
        "the client resumes after the last id",
        _SSE + "test_the_client_resumes_a_broken_stream_after_its_last_id",
    ),
    Promise(
        "daemon-descriptors",
        "P63",
        "connections that end rudely leave nothing open",
        "tests/failure/test_daemon_descriptors.py::test_a_thousand_connections_that_end_rudely_leave_nothing_open",
    ),
    Promise(
        "log-rotation",
        "contract 2.2",
        "the log rotates by size and keeps so many backups",
        _LOG + "test_a_full_log_moves_aside_and_only_so_many_backups_stay",
    ),
    Promise(
        "log-redacted",
        "P39",
        "secrets never reach the log",
        _LOG + "test_secrets_never_reach_the_log_not_even_in_an_exception",
    ),
    Promise(
        "config-strict",
        "contract 2.1",
        "every mistake is reported at once with file, line and nearest key",
        _LOAD + "test_every_mistake_of_a_file_is_reported_at_once_with_line_and_nearest_key",
    ),
    Promise(
        "config-removed",
        "contract 2.1",
        "removed provider keys name their replacement",
        _LOAD + "test_a_removed_provider_key_names_what_replaced_it",
    ),
    Promise(
        "config-workspace",
        "D15",
        "an untrusted workspace cannot widen, run or redirect anything",
        _LOAD + "test_an_untrusted_workspace_cannot_widen_run_or_redirect_anything",
    ),
    Promise(
        "config-first-start",
        "D21",
        "the first start writes a default provider and keeps the file's bytes",
        _HOME + "test_the_first_start_adds_a_provider_to_a_written_configuration_and_keeps_its_bytes",
    ),
    Promise(
        "config-install",
        "contract 1.5",
        "install writes the promised values and reports them",
        _HOME + "test_install_writes_the_promised_values_and_reports_them",
    ),
    Promise(
        "config-providers",
        "contract 2.3",
        "the provider table is the contract's plus offline",
        "tests/unit/config/test_providers.py::test_the_table_has_the_rows_of_the_contract_and_the_offline_agent",
    ),
    Promise(
        "config-openai-compatible",
        "D24",
        "provider openai-compatible",
        deferred="issue 5: it comes with its own agent program",
    ),
    Promise(
        "environment-filtered",
        "P40",
        "agents inherit no variable with a secret-looking name",
        _ENV + "test_the_filtered_base_drops_every_secret_name_and_keeps_the_rest",
    ),
    Promise(
        "redaction-json",
        "contract 5.8",
        "redacted JSON is JSON of the same shape",
        "tests/property/test_redaction.py::test_redacted_json_is_json_of_the_same_shape",
    ),
    Promise(
        "redaction-forms",
        "contract 5.8",
        "secrets in the known forms are masked",
        _RED + "test_a_secret_in_a_known_form_is_masked",
    ),
    Promise(
        "bundle-redacted",
        "issue 2",
        "a support bundle is private and tells no secrets",
        "tests/unit/config/test_doctor.py::test_a_support_bundle_is_private_and_tells_no_secrets",
    ),
    Promise(
        "client-unreachable",
        "contract 4.4",
        "without a daemon the error names the next step, exit code 69",
        _CLIENT + "test_without_a_daemon_the_error_names_the_next_step",
    ),
    Promise(
        "client-version",
        "issue 2",
        "every answer names the daemon's version, so that a newer client can say so",
        _HTTP + "test_every_answer_names_the_daemons_version",
    ),
    Promise(
        "daemon-hostile-paths",
        "issue 2, bad input",
        "a path that no file system holds is refused by its field, never a fault",
        "tests/failure/test_hostile_requests.py::test_a_path_that_no_file_system_holds_is_refused_by_its_field",
    ),
    Promise(
        "daemon-hostile-numbers",
        "issue 2, bad input",
        "numbers and times beyond all bounds are refused by name",
        "tests/failure/test_hostile_requests.py::test_numbers_and_times_beyond_all_bounds_are_refused_by_name",
    ),
    Promise(
        "daemon-head-bound",
        "issue 2, bad input",
        "a request head has a bound in bytes and in time",
        "tests/failure/test_hostile_requests.py::test_a_head_without_end_is_cut_at_its_bound",
    ),
    Promise(
        "daemon-body-time",
        "issue 2, bad input",
        "a body that stops coming is given up",
        "tests/failure/test_hostile_requests.py::test_half_a_body_is_given_up_in_time",
    ),
    Promise(
        "daemon-headers-twice",
        "contract 1.3",
        "Host, Origin or Sec-Fetch-Site given twice is refused",
        "tests/failure/test_hostile_requests.py::test_a_header_that_decides_and_is_given_twice_is_refused",
    ),
)
