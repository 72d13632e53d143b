"""A download takes its name only when it is the file that was asked for, whatever servers do."""

import errno
import fcntl
import hashlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from initmem.data import download
from initmem.data.download import fetch
from initmem.data.sources import Policy
from initmem.errors import UserError
from places import WORKFLOW

CONTENT = random.Random(0).randbytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SIZE = len(CONTENT)
HALF = SIZE // 2
FLIPPED = CONTENT[:1000] + bytes([CONTENT[1000] ^ 1]) + CONTENT[1001:]
PAGE = b"<!DOCTYPE html>\n<html><body>We will be back soon.</body></html>"

QUICK = Policy(attempts=4, first_wait=0.01, stall_timeout=30, minimum_speed=1)

FETCH = """
import sys
from pathlib import Path
from initmem.data.download import fetch
fetch([sys.argv[1]], Path(sys.argv[2]), sys.argv[3])
"""


class Server(ThreadingHTTPServer):
    """Answers each request by the next of its behaviours, the last one for ever."""

    daemon_threads = True

    def __init__(self, *behaviours: Callable) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours = list(behaviours)
        self.ranges: list[str | None] = []
        self.agents: list[str | None] = []
        self.sent: list[int] = []
        self.go_on = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/archive.tar.gz"

    def handle_error(self, request, client_address):
        """A client that hangs up is what many tests are about."""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.ranges.append(self.headers["Range"])
        server.agents.append(self.headers["User-Agent"])
        server.sent.append(0)
        behaviours = server.behaviours
        (behaviours.pop(0) if len(behaviours) > 1 else behaviours[0])(self)

    def begin(self, status: int, **headers) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def send(self, body: bytes) -> None:
        self.wfile.write(body)
        self.server.sent[-1] += len(body)

    def log_message(self, *_):
        pass


def gives(body: bytes, **headers) -> Callable:
    """Answers 200 with these bytes, whatever part was asked for."""

    def answer(handler: Handler) -> None:
        handler.begin(200, **{"Content_Length": len(body)} | headers)
        handler.send(body)

    return answer


def gives_without_length(body: bytes) -> Callable:
    def answer(handler: Handler) -> None:
        handler.begin(200)
        with suppress(OSError):
            handler.send(body)

    return answer


def refuses(status: int) -> Callable:
    return lambda handler: handler.send_error(status)


def gives_rest(handler: Handler) -> None:
    """Answers a Range as a good server does."""
    asked = handler.headers["Range"]
    if asked is None:
        return gives(CONTENT)(handler)
    start = int(asked.removeprefix("bytes=").removesuffix("-"))
    if start >= SIZE:
        return handler.send_error(416)
    extent = f"bytes {start}-{SIZE - 1}/{SIZE}"
    handler.begin(206, Content_Length=SIZE - start, Content_Range=extent)
    return handler.send(CONTENT[start:])


def gives_wrong_part(handler: Handler) -> None:
    handler.begin(206, Content_Length=10, Content_Range=f"bytes 0-9/{SIZE}")
    handler.send(CONTENT[:10])


def breaks_off(handler: Handler) -> None:
    handler.begin(200, Content_Length=SIZE)
    handler.send(CONTENT[:HALF])


def hangs_up(handler: Handler) -> None:
    handler.close_connection = True


def falls_silent(handler: Handler) -> None:
    breaks_off(handler)
    handler.server.go_on.wait(60)


def gives_later(handler: Handler) -> None:
    handler.server.go_on.wait(60)
    gives(CONTENT)(handler)


def drips(handler: Handler) -> None:
    handler.begin(200, Content_Length=SIZE)
    until = time.monotonic() + 30
    with suppress(OSError):
        while time.monotonic() < until and not handler.server.go_on.wait(0.05):
            handler.send(b"x")


@pytest.fixture
def serve(monkeypatch):
    """Starts a server on this machine that behaves as told."""
    monkeypatch.setenv("no_proxy", "*")
    servers = []

    def start(*behaviours: Callable) -> Server:
        server = Server(*behaviours)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.go_on.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "data" / "archive.tar.gz"


def part_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.part")


def leave_part(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True)
    part_of(target).write_bytes(content)


def is_there_alone(target: Path) -> bool:
    """Whether the target is whole and nothing temporary lies beside it."""
    return target.read_bytes() == CONTENT and list(target.parent.iterdir()) == [target]


def why_not(target: Path, *sources: str, size: int | None = SIZE, policy: Policy = QUICK) -> str:
    """The message of a fetch that has to fail, and that leaves nothing at the final name."""
    with pytest.raises(UserError) as caught:
        fetch(sources, target, SHA256, size, policy)
    assert not target.exists()
    return str(caught.value)


