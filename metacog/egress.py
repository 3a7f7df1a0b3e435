"""The one way out: an HTTP request to an address that somebody entered, which may be hostile at both ends.

Where it goes is decided when the socket opens: the name is looked up once, every address it has is
checked, and the socket is opened to one of those very addresses, so that no later answer of a name
server counts (DNS rebinding). One deadline holds for everything, and one limit for what is read. Redirects,
proxies, netrc and the environment play no part, since nothing here knows of them. Private addresses are
reached only where `METACOG_CALLBACK_ALLOW` names the origin.
"""

from __future__ import annotations

import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from queue import Empty, SimpleQueue
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import httpcore2
from django.conf import settings

DEADLINE_SECONDS = 10.0
MAX_BODY = 65_536  # bytes of an answer's body that are read
MAX_HEAD = 32_768  # bytes of everything in front of it

Why = Literal["address", "forbidden", "name", "connection", "certificate", "timeout", "answer"]
Address = IPv4Address | IPv6Address

_PORTS = {"http": 80, "https": 443}

# IANA's special-purpose registries, and what clouds keep at addresses that look public. Not
# `ipaddress.is_private` or `is_global`: their answers changed between Python's patch releases, and they
# call public what leads to private places (multicast, NAT64, 6to4, fec0::/10).
_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers' NAT
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host, from inside any of its machines
        "169.254.0.0/16",  # link-local, and the clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
# Everything outside it is loopback, mapped, compatible, translated (NAT64), unique local, link-local,
# site-local, multicast, discarded or not given out.
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # IETF protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries any IPv4 address
        "3ffe::/16",  # 6bone, given back
        "3fff::/20",  # documentation
    )
)

_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
# The last label begins with a letter: one that is a number makes the whole an address to a resolver
# (127.1, 0x7f.1, 2130706433).
_NAME = re.compile(rf"(?=.{{1,253}}\Z)(?:{_LABEL}\.)*(?=[a-z]){_LABEL}", re.ASCII)
# Names that no public name server answers for (RFC 6761, 6762, 8375; ICANN's resolution 2024.07.29.06).
_PRIVATE_NAME = re.compile(r"(?:\A|\.)(?:localhost|local|internal|home\.arpa)\Z")


class Failed(Exception):
    """There was no answer; `why` says in one word what kept it. The request may have arrived nevertheless."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why: Why = why


@dataclass(frozen=True)
class Answer:
    """What came back. The body is as it was sent, never decompressed."""

    status: int
    body: bytes
    is_whole: bool  # False when the limit, the deadline or the other side cut the body short
    retry_after: float = 0.0  # seconds, where the other side says how long to stay away


@dataclass(frozen=True)
class Target:
    """A URL, taken apart once, so that what is checked is what is connected to."""

    scheme: str
    host: str  # a name, or an address in its one canonical form
    port: int
    path: str  # with its query, as it goes over the wire
    address: Address | None  # where the host is none to look up
    is_trusted: bool = False  # the operator's own setting

    @classmethod
    def of(cls, url: str) -> Target:
        """Read a URL; raises Failed("address") for all but the plainest way of writing one."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
            path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=")
            query = quote(parts.query, safe="/%:@!$&'()*+,;=?")
        except ValueError:
            raise Failed("address") from None
        if (
            parts.scheme not in ("http", "https")
            or _UNPRINTABLE.search(url)
            or port == 0
            or "@" in parts.netloc
            # Before anything is put into lower case: the Kelvin sign becomes a k. Names in other
            # scripts are written as xn--….
            or not parts.netloc.isascii()
        ):
            raise Failed("address")
        address = _literal(host, is_bracketed=parts.netloc.startswith("["))
        if address is None and not _NAME.fullmatch(host):
            raise Failed("address")
        return cls(
            parts.scheme,
            str(address) if address else host,
            port or _PORTS[parts.scheme],
            f"{path}?{query}" if query else path,
            address,
        )

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def is_allowed(self) -> bool:
        """Say whether the operator lets this origin be reached although it may not be public."""
        return self.is_trusted or self.origin in settings.CALLBACK_ALLOW


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes = b"",
    seconds: float = DEADLINE_SECONDS,
    most: int = MAX_BODY,
    is_trusted: bool = False,
) -> Answer:
    """Send one request and return the answer, whatever its status; raises Failed when there is none.

    Takes `seconds` at most, however slowly anything drips, and keeps `most` bytes of the body. What is trusted stands
    in the operator's own settings, and may be private; never what anybody entered elsewhere.
    """
    deadline = time.monotonic() + seconds
    target = replace(Target.of(url), is_trusted=is_trusted)
    address = httpcore2.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=target.port,
        target=target.path.encode("ascii"),
    )
    host = target.authority.removesuffix(f":{_PORTS[target.scheme]}")
    sent: dict[bytes | str, bytes | str] = {"Host": host, "Accept-Encoding": "identity", "Connection": "close"}
    sent.update(headers.items())
    with (
        _failures(),
        httpcore2.ConnectionPool(
            ssl_context=_trusted() if target.scheme == "https" else None,
            network_backend=_Door(target, deadline, most + MAX_HEAD),
        ) as pool,
        pool.stream(method, address, headers=sent, content=content) as response,
    ):
        body, is_whole = _read(response, most)
        return Answer(response.status, body, is_whole, _retry_after(response))


