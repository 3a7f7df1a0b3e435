"""Who takes part, what they are held to, and the record of changes; a module for each subject."""

from metacog.models.agents import Agent, AgentKey, AgentState, agent_id
from metacog.models.audit import AppendOnly, AppendOnlyError, AppendOnlyRows, AuditEvent, AuditSeal, AuditUnsealed
from metacog.models.chats import ChatApp, ChatUser
from metacog.models.heartbeat import Heartbeat
from metacog.models.notices import Channel, Notice, PersonNotices, notice_id
from metacog.models.people import Language, MemberGroup, Membership, Role, Team, User
from metacog.models.policies import Policy, TeamRules, seed_parts, seed_release, seed_weights
from metacog.models.push import PersonPush, PushDevice, PushKey
from metacog.models.sign_in import CacheEntry, Identity
from metacog.models.tokens import PersonalToken

__all__ = [
    "Agent", "AgentKey", "AgentState", "AppendOnly", "AppendOnlyError", "AppendOnlyRows", "AuditEvent", "AuditSeal",
    "AuditUnsealed", "CacheEntry", "Channel", "ChatApp", "ChatUser", "Heartbeat", "Identity", "Language", "MemberGroup",
    "Membership", "Notice", "PersonNotices", "PersonPush", "PersonalToken", "Policy", "PushDevice", "PushKey", "Role",
    "Team", "TeamRules", "User", "agent_id", "notice_id", "seed_parts", "seed_release", "seed_weights",
]  # fmt: skip
