"""What each subject wants of a language: a group of lists and expressions, all of which every language gives.

A language that has nothing to say gives the empty value: "", (), {} or frozenset(). An expression (`str`) is regular
and becomes one alternative beside those of the other languages, so it numbers and names no groups but those asked for.
Names that end in `_within` are of scripts without blanks between words. All is folded as `shadow.fold` does it (small
letters, simplified characters, half-width signs, "'" for every apostrophe); only the words of being stuck see a text as
`words.lowered` leaves it, in either Chinese script and full width.
"""

from collections.abc import Mapping
from typing import NamedTuple

Wordings = Mapping[str, Mapping[str, str]]  # by BCP 47 language, as in MARKS


def listed(words: str) -> tuple[str, ...]:
    """Part words with blanks between; in a word "_" stands for a blank."""
    return tuple(word.replace("_", " ") for word in words.split())


def pairs(words: str) -> tuple[tuple[str, str], ...]:
    """Part pairs as words, with a slash within each."""
    return tuple((one, other) for one, _, other in (pair.partition("/") for pair in listed(words)))


def one_of(words: str) -> str:
    """Give an expression for one of the words, which may be expressions themselves."""
    return f"(?:{'|'.join(listed(words))})"


class StuckWords(NamedTuple):
    """How an agent says that it is stuck, how a user asks it to think twice, and how it is asked back (seed 002)."""

    exhaustion: tuple[str, ...]
    uncertainty: tuple[str, ...]
    scope_creep: tuple[str, ...]
    # Before or behind such a phrase, in its clause, where it is not meant of here and now.
    not_meant_before: tuple[str, ...]
    not_meant_behind: tuple[str, ...]
    condition: tuple[str, ...]  # in the same sentence: what is done then is a plan
    rationale: tuple[
        str, ...
    ]  # a new approach for which a reason is given is no scope creep ("without clear rationale")
    # What ends right before a phrase of this language: who is stuck instead, or that nobody is.
    somebody: str
    denied: str
    said_by: str  # whose words they are that follow: "the user writes: I'm stuck"
    not_claimed: str
    # Idioms that are said of anybody: the agent's own where it says so, or where nobody is named; nobody's where they
    # describe what follows.
    idioms: tuple[str, ...]
    own_before: str
    describing: tuple[str, ...]
    goes_on: str  # right behind a phrase, what makes another of it: "start over here"
    # Behind a phrase that begins with one of these, that the matter is so for others.
    matter: tuple[str, ...]
    for_others: str
    # How a phrase ends that is meant only where it opens its clause, and what may stand before it there.
    to_open_a_clause: tuple[str, ...]
    opens_a_clause: tuple[str, ...]
    # A clause asks to think twice when it is nothing but this, what may lead to it, and what may follow.
    think_twice: str
    in_think_twice: tuple[str, ...]  # one of these stands in each of them
    leads: str
    tails: str
    not_asked: str  # clauses that go on behind it as advice for later, or as the idiom
    mentioned: str  # before a colon: words behind it nobody says, they are to be translated, printed or explained
    codes: str  # what stands before the number of an error
    durations: str  # of a command's output: how long something took
    labels: Wordings
    prompts: Mapping[str, str]


class BriefWords(NamedTuple):
    """What binds in a user's message, and the brief for a fresh sub-agent (seed 002)."""

    binds: str  # what may not be done, or must be; in any case and width
    wordings: Wordings


class CompletionWords(NamedTuple):
    """How an agent says that something is done, here and now."""

    done: str
    stated: str  # what ends right before it, where it counts only there; "" where it counts anywhere
    taken_back: str  # what takes it back in its clause, before it: a denial, a plan
    condition: str  # and in its sentence
    fails: str  # behind it, in its sentence or the next: what fails is told
    still_fails: str  # anywhere


class ConfidenceWords(NamedTuple):
    """How an agent is told how sure it may be: the sentence, its words for the levels, and what is remembered."""

    wordings: Wordings  # "level" with {level}, and the blank behind it where there is one


class CorrectionWords(NamedTuple):
    """How a person says that something said was wrong, and how an agent admits it (seed 000).

    Each expression is read within one sentence, without quotations; `~` stands for what opens a sentence.
    """

    # type, strength (how often it alone means a correction, as we judge it), expression
    cues: tuple[tuple[str, float, str], ...]
    # Denies what the agent said, where the group `denied` stands in it.
    denies: tuple[str, ...]
    puts_right: str  # before another value of the kind that the agent gave: "actually 14"
    openings: str  # interjections that may stand before what opens a sentence
    not_meant: str  # a sentence that has this asks, supposes, tells of others or of the speaker: no cue in it counts
    no: str
    which: str
    asks_to_choose: str  # without a question mark: whatever is said then is the choice
    # What one of a kind is put right by another of it: Tuesday by Thursday, 120 by 132.
    weekday: str
    month: str
    number: str
    # strength, and what an agent says in its next reply when it was corrected; looked for in the first sentences only
    concessions: tuple[tuple[float, str], ...]
    apology: str  # no part of a mistake, where somebody is corrected twice
    concession_not_meant: str
    # A keyword is not cut inside a number, nor between it and what is counted; what only counts needs its noun, too.
    cut: str
    numerals_within: frozenset[str]
    counters_within: frozenset[str]
    measures_within: frozenset[str]
    no_number_within: frozenset[str]  # before a numeral
    # Characters of grammar, at which no phrase begins or ends; and those beside which a word does.
    opens_badly_within: frozenset[str]
    ends_badly_within: frozenset[str]
    beside_within: frozenset[str]