def is_public(address: Address) -> bool:
    """Say whether this is an address of the open internet, one host's alone."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def barred(url: str, *, look_up_seconds: float = 0) -> str:
    """Return the origin that must be allowed before this URL is reached; empty where only its name can tell.

    Given some seconds, the name is looked up. One that is not found in that time bars nothing: it may be set up
    later, and is checked again when the socket opens. Empty, too, for what no setting helps: how an address is written
    is checked where it is entered.
    """
    try:
        target = Target.of(url)
    except Failed:
        return ""
    if target.is_allowed:
        return ""
    if target.address is None and _PRIVATE_NAME.search(target.host):
        return target.origin
    if target.address is not None or look_up_seconds:
        try:
            _checked_addresses(target, look_up_seconds)
        except Failed as failed:
            return target.origin if failed.why == "forbidden" else ""
    return ""


def _literal(host: str, is_bracketed: bool) -> Address | None:
    try:
        if is_bracketed and "%" not in host:  # a zone names one of this machine's own networks
            return IPv6Address(host)
        return IPv4Address(host)
    except ValueError:
        return None


def _checked_addresses(target: Target, seconds: float) -> list[Address]:
    """Return the addresses to connect to; one that may not be reached bars them all."""
    found = [target.address] if target.address else _look_up(target, seconds)
    if not target.is_allowed and not all(is_public(address) for address in found):
        raise Failed("forbidden")
    return found


def _look_up(target: Target, seconds: float) -> list[Address]:
    """Ask the system's resolver, in a thread that is left behind when it takes longer than we may wait."""
    answers: SimpleQueue[list[Any] | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, name="look-up", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        raise Failed("timeout") from None
    if isinstance(answer, Exception):
        raise Failed("name") from answer
    addresses: dict[Address, None] = {}  # in the resolver's order, each once
    for family, _, _, _, place in answer:
        # A zone would be cut off here, and with it what makes the address link-local to this machine.
        if family == socket.AF_INET6 and not place[3]:
            addresses[IPv6Address(place[0])] = None
        elif family == socket.AF_INET:
            addresses[IPv4Address(place[0])] = None
        else:
            raise Failed("forbidden")
    if not addresses:
        raise Failed("name")
    return list(addresses)


class _Door(httpcore2.NetworkBackend):
    """Opens the socket of one request."""

    def __init__(self, target: Target, deadline: float, most: int) -> None:
        self._target = target
        self._deadline = deadline
        self._most = most

    def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        """Connect to the target, whatever httpcore names: they are the same."""
        addresses = _checked_addresses(self._target, _left(self._deadline))
        for tries, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            family = socket.AF_INET if address.version == 4 else socket.AF_INET6
            opened = socket.socket(family, socket.SOCK_STREAM)
            try:
                opened.settimeout(_left(self._deadline) / tries)
                opened.connect((str(address), self._target.port))
            except OSError:
                opened.close()
                if tries == 1:
                    raise
            else:
                break
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _Stream(opened, self._deadline, self._most)


class _Stream(httpcore2.NetworkStream):
    """A socket with one deadline for all it does, and a limit on what it reads."""

    def __init__(self, opened: socket.socket, deadline: float, most: int) -> None:
        self._socket = opened
        self._deadline = deadline
        self._most = most

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if not self._most:
            raise Failed("answer")
        self._socket.settimeout(_left(self._deadline))
        data = self._socket.recv(min(max_bytes, self._most))
        self._most -= len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        while rest:
            self._socket.settimeout(_left(self._deadline))
            try:
                rest = rest[self._socket.send(rest) :]
            except TimeoutError:
                raise
            except OSError as error:
                # httpcore then looks for an answer: some refuse early and close.
                raise httpcore2.WriteError(error) from error

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        self._socket.settimeout(_left(self._deadline))
        try:
            self._socket = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except BaseException:
            self._socket.close()
            raise
        return self


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@cache
def _trusted() -> ssl.SSLContext:
    """Return the system's certificate authorities; a process reads them once."""
    return httpcore2.default_ssl_context()


def _read(response: httpcore2.Response, most: int) -> tuple[bytes, bool]:
    """Read the body. The status has come, so nothing that happens from here on changes the outcome."""
    body = b""
    try:
        for part in response.iter_stream():
            body += part
            if len(body) > most:
                break
    except (Failed, OSError, httpcore2.NetworkError, httpcore2.ProtocolError):
        return body[:most], False
    return body[:most], len(body) <= most


def _retry_after(response: httpcore2.Response) -> float:
    """Read the header Retry-After, seconds or a date (RFC 9110, 10.2.3); what cannot be read is 0."""
    said = next((value for name, value in response.headers if name.lower() == b"retry-after"), b"").strip()
    if said.isdigit():
        return float(said[:12])
    try:
        return max(parsedate_to_datetime(said.decode("ascii", "replace")).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


@contextmanager
def _failures() -> Iterator[None]:
    """Name what went wrong in one word."""
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException) as error:
        raise Failed("timeout") from error
    except ssl.SSLCertVerificationError as error:
        raise Failed("certificate") from error
    except (OSError, httpcore2.NetworkError) as error:
        raise Failed("connection") from error
    except httpcore2.ProtocolError as error:
        raise Failed("answer") from error
