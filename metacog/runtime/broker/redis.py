"""kombu's Redis transport, whose worker goes on where Redis did not hear that a task is done."""

from __future__ import annotations

from kombu.transport import redis

from metacog.runtime.broker.room import GivesRoomBack


class QoS(GivesRoomBack, redis.QoS):
    pass


class Channel(redis.Channel):
    QoS = QoS


class Transport(redis.Transport):
    Channel = Channel
