"""What happened and what people decided; a module for each subject."""

from reviews.models.corrections import LearnedCorrections, PossibleCorrection, correction_id
from reviews.models.decisions import Approval, Decision, DecisionVerdict, approval_id, decision_id
from reviews.models.deliveries import ChatCard, Delivery, Endpoint, TeamWebhook, delivery_id, webhook_id
from reviews.models.evidence import FittedWeights, Sample, SampleCursor, sample_id
from reviews.models.extensions import ExtensionRequest, extension_id
from reviews.models.figures import DailyFigure, LookFigure, ReviewTimeFigure, SampleFigure
from reviews.models.held import HeldItem, HeldItems, HeldQuestion, Looking, ReviewTerms, SavedView, held_id
from reviews.models.learning import (
    ContrastLook,
    CorrectedResponse,
    LearningCursor,
    PatternOrigin,
    ProposalEvidence,
    ProposalTrial,
    Reflection,
    ShadowMatch,
    SweepCursor,
    reflection_id,
)
from reviews.models.logs import LogImport, LogImportItem, LogImportPart, log_import_id
from reviews.models.research import Research, research_id
from reviews.models.responses import AgentResponse, Signal, response_id
from reviews.models.risk import BudgetDay, LearnedRisk, RiskModel
from reviews.models.search import SearchDocument, SearchDue, SearchProgress
from reviews.models.talk import Asked, Comment, ItemTalk, Mention, TeamAsking, comment_id
from reviews.models.tool_calls import AwaitedCall, CallGrant, CallOutcome, HeldCall

__all__ = [
    "AgentResponse",
    "Approval",
    "Asked",
    "AwaitedCall",
    "BudgetDay",
    "CallGrant",
    "CallOutcome",
    "ChatCard",
    "Comment",
    "ContrastLook",
    "CorrectedResponse",
    "DailyFigure",
    "Decision",
    "DecisionVerdict",
    "Delivery",
    "Endpoint",
    "ExtensionRequest",
    "FittedWeights",
    "HeldCall",
    "HeldItem",
    "HeldItems",
    "HeldQuestion",
    "ItemTalk",
    "LearnedCorrections",
    "LearnedRisk",
    "LearningCursor",
    "LogImport",
    "LogImportItem",
    "LogImportPart",
    "LookFigure",
    "Looking",
    "Mention",
    "PatternOrigin",
    "PossibleCorrection",
    "ProposalEvidence",
    "ProposalTrial",
    "Reflection",
    "Research",
    "ReviewTerms",
    "ReviewTimeFigure",
    "RiskModel",
    "Sample",
    "SampleCursor",
    "SampleFigure",
    "SavedView",
    "SearchDocument",
    "SearchDue",
    "SearchProgress",
    "ShadowMatch",
    "Signal",
    "SweepCursor",
    "TeamAsking",
    "TeamWebhook",
    "approval_id",
    "comment_id",
    "correction_id",
    "decision_id",
    "delivery_id",
    "extension_id",
    "held_id",
    "log_import_id",
    "reflection_id",
    "research_id",
    "response_id",
    "sample_id",
    "webhook_id",
]  # fmt: skip