def wait_until(condition: Callable[[], bool]) -> None:
    patience = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < patience
        time.sleep(0.01)


def start_fetch(url: str, target: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", FETCH, url, str(target), SHA256]
    return subprocess.Popen(command, cwd=WORKFLOW, stdout=subprocess.PIPE, text=True)


def test_a_file_comes_whole_and_leaves_nothing_beside_it(serve, target):
    server = serve(gives(CONTENT))
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert server.ranges == [None]
    assert server.agents[0].startswith("initmem")


def test_a_checksum_alone_is_enough_and_may_have_capitals(serve, target):
    fetch([serve(gives_without_length(CONTENT)).url], target, SHA256.upper())
    assert is_there_alone(target)


def test_a_server_that_is_busy_is_asked_again(serve, target):
    server = serve(refuses(503), refuses(429), gives(CONTENT))
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert len(server.ranges) == 3


def test_a_server_that_stays_down_is_an_error_and_the_next_call_works(serve, target):
    server = serve(refuses(503))
    assert "HTTP 503 Service Unavailable (tries: 4)" in why_not(target, server.url)
    assert list(target.parent.iterdir()) == []
    server.behaviours = [gives(CONTENT)]
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)


def test_a_server_that_hangs_up_without_an_answer_is_asked_again(serve, target):
    server = serve(hangs_up, gives(CONTENT))
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert len(server.ranges) == 2


def test_a_file_that_a_server_does_not_have_is_asked_for_once(serve, target):
    server = serve(refuses(404))
    assert "HTTP 404 Not Found" in why_not(target, server.url)
    assert len(server.ranges) == 1


def test_waits_between_tries_double(serve, target, monkeypatch):
    waits = []
    monkeypatch.setattr(download.time, "sleep", waits.append)
    why_not(target, serve(refuses(500)).url, policy=Policy(attempts=4, first_wait=2))
    assert waits == [2, 4, 8]


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/gzip"])
@pytest.mark.parametrize("size", [SIZE, None])
def test_an_html_page_with_status_200_is_never_kept_and_named_as_such(serve, target, kind, size):
    server = serve(gives(PAGE, Content_Type=kind))
    assert "gave an HTML page instead of the file" in why_not(target, server.url, size=size)
    assert list(target.parent.iterdir()) == []


def test_an_html_page_does_not_cost_what_is_already_there(serve, target):
    leave_part(target, CONTENT[:HALF])
    server = serve(gives(PAGE))
    why_not(target, server.url)
    server.behaviours = [gives_rest]
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert server.ranges[-1] == f"bytes={HALF}-"


