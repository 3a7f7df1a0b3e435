"""Where callbacks may go. Whatever is refused has opened no socket."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from metacog import egress

WRITTEN = [
    # loopback, in every way a resolver takes it
    "http://127.0.0.1/",
    "http://127.0.0.1:8000/",
    "http://127.255.255.254/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7F.1/",
    "http://0x7f.0x0.0x0.0x1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://127.0.0.01/",
    "http://127.000.000.001/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://127｡0｡0｡1/",
    "http://127.0.0.1./",
    "http://127.0.0.1../",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1%2f/",
    "http://127.0.0.1%00.example.org/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "http://[::]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::FFFF:7F00:1]/",
    "http://[0:0:0:0:0:ffff:7f00:0001]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001::1]/",
    "http://[::1%25lo]/",
    "http://[::1%lo]/",
    "http://::1/",
    "http://[127.0.0.1]/",
    "http://[v1.127]/",
    # private
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://192.168.1.1:8080/",
    "http://167772161/",
    "http://0xc0a80001/",
    "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[2002:a00:1::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fec0::1]/",
    # link-local and the clouds' metadata
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.0.1/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.16689662/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[febf::1]/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://100.100.100.200/",
    # carriers' NAT, multicast, reserved, documentation, benchmarking, relays
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://192.0.2.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://192.88.99.1/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[2001:2::1]/",
    "http://[2001:10::1]/",
    "http://[3ffe::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    "http://[4000::1]/",
    # not an address to send to at all
    "http://user@93.184.215.14/",
    "http://93.184.215.14@127.0.0.1/",
    "http://93.184.215.14\\@127.0.0.1/",
    "http://127.0.0.1\\@93.184.215.14/",
    "http://agent.example.org./",
    "http://.example.org/",
    "http://agent..example.org/",
    "http://-agent.example.org/",
    "http://" + "a" * 64 + ".example.org/",
    "http://" + "a." * 130 + "org/",
    "http://bücher.example/",
    "http://xn--/",
    "http://\u212aubernetes.example/",  # the Kelvin sign, which becomes a k
    "http://local\u00adhost/",
    "http://loc\u200balhost/",
    "http://ⓛocalhost/",
    "http://agent.example.org:0/",
    "http://agent.example.org:65536/",
    "http://agent.example.org:８０/",
    "http://agent.example.org:80:80/",
    "http://agent.example.org:-1/",
    "http://agent.example.org /",
    "http://agent.example.org\t/",
    "http://agent.example.org/\r\nHost: 127.0.0.1",
    "http://agent.example.org\x00/",
    "http:///",
    "http:agent.example.org",
    "//agent.example.org/",
    "agent.example.org",
    "",
    "ftp://agent.example.org/",
    "file:///etc/passwd",
    "gopher://agent.example.org:70/",
    "unix:///run/docker.sock",
    "http+unix://%2frun%2fdocker.sock/",
    "javascript:alert(1)",
    "HTTPS://[::1]:443/",
]
RESOLVED = [
    "127.0.0.1",
    "127.8.9.10",
    "10.1.2.3",
    "172.20.0.5",
    "192.168.178.1",
    "169.254.169.254",
    "100.64.1.1",
    "0.0.0.0",
    "224.0.0.251",
    "240.1.1.1",
    "255.255.255.255",
    "192.0.2.44",
    "198.18.3.4",
    "192.88.99.2",
    "168.63.129.16",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:93.184.215.14",
    "::127.0.0.1",
    "64:ff9b::5db8:d70e",
    "64:ff9b:1::1",
    "2002:5db8:d70e::1",
    "2001:0:1::1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff0e::1",
    "2001:db8::2",
]
PUBLIC = ["93.184.215.14", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:2800:21f::1", "2001:4860:4860::8888"]


class Network:
    """Stands where sockets open: answers look-ups, and notes every address that was connected to."""

    def __init__(self) -> None:
        self.names: dict[str, list[list[str]]] = {}  # answers, one look-up after the other
        self.looked_up: list[str] = []
        self.connected: list[tuple[str, int]] = []

    def getaddrinfo(self, host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        self.looked_up.append(host)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        answers = self.names[host]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (text, port, 0, 3 if scope else 0))
            if ":" in text
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, port))
            for text, _, scope in (each.partition("%") for each in answers.pop(0))
        ]

    def socket(self, family: Any, kind: str) -> Any:
        network = self

        class Socket:
            def settimeout(self, seconds: float) -> None:
                pass

            def connect(self, address: tuple[str, int]) -> None:
                network.connected.append(address)
                raise ConnectionRefusedError

            def close(self) -> None:
                pass

        return Socket()


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Any:
    network = Network()
    monkeypatch.setattr(socket, "getaddrinfo", network.getaddrinfo)
    monkeypatch.setattr(socket, "socket", network.socket)
    return network


def why(url: str) -> str:
    with pytest.raises(egress.Failed) as failed:
        egress.request("POST", url, headers={}, content=b"{}")
    return failed.value.why


def test_it_counts_more_than_eighty_ways() -> None:
    assert len(set(WRITTEN)) == len(WRITTEN) > 80


@pytest.mark.parametrize("url", WRITTEN)
def test_it_opens_no_socket_to_a_forbidden_address(url: str, network: Any) -> None:
    assert why(url) in ("address", "forbidden")
    assert network.connected == []
    assert network.looked_up == [], "a resolver would take some of these for addresses"


@pytest.mark.parametrize("address", RESOLVED)
def test_it_opens_no_socket_when_a_name_leads_to_a_forbidden_address(address: str, network: Any) -> None:
    network.names = {"agent.example.org": [[address]]}
    assert why("https://agent.example.org/hook") == "forbidden"
    assert network.connected == []


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "ip6-localhost", "metadata.google.internal"])
def test_it_opens_no_socket_to_a_name_of_this_machine(name: str, network: Any) -> None:
    network.names = {name.lower(): [["127.0.0.1", "::1"]]}
    assert why(f"http://{name}/") == "forbidden"
    assert network.connected == []


@pytest.mark.parametrize(
    "addresses",
    [["93.184.215.14", "127.0.0.1"], ["10.0.0.1", "93.184.215.14"], ["93.184.215.14", "::ffff:127.0.0.1"]],
)
def test_one_bad_address_of_a_name_bars_all(addresses: Any, network: Any) -> None:
    network.names = {"agent.example.org": [addresses]}
    assert why("https://agent.example.org/") == "forbidden"
    assert network.connected == []


def test_an_address_with_a_zone_is_refused(network: Any) -> None:
    network.names = {"agent.example.org": [["2606:2800::1%eth0"]]}
    assert why("https://agent.example.org/") == "forbidden"
    assert network.connected == []


def test_a_name_that_turns_private_after_the_look_up_is_not_asked_again(network: Any) -> None:
    network.names = {"rebind.example.org": [["93.184.215.14"], ["127.0.0.1"]]}
    assert why("https://rebind.example.org/") == "connection"
    assert network.looked_up == ["rebind.example.org"]
    assert network.connected == [("93.184.215.14", 443)]


def test_a_name_that_turned_private_is_refused_at_the_next_attempt(network: Any) -> None:
    network.names = {"rebind.example.org": [["93.184.215.14"], ["127.0.0.1"]]}
    assert why("https://rebind.example.org/") == "connection"
    assert why("https://rebind.example.org/") == "forbidden"
    assert network.connected == [("93.184.215.14", 443)]


def test_every_address_of_a_name_is_tried(network: Any) -> None:
    network.names = {"agent.example.org": [["2606:2800::1", "93.184.215.14", "93.184.215.14"]]}
    assert why("http://agent.example.org:8080/") == "connection"
    assert network.connected == [("2606:2800::1", 8080), ("93.184.215.14", 8080)]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_reached(address: str, network: Any) -> None:
    assert egress.is_public(ip_address(address))
    assert why(f"http://[{address}]/" if ":" in address else f"http://{address}/") == "connection"
    assert network.connected == [(address, 80)]


def test_an_unknown_name_is_told(network: Any) -> None:
    assert why("https://nobody.example.org/") == "name"


@pytest.mark.parametrize(
    ("url", "reached"),
    [
        ("http://127.0.0.1:9000/hook", True),
        ("HTTP://127.0.0.1:9000/", True),
        ("http://127.0.0.1:9001/hook", False),
        ("https://127.0.0.1:9000/hook", False),
        ("http://127.0.0.2:9000/hook", False),
        ("http://127.1:9000/hook", False),
        ("http://2130706433:9000/hook", False),
        ("http://[::ffff:127.0.0.1]:9000/hook", False),
        ("http://localhost:9000/hook", False),
        ("http://Agent.Internal/hook", True),
        ("http://agent.internal:81/hook", False),
        ("https://[::1]:9443/hook", True),
        ("https://[0:0:0:0:0:0:0:1]:9443/hook", True),  # the same address, written at length
    ],
)
def test_what_is_allowed_is_one_scheme_host_and_port(url: str, reached: Any, network: Any, settings: Any) -> None:
    settings.CALLBACK_ALLOW = {"http://127.0.0.1:9000", "http://agent.internal:80", "https://[::1]:9443"}
    network.names = {"localhost": [["127.0.0.1"]], "agent.internal": [["10.0.0.7"]]}
    why(url)
    assert bool(network.connected) is reached
