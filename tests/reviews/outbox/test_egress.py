"""One request: bounded in time and size, going where it says and nowhere else."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from metacog import egress
from tests.reviews.outbox.receiving import listening

LONGEST = 9.0  # seconds on a busy machine, for what is given up after less than one; unasked it would be ten


def post(url: str, **kwargs: Any) -> egress.Answer:
    return egress.request("POST", url, headers={"Content-Type": "application/json"}, content=b"{}", **kwargs)


def why(url: str, **kwargs: Any) -> str:
    with pytest.raises(egress.Failed) as failed:
        post(url, **kwargs)
    return failed.value.why


def drip(start: bytes, piece: bytes) -> Any:
    """Return a behaviour that sends `start` and then a piece now and again, until the other side hangs up."""

    def behave(handler: Any) -> None:
        handler.wfile.write(start)
        pause = threading.Event()
        while True:
            handler.wfile.write(piece)
            handler.wfile.flush()
            pause.wait(0.02)

    return behave


def flood(start: bytes, piece: bytes) -> Any:
    """Return a behaviour that sends `start` and then pieces as fast as they are taken."""

    def behave(handler: Any) -> None:
        handler.wfile.write(start)
        while True:
            handler.wfile.write(piece)

    return behave


def test_it_sends_the_bytes_and_returns_the_answer(receiver: Any) -> None:
    def answer(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 418 x\r\nContent-Length: 5\r\n\r\nhello")

    receiver.answers = [answer]
    answered = post(receiver.origin + "/快?q=a b&c=%20".replace(" ", "+"))
    assert answered == egress.Answer(418, b"hello", True)
    [seen] = receiver.seen
    assert seen.path == "/%E5%BF%AB?q=a+b&c=%20"
    assert seen.body == b"{}"
    assert seen.headers["host"] == receiver.origin.removeprefix("http://")
    assert seen.headers["content-length"] == "2"
    assert seen.headers["accept-encoding"] == "identity", "nothing here unpacks an answer"
    assert "accept" not in seen.headers
    assert not {"cookie", "authorization", "referer"} & set(seen.headers)


def test_an_answer_without_a_body_is_whole(receiver: Any) -> None:
    assert post(receiver.url) == egress.Answer(204, b"", True)


def test_a_body_that_drips_ends_with_the_deadline(receiver: Any) -> None:
    receiver.then = drip(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", b".")
    began = time.monotonic()
    answer = post(receiver.url, seconds=1.0)
    assert answer.status == 200, "it was taken, whatever comes after"
    assert not answer.is_whole
    assert time.monotonic() - began < LONGEST


@pytest.mark.parametrize(
    "behaviour",
    [drip(b"", b"H"), drip(b"HTTP/1.1 200 OK\r\nX: ", b"x"), drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n")],
    ids=["status", "headers", "continues"],
)
def test_a_head_that_drips_ends_with_the_deadline(receiver: Any, behaviour: Any) -> None:
    receiver.then = behaviour
    began = time.monotonic()
    assert why(receiver.url, seconds=0.4) in ("timeout", "answer")
    assert time.monotonic() - began < LONGEST


def test_silence_ends_with_the_deadline(receiver: Any) -> None:
    silent = threading.Event()
    receiver.then = lambda handler: silent.wait(2 * LONGEST)
    began = time.monotonic()
    assert why(receiver.url, seconds=0.3) == "timeout"
    assert time.monotonic() - began < LONGEST
    silent.set()


def test_a_receiver_that_does_not_read_ends_with_the_deadline(settings: Any) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        settings.CALLBACK_ALLOW |= {origin}
        began = time.monotonic()
        with pytest.raises(egress.Failed) as failed:
            egress.request("POST", origin, headers={}, content=bytes(50_000_000), seconds=0.5)
        assert failed.value.why == "timeout"
        assert time.monotonic() - began < LONGEST


def test_a_look_up_that_hangs_ends_with_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: hanging.wait(2 * LONGEST))
    began = time.monotonic()
    assert why("https://agent.example.org/", seconds=0.2) == "timeout"
    assert time.monotonic() - began < LONGEST
    hanging.set()


def test_a_name_without_an_address_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: [])
    assert why("https://agent.example.org/") == "name"


@pytest.mark.parametrize(
    "start", [b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"]
)
def test_a_huge_body_is_cut_off(receiver: Any, start: Any) -> None:
    receiver.then = flood(start, b"x" * 100_000)
    answer = post(receiver.url)
    assert (answer.status, len(answer.body), answer.is_whole) == (200, 65_536, False)


def test_a_compressed_body_is_not_blown_up(receiver: Any) -> None:
    def answer(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08")

    receiver.answers = [answer]
    assert post(receiver.url).body == b"\x1f\x8b\x08"


@pytest.mark.parametrize(
    "behaviour",
    [
        flood(b"HTTP/1.1 200 OK\r\n", b"X-Header: " + b"x" * 1000 + b"\r\n"),
        flood(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 10_000),
        flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n"),
        lambda handler: None,
    ],
    ids=["many headers", "a long header", "endless continues", "not HTTP", "nothing"],
)
def test_a_head_that_makes_no_sense_or_no_end_is_given_up(receiver: Any, behaviour: Any) -> None:
    receiver.then = behaviour
    assert why(receiver.url, seconds=3) == "answer"


def test_a_redirect_is_not_followed(receiver: Any, another_receiver: Any) -> None:
    def redirect(handler: Any) -> None:
        handler.send_response(307)
        handler.send_header("Location", another_receiver.url)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    receiver.then = redirect
    assert post(receiver.url).status == 307
    assert another_receiver.seen == []


def test_proxies_and_passwords_of_the_environment_play_no_part(
    receiver: Any, another_receiver: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, another_receiver.origin)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login user password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert post(receiver.url).status == 204
    assert "authorization" not in receiver.seen[0].headers
    assert another_receiver.seen == []


def test_a_refused_connection_is_told(receiver: Any, settings: Any) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{closed.getsockname()[1]}"
        settings.CALLBACK_ALLOW |= {origin}
        assert why(origin) == "connection"


# -- certificates ------------------------------------------------------------------------------------


def certify(folder: Path, *, name: str = "", address: str = "", days: int = 1) -> ssl.SSLContext:
    """Return a server's side of TLS, with a certificate for this name or address signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    now = datetime.now(UTC)
    alternative = x509.DNSName(name) if name else x509.IPAddress(ip_address(address))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=3))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