def test_an_archive_that_is_labelled_as_html_is_taken(serve, target):
    fetch([serve(gives(CONTENT, Content_Type="text/html")).url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)


def test_a_cut_download_is_continued_where_it_was_cut(serve, target):
    server = serve(breaks_off, gives_rest)
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert server.sent == [HALF, SIZE - HALF]


def test_a_cut_download_is_continued_from_the_next_mirror(serve, target):
    bad, good = serve(breaks_off, refuses(404)), serve(gives_rest)
    fetch([bad.url, good.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert good.sent == [SIZE - HALF]


def test_a_silent_server_is_given_up_and_what_came_is_continued(serve, target):
    server = serve(falls_silent, gives_rest)
    fetch([server.url], target, SHA256, SIZE, Policy(4, 0.01, stall_timeout=1, minimum_speed=1))
    assert is_there_alone(target)
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_a_server_that_ignores_the_range_sends_all_anew(serve, target):
    server = serve(breaks_off, gives(CONTENT))
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert server.sent == [HALF, SIZE]


@pytest.mark.parametrize("answer", [gives_wrong_part, refuses(416)])
def test_a_range_that_is_not_answered_as_asked_means_to_begin_anew(serve, target, answer):
    leave_part(target, CONTENT[:HALF])
    server = serve(answer, gives_rest)
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert server.ranges == [f"bytes={HALF}-", None]


@pytest.mark.parametrize("left", [FLIPPED[:HALF], FLIPPED, CONTENT + b"x"])
@pytest.mark.parametrize("size", [SIZE, None])
def test_wrong_bytes_of_an_earlier_download_are_not_held_against_a_server(
    serve, target, left, size
):
    leave_part(target, left)
    fetch([serve(gives_rest).url], target, SHA256, size, QUICK)
    assert is_there_alone(target)


def test_a_complete_download_that_was_not_yet_renamed_needs_no_server(target):
    leave_part(target, CONTENT)
    fetch(["http://127.0.0.1:1/archive.tar.gz"], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)


def test_a_slow_drip_ends_in_bounded_time(serve, target):
    started = time.monotonic()
    policy = Policy(attempts=2, first_wait=0.01, stall_timeout=0.3, minimum_speed=1e6)
    reason = why_not(target, serve(drips).url, policy=policy)
    assert "too slow" in reason and "(tries: 2)" in reason
    assert time.monotonic() - started < 20


def test_a_flipped_byte_sends_on_to_the_next_mirror(serve, target):
    bad, good = serve(gives(FLIPPED)), serve(gives(CONTENT))
    fetch([bad.url, good.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert (len(bad.ranges), good.ranges) == (1, [None])


@pytest.mark.parametrize("size", [SIZE, None])
@pytest.mark.parametrize("body", [FLIPPED, CONTENT[:-1], CONTENT + b"x"])
def test_wrong_bytes_are_never_kept(serve, target, body, size):
    reason = why_not(target, serve(gives(body)).url, size=size)
    assert "another SHA-256" in reason or f"has {len(body)} bytes instead of {SIZE}" in reason
    assert list(target.parent.iterdir()) == []


def test_a_file_of_another_size_does_not_cost_what_is_already_there(serve, target):
    leave_part(target, CONTENT[:HALF])
    reason = why_not(target, serve(gives(CONTENT + b"x")).url)
    assert f"has {SIZE + 1} bytes instead of {SIZE}" in reason
    assert part_of(target).read_bytes() == CONTENT[:HALF]


def test_of_too_many_bytes_no_more_are_taken_than_the_file_has(serve, target):
    server = serve(gives_without_length(CONTENT * 40))
    assert f"sent more than {SIZE} bytes" in why_not(target, server.url)
    assert server.sent[0] < 40 * SIZE
    assert list(target.parent.iterdir()) == []


def test_a_local_copy_is_taken_as_url_as_path_and_from_the_home(tmp_path, target, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    copy = tmp_path / "my copy.tar.gz"
    copy.write_bytes(CONTENT)
    for source in (copy.as_uri(), str(copy), "~/my copy.tar.gz"):
        fetch([source], target, SHA256, SIZE, QUICK)
        assert is_there_alone(target)
        target.unlink()
    assert copy.read_bytes() == CONTENT


def test_a_wrong_local_copy_is_refused_and_left_alone(tmp_path, target):
    copy = tmp_path / "copy.tar.gz"
    copy.write_bytes(FLIPPED)
    assert f"{copy}: its file has another SHA-256" in why_not(target, str(copy))
    copy.write_bytes(PAGE)
    assert f"{copy}: it gave an HTML page" in why_not(target, copy.as_uri())
    assert copy.read_bytes() == PAGE


def test_a_missing_local_copy_is_named_and_does_not_cost_what_is_already_there(tmp_path, target):
    leave_part(target, CONTENT[:HALF])
    missing, folder = tmp_path / "no.tar.gz", tmp_path
    reason = why_not(target, missing.as_uri(), str(missing), str(folder))
    assert reason.count(f"{missing}: the file is missing") == 2
    assert f"{folder}: it is not a file" in reason
    assert part_of(target).read_bytes() == CONTENT[:HALF]


@pytest.mark.parametrize(
    "source",
    ["ftp://host/a", "file://elsewhere/a", "http://", "http://a b/", "http://[x/", "https://ü/ü"],
)
def test_a_source_that_nothing_can_be_asked_of_is_passed_over(serve, target, monkeypatch, source):
    good = serve(gives(CONTENT)).url
    monkeypatch.setattr(socket, "getaddrinfo", only_this_machine(socket.getaddrinfo))
    fetch([source, good], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)


def only_this_machine(getaddrinfo: Callable) -> Callable:
    """A resolver as a node without a network has it."""

    def resolve(host, *rest):
        if host != "127.0.0.1":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return getaddrinfo(host, *rest)

    return resolve


def test_without_a_network_the_error_comes_after_two_tries(target, monkeypatch):
    waits = []
    monkeypatch.setattr(download.time, "sleep", waits.append)
    monkeypatch.setattr(socket, "getaddrinfo", only_this_machine(socket.getaddrinfo))
    with socket.create_server(("127.0.0.1", 0)) as free:
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/a"
    reason = why_not(target, closed, "http://host.invalid/a", policy=Policy(attempts=9))
    assert "cannot be reached, Connection refused (tries: 2)" in reason
    assert "cannot be reached, Name or service not known (tries: 2)" in reason
    assert waits == [2, 2]


def test_a_good_file_needs_no_server_and_stays_as_it_is(target):
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    before = target.stat()
    fetch(["http://127.0.0.1:1/a"], target, SHA256, SIZE, QUICK)
    after = target.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert is_there_alone(target)


def test_a_wrong_file_under_the_final_name_is_replaced_and_that_is_said(serve, target, capsys):
    target.parent.mkdir()
    target.write_bytes(FLIPPED)
    fetch([serve(gives(CONTENT)).url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert f"{target} has another SHA-256 than expected and is replaced" in capsys.readouterr().out


def test_a_folder_under_the_final_name_is_named(target):
    target.mkdir(parents=True)
    with pytest.raises(UserError, match=r"archive\.tar\.gz cannot be read \(Is a directory\)"):
        fetch([], target, SHA256)


def test_two_processes_at_once_download_once(serve, target):
    server = serve(gives_later)
    first = start_fetch(server.url, target)
    wait_until(lambda: len(server.ranges) == 1)
    second = start_fetch(server.url, target)
    assert "waiting for another process" in second.stdout.readline()
    server.go_on.set()
    assert [p.communicate() and p.returncode for p in (first, second)] == [0, 0]
    assert is_there_alone(target)
    assert len(server.ranges) == 1


def test_whoever_waited_for_a_download_that_failed_downloads_itself(serve, target):
    server = serve(falls_silent, gives_rest)
    first = start_fetch(server.url, target)
    wait_until(lambda: part_of(target).exists() and part_of(target).stat().st_size == HALF)
    second = start_fetch(server.url, target)
    assert "waiting for another process" in second.stdout.readline()
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert second.communicate() and second.returncode == 0
    assert is_there_alone(target)


def test_a_killed_download_is_continued_by_the_next_call(serve, target):
    server = serve(falls_silent, gives_rest)
    process = start_fetch(server.url, target)
    wait_until(lambda: part_of(target).exists() and part_of(target).stat().st_size == HALF)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not target.exists()
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_a_lock_that_its_last_holder_removed_is_taken_anew(serve, target, monkeypatch):
    flock, calls = fcntl.flock, []

    def flock_too_late(file, how):
        flock(file, how)
        calls.append(how)
        if len(calls) == 1:
            Path(file.name).unlink()

    monkeypatch.setattr(fcntl, "flock", flock_too_late)
    fetch([serve(gives(CONTENT)).url], target, SHA256, SIZE, QUICK)
    assert is_there_alone(target)
    assert len(calls) == 2


def test_a_disk_without_locks_still_gets_the_whole_file(serve, target, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    leave_part(target, CONTENT[:HALF])
    server = serve(gives_rest)
    fetch([server.url], target, SHA256, SIZE, QUICK)
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None]


def test_a_full_disk_is_no_fault_of_the_source_and_is_told_as_it_is(serve, target, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        fetch([serve(gives(CONTENT)).url], target, SHA256, SIZE, QUICK)
    assert not target.exists()


def test_how_far_a_download_is_gets_said(serve, target, capsys, monkeypatch):
    monkeypatch.setattr(download, "PROGRESS_EVERY", 0)
    fetch([serve(gives(CONTENT)).url], target, SHA256, SIZE, QUICK)
    assert "archive.tar.gz: 0.3 of 0.3 MB, 100%, " in capsys.readouterr().out


def test_progress_lines_are_seconds_apart(serve, target, capsys):
    fetch([serve(gives(CONTENT)).url], target, SHA256, SIZE, QUICK)
    assert "MB/s" not in capsys.readouterr().out


def test_the_error_is_one_line_with_each_reason_the_checksum_and_the_remedy(serve, target):
    page, gone = serve(gives(PAGE)), serve(refuses(404))
    secret = "http://me:word@127.0.0.1/archive.tar.gz?key=word"
    reason = why_not(target, page.url, gone.url + "?key=word", secret, "/no/such\nfile")
    assert "\n" not in reason and "word" not in reason
    assert f"archive.tar.gz with SHA-256 {SHA256} could not be had" in reason
    assert f"127.0.0.1:{page.server_port}/archive.tar.gz: it gave an HTML page" in reason
    assert f"127.0.0.1:{gone.server_port}/archive.tar.gz: HTTP 404" in reason
    assert "127.0.0.1/archive.tar.gz: it is no usable address" in reason
    assert "/no/such file: the file is missing" in reason
    assert reason.endswith("give its local path in config.yaml as data.<name>.sources")


def test_without_a_source_the_error_says_so(target):
    assert "(no source is given)" in why_not(target)