class ContradictionWords(NamedTuple):
    """What turns a statement round, what softens it, and what sets it in another time (seed 000).

    The kinds are those that surface features can find of de Marneffe, Rafferty and Manning, "Finding Contradictions
    in Text" (2008): negation, antonymy, numbers.
    """

    answers: str  # "No, it is B" says that it is B
    lead_in: str  # how somebody who looked again begins, before what is so
    contrast: str  # "it is B, not A" says that it is B
    # "It is B, not A" and "it is not A but B" deny A as well: what is said of it, and A; and how that is written.
    denies_one: tuple[str, ...]
    denial: str
    but: str  # behind a comma: parts one sentence in two statements
    # The first clause (`head`) states what it states, whatever follows it, unless that turns or limits it; before a
    # reason (`why`) it does in any case.
    heads: tuple[str, ...]
    negated: str
    negated_within: str
    no_negation: str  # cut out first: they hold a negator and deny nothing, or deny it twice
    antonyms: tuple[tuple[str, str], ...]  # words, whatever they end in
    antonyms_within: tuple[tuple[str, str], ...]  # phrases
    # What turns a word round, and how many letters it must have: "input" is not the opposite of "put".
    prefixes: Mapping[str, int]
    # All of them do and some do not contradict each other; some do, or most do, and some do not do not.
    all_of: str
    some_of: str
    most_of: str
    not_all: str
    counted_of: str  # of all that another sentence speaks of: what opens one that tells of so many
    # Expression and replacement: none of what another sentence counts, or nothing where it costs, is read as 0 of it.
    none_of: tuple[tuple[str, str], ...]
    # Groups: who alone, and what they may or do; whoever may or does.
    only: tuple[str, ...]
    whoever: tuple[str, ...]
    # What only joins: it says nothing of the subject.
    stopwords: frozenset[str]
    stop_within: str
    hedge: str
    another: str  # one of several, told apart from the first by nothing else
    bound: str
    cap: str  # of two most one is wrong, of two leasts none
    past: str  # one of two sentences has it: they speak of different times, and both can hold
    when: str  # when something holds: of another time another thing may be so
    condition: str
    reworded: tuple[tuple[str, str], ...]  # expression and replacement: written so, words meet their opposites
    any_more: str  # what is no longer so is not so: the words say nothing else
    this_that: tuple[tuple[str, str], ...]
    # Two that are compared. Groups: one, how it is, the other, and in what; who prefers, one, the other.
    than: tuple[str, ...]
    prefers: tuple[str, ...]
    than_within: tuple[str, ...]
    determiners: str
    there_is: str
    same_thing: frozenset[str]  # before the subject these tell of none but the same thing
    label: str  # before a number: it names instead of counting
    lettered: str  # one of several, by its letter
    no_name: str  # a number right behind a name tells which one, but not behind these
    dated: str  # when a year is the point of the sentence
    month: str  # one of `months`, as a number of its own
    months: tuple[str, ...]
    # An expression with the name of a day, how its number is written, and the number of each, Monday's 1.
    weekday: tuple[tuple[str, str], ...]
    weekdays: Mapping[str, int]
    respelt: tuple[tuple[str, str], ...]  # expression and replacement: other names of a day
    named_times: tuple[tuple[str, str], ...]  # expression and replacement
    # To which hours of each twelve are added, and what twelve becomes.
    halves_within: Mapping[str, tuple[range, int]]
    numerals: Mapping[str, str]
    digits_within: Mapping[str, int]
    tens_within: Mapping[str, int]
    measures_within: frozenset[str]
    # How much of the first a unit is, to compare what is measured in two of one kind.
    scales: tuple[Mapping[str, float], ...]
    # What something happens so often in, in seconds: a rate in one is the same in another. A year has 365 days.
    per: Mapping[str, int]
    rate: str  # before one of these
    not_counted: str  # after a number: no unit of a rate
    retraction: str


class Shape(NamedTuple):
    """The shape of a sentence: the groups "subject" and "value", and "verb" where the verb tells what is said."""

    pattern: str
    relation: str = ""  # as the verb says
    takes_any: bool = False  # else its value is a name, an identifier, or has the definite article before it