def trusting(folder: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=folder / "certificate.pem")


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path, settings: Any) -> None:
    with listening(certify(tmp_path, address="127.0.0.1")) as receiver:
        settings.CALLBACK_ALLOW |= {receiver.origin}
        assert why(receiver.url) == "certificate"
        assert receiver.seen == []


def test_a_certificate_that_is_vouched_for_is_taken(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(certify(tmp_path, address="127.0.0.1")) as receiver:
        settings.CALLBACK_ALLOW |= {receiver.origin}
        monkeypatch.setattr(egress, "_trusted", lambda: trusting(tmp_path))
        assert post(receiver.url).status == 204
        assert len(receiver.seen) == 1


@pytest.mark.parametrize(
    "fault", [{"address": "127.0.0.2"}, {"name": "localhost"}, {"address": "127.0.0.1", "days": -1}]
)
def test_a_certificate_of_somebody_else_or_of_old_is_refused(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    with listening(certify(tmp_path, **fault)) as receiver:
        settings.CALLBACK_ALLOW |= {receiver.origin}
        monkeypatch.setattr(egress, "_trusted", lambda: trusting(tmp_path))
        assert why(receiver.url) == "certificate"
        assert receiver.seen == []


def test_a_certificate_is_checked_against_the_name_though_the_socket_goes_to_an_address(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(certify(tmp_path, name="agent.example.org")) as receiver:
        port = receiver.origin.rpartition(":")[2]
        there = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", int(port)))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: there)
        monkeypatch.setattr(egress, "_trusted", lambda: trusting(tmp_path))
        settings.CALLBACK_ALLOW |= {f"https://agent.example.org:{port}", f"https://other.example.org:{port}"}
        assert post(f"https://agent.example.org:{port}/hook").status == 204
        assert receiver.seen[0].headers["host"] == f"agent.example.org:{port}"
        assert why(f"https://other.example.org:{port}/hook") == "certificate"


def test_a_handshake_that_never_ends_ends_with_the_deadline(settings: Any) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        origin = f"https://127.0.0.1:{listener.getsockname()[1]}"
        settings.CALLBACK_ALLOW |= {origin}
        began = time.monotonic()
        assert why(origin, seconds=0.3) == "timeout"
        assert time.monotonic() - began < LONGEST


def test_the_usual_authorities_are_trusted_and_names_checked() -> None:
    context = egress._trusted()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
