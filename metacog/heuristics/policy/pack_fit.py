"""Which pack fits an agent: what each would have done with the calls that it made."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..effects.effect import Reading
from ..text.tags import ToolCall
from ..tool_calls.pack import ASKS_ALL, packs, workspace_of
from ..tool_calls.rules import Judged, Rules
from .call_rules import rules_of
from .policy import Policy

NONE = ""  # the policy without a pack
ENOUGH = 50  # calls, to say which pack fits
# Of those that ask about as many, the first is the one that fits: the stricter stands before what lets more pass.
BY_STRICTNESS = ("read-only", "database", "support", "mail", "operations", "coding-careful", "coding")
AS_MANY = 0.02  # of the calls
MOST_ASKED = 0.9  # of the calls, by a pack that fits


@dataclass
class PackTally:
    """What a policy with this pack would have done with the calls. A call that is scored counts as passed."""

    pack: str
    calls: int = 0
    asked: int = 0
    denied: int = 0

    @property
    def passed(self) -> int:
        return self.calls - self.asked - self.denied


@dataclass
class PackFit:
    """Judges calls under a policy as it would be with each pack alone and with NONE, reading every call once."""

    policy: Policy
    workspace: str | None = None  # the folder of each pack; else that of the policy's own
    tallies: Mapping[str, PackTally] = field(
        default_factory=lambda: {name: PackTally(name) for name in (NONE, *packs())}
    )
    effects: Counter[str] = field(default_factory=Counter)  # calls by what they would do

    def __post_init__(self) -> None:
        self.workspace = self.workspace or workspace_of(self.policy.packs)
        own = {"workspace": self.workspace} if self.workspace else {}
        self._rules: Mapping[str, Rules] = {
            name: rules_of(replace(self.policy, packs=[{"name": name, **own}] if name else ()))
            for name in (NONE, *packs())
        }

    def take(
        self, call: ToolCall, *, is_demanded: bool = False, reading: Reading | None = None
    ) -> Mapping[str, Judged]:
        """Judge and count one call; `is_demanded` has a person asked, whatever would decide else.

        `reading` is what the policy's own rules read, unless another workspace was given.
        """
        reading = reading or self._rules[ASKS_ALL].read(call)
        self.effects.update({effect.effect for effect in reading.effects})
        judged = {name: rules.judge(call, reading) for name, rules in self._rules.items()}
        for name, each in judged.items():
            tally = self.tallies[name]
            tally.calls += 1
            tally.denied += each.do == "deny" and not is_demanded
            tally.asked += each.do == "ask" or is_demanded
        return judged

    @property
    def best(self) -> PackTally | None:
        """Give the pack that fits; see `best`."""
        return best(self.tallies)


def best(tallies: Mapping[str, PackTally]) -> PackTally | None:
    """Give the strictest of the packs that ask about fewest calls; None where none lets a tenth of them pass."""
    found = [tallies[name] for name in BY_STRICTNESS]
    calls, fewest = found[0].calls, min(tally.calls - tally.passed for tally in found)
    if not calls or fewest > MOST_ASKED * calls:
        return None
    return next(tally for tally in found if tally.calls - tally.passed <= fewest + AS_MANY * calls)