class FactWords(NamedTuple):
    """What has one value at a time, and the shapes of sentences that give it."""

    shapes: tuple[Shape, ...]
    verbs: Mapping[str, str]  # by verb, what it says: those with one value say the same
    roles: Mapping[str, str]  # by verb, the part somebody has: Anna owns it, she is the owner of it
    beside: str  # what stands behind or before a value and belongs to none: "… now", "… since May"
    no_value: str  # none, or more than one
    unnamed: str  # before or behind a value, no part of its name
    definite: tuple[str, ...]
    subject_stop: str
    subject_token: str
    subject_stopwords: frozenset[str]
    value_stopwords: frozenset[str]
    regions: frozenset[str]  # one of these holds places, so that who is in it may be in one of them


class ExtensionWords(NamedTuple):
    """What fills a request for more steps without saying anything, and what names a need (seed 003, 2.3)."""

    fillers: tuple[str, ...]  # words that a request may hold and still ask for nothing
    telling: tuple[str, ...]  # can be looked up, and says by itself what about: a need as it stands
    needs: tuple[str, ...]  # can be looked up: with a word beside it that is no filler, a need for data
    holding: tuple[str, ...]  # needs that say of another only that it is written down: log files, 日誌檔案
    asking: tuple[str, ...]  # what a request says about itself beside fillers: no memory holds it
    aim: str  # whose question it is, and that it is to be answered, says nothing of what is missing
    steps: str  # behind a number: how much is asked for, not what
    counted: str  # behind a number: how many, so that it names none of them
    figure: str  # what tells one case from another
    respelt: tuple[tuple[str, str], ...]  # expression and replacement: two ways to write one figure


class QualityWords(NamedTuple):
    """What says how something is said, the shapes of questions, and of what answers them (seed 004, "Self-Monitor")."""

    # Function words, words of politeness, and the verbs a request opens with: not what something is about.
    stopwords: frozenset[str]
    function_within: frozenset[str]
    opening: str  # a sentence that starts like this asks, with or without a question mark
    opening_of_two: str  # so does the first half of one that asks twice, and has a question mark
    asking: str  # or one that has this, and nothing that takes the asking back
    not_asking: str
    second: str  # before a second question inside one sentence
    second_polar: str  # before one that wants a yes or a no, behind one that does not
    answer: str  # what stands before an answer in a list of questions and answers
    tags: frozenset[str]  # questions that ask for assent only, their tokens with or without blanks between
    tag_behind: str  # so does what ends like this, and in one of the following
    tag_ends: tuple[str, ...]
    anything_else: str  # a question that wants no more than to be taken up
    polar_opening: str  # it wants a yes or a no: how it opens, and what it has
    polar: str
    number: str  # it wants a number; what gives one beside digits
    number_words: str
    reason: str
    reason_words: str
    time: str
    time_words: str  # a condition, too
    who: str
    where: str
    yes_or_no: frozenset[str]  # tokens, one of the first three of an answer
    no_decision: str  # begins like one of them and is none
    decides: str  # says yes or no wherever it stands in a sentence
    leads_to_figure: str  # a figure beside a name is a part of it ("an RTX 4070") unless this leads to it: "in 1965"
    one: str  # says little: one of them
    points_back: str  # how a short answer opens that points at what was asked about
    stands_for: str  # what stands for who asks, who answers, or what was asked about, at the beginning
    mine: str  # "Where is my money?", "Your refund is on its way": of the one and the same
    yours: str
    asks_for_a_way: str  # and what tells the steps of one
    steps: str
    courtesy: str  # a question put back to the user that asks for nothing: it defers no answer
    pleasantry: str  # said to everybody, whatever was asked
    # Beside the answer to another question this may answer one for somebody, for a place, for a yes or a no; but not
    # what only explains that other answer.
    names_somebody: str
    names_a_place: str
    states: str
    explains: str
    no_name: str  # how a reply begins that has not named anything yet
    asks_for: str  # what is needed from the user before the question can be answered
    request: str  # in the form of a question
    orders: str  # how somebody begins who wants something made or found: what is given need not speak of it
    asks_to_be_told: str  # or something told of a subject that is named: what is told names it, too
    goes_to_find_out: str  # the answer is on its way, or somebody else is to give it
    refuses: str  # no answer: to refuse one, where nothing behind it gives grounds
    gives_grounds: str
    has_no_answer: str  # an answer, too: there is none, or none is known
    names_a_language: str  # the message names the language that the answer is to have
    hedges: Mapping[str, str]  # what a response is to begin with that may not answer, by BCP 47 language


class ReflectionWords(NamedTuple):
    """What reflection leaves out and says (seed 004)."""

    asking: tuple[str, ...]  # words of asking, which are no subject
    lessons: Wordings  # {subject} and {reason} are somebody's words; counts are whole numbers


class ResearchWords(NamedTuple):
    """How a verdict says what is to be done, what it names and what it counts on; how research asks and answers."""

    need: str  # a verb phrase follows, which is what is to be done
    do: str  # an imperative: what a sentence that asks for something to be done begins with
    ends: str  # behind which the verb phrase is over
    shortest: int  # characters of a verb phrase
    units: str
    no_name: frozenset[str]  # of what is named: words with capitals that name nothing
    questions: Wordings
    advice: Wordings
