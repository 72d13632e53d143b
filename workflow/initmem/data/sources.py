"""Sources of a file: a web server or a local path, asked for its bytes, and how that fails."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, url2pathname, urlopen

USER_AGENT = "initmem (+https://arxiv.org/abs/2605.29152)"
CHUNK = 1 << 18
PASSING_STATUS = (408, 425, 429)
"""Answers below 500 after which the same request may do better."""


@dataclass(frozen=True)
class Policy:
    """How patient a download is with one source; the defaults suit a slow university host.

    attempts: tries of a source; a later one goes on where the earlier one was cut.
    first_wait: seconds before the second try; doubled before each further one.
    stall_timeout: seconds without an answer or a byte after which a try is given up.
    minimum_speed: bytes a second, averaged over `stall_timeout`; below it a try is given up.
    """

    attempts: int = 5
    first_wait: float = 2.0
    stall_timeout: float = 30.0
    minimum_speed: float = 10_000.0


DEFAULT_POLICY = Policy()


class SourceError(Exception):
    """A source does not give the file, and would not at another try; the text says why."""


class PassingError(SourceError):
    """A source did not give the file this time."""


class UnreachableError(PassingError):
    """The host cannot be reached: no name, no route, no listener, no trust."""


class StaleError(PassingError):
    """What earlier downloads left cannot be continued: the next try begins anew."""


@dataclass(frozen=True)
class Answer:
    """The bytes of a file from `start` on; `total` is the size of the whole file, if told."""

    chunks: Iterator[bytes]
    start: int
    total: int | None
    labelled_html: bool = False


def ask(source: str, offset: int, policy: Policy) -> AbstractContextManager[Answer]:
    """Open a source; a web server is asked for what follows the first `offset` bytes.

    Entering it, or taking its chunks, raises the SourceError that tells whether to try again.
    """
    if source.lower().startswith(("http://", "https://")):
        return _web_answer(source, offset, policy)
    return _local_answer(_local_path(source))


def _local_path(source: str) -> Path:
    """The path that a file URL or a plain path means."""
    try:
        if "://" not in source:
            return Path(source).expanduser()
        url = urlsplit(source)
    except (RuntimeError, ValueError) as error:
        raise SourceError(f"it is no usable path, {error}") from None
    if url.scheme != "file" or url.netloc not in ("", "localhost"):
        raise SourceError("it is neither an http, https or file:/// address nor a path")
    return Path(url2pathname(url.path))


@contextmanager
def _local_answer(path: Path) -> Iterator[Answer]:
    try:
        if path.exists() and not path.is_file():
            raise SourceError("it is not a file")
        file = path.open("rb")
    except FileNotFoundError:
        raise SourceError("the file is missing") from None
    except OSError as error:
        raise SourceError(plain_words(error)) from None
    with file:
        yield Answer(_chunks(partial(file.read, CHUNK)), 0, os.fstat(file.fileno()).st_size)


@contextmanager
def _web_answer(url: str, offset: int, policy: Policy) -> Iterator[Answer]:
    with _request(url, offset, policy) as response:
        start, total = _extent(response, offset)
        # read1 gives what has come; read would wait for a whole chunk, however slowly it drips.
        chunks = _paced(_chunks(partial(response.read1, CHUNK)), policy)
        labelled_html = response.headers.get_content_type() == "text/html"
        yield Answer(chunks, start, total, labelled_html)


def _request(url: str, offset: int, policy: Policy) -> HTTPResponse:
    """The answer to a GET. Raises the SourceError that fits when there is none of use."""
    headers = {"User-Agent": USER_AGENT} | ({"Range": f"bytes={offset}-"} if offset else {})
    try:
        return urlopen(Request(url, headers=headers), timeout=policy.stall_timeout)
    except HTTPError as error:
        error.close()
        raise _refusal(error) from None
    except URLError as error:
        raise UnreachableError(f"it cannot be reached, {plain_words(error.reason)}") from None
    except (ValueError, InvalidURL):
        # The error itself may quote a password.
        raise SourceError("it is no usable address") from None
    except (OSError, HTTPException) as error:
        raise PassingError(f"it gave no answer, {plain_words(error)}") from None


def _refusal(error: HTTPError) -> SourceError:
    kind: type[SourceError] = SourceError
    if error.code == 416:
        kind = StaleError
    elif error.code >= 500 or error.code in PASSING_STATUS:
        kind = PassingError
    return kind(f"HTTP {error.code} {error.reason}")


def _extent(response: HTTPResponse, offset: int) -> tuple[int, int | None]:
    """Where in the file an answer starts and, if it says so, how many bytes the file has.

    Raises StaleError for a part of the file that does not follow on the `offset` bytes at hand.
    """
    if response.status == 200:
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if length.isdecimal() else None
    if response.status != 206:
        raise PassingError(f"HTTP {response.status} {response.reason}")
    extent = response.headers.get("Content-Range", "")
    if not extent.startswith(f"bytes {offset}-"):
        raise StaleError(f"it gave another part of the file than asked for ({extent or 'unnamed'})")
    total = extent.rpartition("/")[2]
    return offset, int(total) if total.isdecimal() else None


def _chunks(read: Callable[[], bytes]) -> Iterator[bytes]:
    """What `read` gives until it gives nothing; what goes wrong counts as passing."""
    while True:
        try:
            chunk = read()
        except (OSError, HTTPException) as error:
            raise PassingError(f"it broke off, {plain_words(error)}") from None
        if not chunk:
            return
        yield chunk


def _paced(chunks: Iterator[bytes], policy: Policy) -> Iterator[bytes]:
    """The same chunks, until they come too slowly."""
    since, count = time.monotonic(), 0
    for chunk in chunks:
        yield chunk
        count += len(chunk)
        elapsed = time.monotonic() - since
        if elapsed >= policy.stall_timeout:
            if count < policy.minimum_speed * elapsed:
                raise PassingError(f"it was too slow, {count / elapsed / 1000:.1f} kB/s")
            since, count = time.monotonic(), 0


def plain_words(error: object) -> str:
    """What an error says, without its number."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def short_name(source: str) -> str:
    """A source as messages name it: an address without its query and password."""
    if "://" not in source:
        return source
    host, slash, path = source.partition("://")[2].partition("?")[0].partition("/")
    return host.rpartition("@")[2] + slash + path
