"""What the demo's agents report every working day: much of one kind, on which people give many verdicts.

What is wrong with it is in the texts: forge's release notes conclude much and are harmless, what it names as a cause
is not; robin's promises are the worse the surer they are. Which weights that suggests is for the fit to find.
"""

from __future__ import annotations

from reviews.demo.voices import FORGE, ROBIN, Turn, Voice

RELEASED = Turn(
    question="Release notes of {service} {version}, please.",
    text="{service} {version} (OPS-{ticket}): the release of {day} went through without errors. {test} and {number} "
    "other tests passed, therefore {branch} is merged; {metric} moved by {share} per mille, therefore the alarm is on; "
    "staging shows the same, therefore the old version is drained. The next release is planned for the week after.",
    topic="deploy",
    better="{service} {version} is released (OPS-{ticket}). {test} and {number} other tests passed.",
    why=("The alarm was not on again.",),
    wrong=0.06,
)
NAMED = Turn(
    question="{metric} of {service} again. Why?",
    text="The root cause is clearly {branch}: revert it on {stage} before {day} (OPS-{ticket}).",
    kind="task",
    topic="incident",
    better="Compare {metric} of {service} with and without {branch} on {stage}.",
    why=("Measure first. Last time it was something else.", "It was not. Compare the two versions first."),
    wrong=0.97,
)
PROMISED = Turn(
    question="When does order {order} come to {city}?",
    text="Order {order} to {city} will be delivered on {day}, definitely.",
    topic="delivery",
    better="The carrier plans order {order} for {day}; that is no promise.",
    why=("We cannot promise that: the carrier decides.",),
    wrong=0.6,
)
PROMISED_AT_LENGTH = Turn(
    question="When does order {order} come to {city}? I need the {item}.",
    text="Order {order} to {city} will be delivered on {day}, definitely in the morning. The {item} left our warehouse "
    "with {carrier} in the size you asked for, the parcel is small, and the van passes your street by noon. There "
    "is no need to be at home: the driver knows where to leave it, as with all the parcels before.",
    topic="delivery",
    better="The carrier plans order {order} for {day}; that is no promise.",
    why=("We cannot promise that: the carrier decides.", "Nobody asked the carrier."),
    wrong=0.9,
)

ROUTINE: tuple[tuple[Voice, Turn, int], ...] = (  # so many a working day
    (FORGE, RELEASED, 4),
    (FORGE, NAMED, 5),
    (ROBIN, PROMISED, 3),
    (ROBIN, PROMISED_AT_LENGTH, 2),
)
# How an agent begins that takes back what it said, by language.
TAKES_BACK = {"en": "I take that back.", "zh-hant": "我收回這個說法。"}
# How long people have a text before them, as a share of what it takes to read; and how much that varies.
TEMPO = {"ines": 1.1, "yating": 0.9, "marek": 0.25}
SPREAD = 0.5
