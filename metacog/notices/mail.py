"""The way out by mail: one message, one attempt, one deadline."""

from __future__ import annotations

import io
import logging
import smtplib
import socket
import ssl
import threading
import time
from contextlib import suppress
from email.utils import make_msgid, parseaddr
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends import smtp
from django.utils.encoding import punycode

from metacog.models import Notice

Trouble = Notice.Trouble

DEADLINE_SECONDS = 20.0  # for all of it
TALK_SECONDS = 18.0  # of it for the talk with the server, which then ends; each wait in it has settings.EMAIL_TIMEOUT
MAX_LINE = 998  # characters, RFC 5322, 2.1.1
MAX_REPLIES = 65_536  # bytes that a server says in one talk

log = logging.getLogger(__name__)


class Mail(EmailMultiAlternatives):
    """A mail whose headers are folded at blanks only, and whose id names no machine."""

    def message(self, **given: Any) -> Any:
        """Make the message under the policy that Django 6 gives, which writes a long address in a header as no address.

        It folds at 78 characters, and what holds no blank it encodes: nobody unsubscribes at =?utf-8?q?….
        """
        self.extra_headers.setdefault("Message-ID", make_msgid(domain=own_name()))  # the same on every attempt
        if "policy" in given:
            given["policy"] = given["policy"].clone(max_line_length=MAX_LINE)
        return super().message(**given)


def is_set_up() -> bool:
    """Say whether the operator named a server to send mail through."""
    return bool(settings.MAIL_FROM)


def own_name() -> str:
    """Return the name this site goes by among mail servers: of METACOG_PUBLIC_URL, else of whoever mail is from.

    Not the machine's own, which is often no name that others know, and nobody's business.
    """
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    with suppress(ValueError):
        ip_address(host)
        host = ""
    return host if host not in ("", "localhost") else punycode(parseaddr(settings.MAIL_FROM)[1].rpartition("@")[2])


def send(message: Mail) -> str:
    """Make one attempt and return the Trouble it met, "" when the server took the message; never raises.

    Returns within DEADLINE_SECONDS. Only a look-up of the server's name that hangs is left behind then.
    """
    answers: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(_attempt(message)), name="mail", daemon=True).start()
    try:
        return answers.get(timeout=DEADLINE_SECONDS)
    except Empty:
        return Trouble.TIMEOUT


def _attempt(message: Mail) -> str:
    try:
        message.send()
    except smtplib.SMTPAuthenticationError:
        return Trouble.SIGN_IN
    except smtplib.SMTPNotSupportedError:
        return Trouble.NO_TLS
    except smtplib.SMTPRecipientsRefused:
        return Trouble.RECIPIENT
    except smtplib.SMTPServerDisconnected as error:
        # What smtplib makes of every failure of the socket.
        if isinstance(error.__context__, _NoEnd):
            return Trouble.NO_SMTP
        return Trouble.TIMEOUT if isinstance(error.__context__, TimeoutError) else Trouble.CONNECTION
    except smtplib.SMTPResponseException as error:
        return Trouble.REFUSED if error.smtp_code > 0 else Trouble.NO_SMTP
    except smtplib.SMTPException:
        return Trouble.REFUSED
    except ssl.SSLCertVerificationError:
        return Trouble.CERTIFICATE
    except TimeoutError:
        return Trouble.TIMEOUT
    except socket.gaierror:
        return Trouble.NAME
    except OSError:
        return Trouble.CONNECTION
    except Exception:  # one message that cannot be sent must not take the others' outcomes with it
        log.exception("An email could not be sent")
        return Trouble.ERROR
    return ""


class Backend(smtp.EmailBackend):
    """Django's, over a talk that ends (settings.EMAIL_BACKEND)."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _TalkOverTLS if self.use_ssl else _Talk


class _Talk(smtplib.SMTP):
    """One with a deadline for all that is said, and a limit on what the server says: smtplib keeps every line of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._deadline = time.monotonic() + TALK_SECONDS
        self._left = MAX_REPLIES
        super().__init__(*args, **kwargs | {"local_hostname": own_name()})

    def send(self, s: Any) -> None:
        self._hurry()
        super().send(s)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = io.BufferedReader(_Replies(self))
        return super().getreply()

    def quit(self) -> tuple[int, bytes]:
        """Say goodbye. Whatever is answered: the message was taken or refused before."""
        try:
            return super().quit()
        except OSError:
            self.close()
            return 221, b""

    def read_into(self, buffer: Any) -> int:
        self._hurry()
        assert self.sock is not None
        count = self.sock.recv_into(buffer, min(len(buffer), self._left))
        self._left -= count
        if not self._left:
            raise _NoEnd
        return count

    def _hurry(self) -> None:
        if self.sock is not None:
            self.sock.settimeout(max(min(self.timeout, self._deadline - time.monotonic()), 0.001))


class _TalkOverTLS(_Talk, smtplib.SMTP_SSL):
    pass


class _Replies(io.RawIOBase):
    """What the server says, for smtplib to read lines of."""

    def __init__(self, talk: _Talk) -> None:
        self._talk = talk

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._talk.read_into(buffer)


class _NoEnd(OSError):
    """The server says more than a mail server has to say."""
