"""The way out by mail: one message, one attempt, one deadline."""

from __future__ import annotations

import logging
import smtplib
import socket
import ssl
import threading
from queue import Empty, SimpleQueue

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from metacog.models import Notice

Trouble = Notice.Trouble

DEADLINE_SECONDS = 20.0  # for all of it; every single wait has settings.EMAIL_TIMEOUT

log = logging.getLogger(__name__)


def is_set_up() -> bool:
    """Say whether the operator named a server to send mail through."""
    return bool(settings.MAIL_FROM)


def send(message: EmailMultiAlternatives) -> str:
    """Make one attempt and return the Trouble it met, "" when the server took the message; never raises.

    Returns within DEADLINE_SECONDS, however slowly a server drips: the attempt itself is left behind then.
    """
    answers: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(_attempt(message)), name="mail", daemon=True).start()
    try:
        return answers.get(timeout=DEADLINE_SECONDS)
    except Empty:
        return Trouble.TIMEOUT


def _attempt(message: EmailMultiAlternatives) -> str:
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
        return Trouble.TIMEOUT if isinstance(error.__context__, TimeoutError) else Trouble.CONNECTION
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
        log.exception("A mail could not be sent")
        return Trouble.ERROR
    return ""
