"""English words that say how something is said, not what it is about, and the shapes of English questions."""

# The commonest English function words, the words of politeness, and the verbs a request opens with.
_STOPWORDS = (
    "a about actually after again all also am an and any anything appreciate are as assist assistance at be "
    "because been before being but by can cannot could d day did do does doing don done down each else even ever "
    "every example examples few following for from get give go going good got great had has have having he hello "
    "help her here hers hey hi him his how i if in information into is it its just know let like list ll look m "
    "made make many may me might more most much must my name need needs no nor not now of off ok okay on once one "
    "only or other our out over own please provide question questions re really right s same say see shall she "
    "should so some something sorry still such sure t take tell than thank thanks that the their them then there "
    "these they thing things think this those three to today too two under until up us use used using ve very "
    "want was way we welcome well were what when where whether which while who whom whose why will with would "
    "write yes yet you your"
)
STOPWORDS = frozenset(_STOPWORDS.split())

# A sentence that starts like this asks, with or without a question mark. After "what" and "how" a verb must follow,
# so that "How nice." and "What a day." ask nothing.
OPENING = (
    r"(?:(?:and|but|so|also|then|ok|okay|hi|hello|hey|please|well|tell me(?=[,:]))\b[\s,:]*)*"
    r"(?:(?:what|how|why|when|where|who|which)(?:'s|'re|\s+(?:is|are|was|were|do|does|did|can|could|should|would|will|"
    r"has|have|many|much|long|often|far|old|to))\b"
    r"|(?:what|which)\s+(?:time|day|date|year|kind|type|sort|size|version|colou?r|price|number|page|file|language|one)\s+"
    r"(?:\w+\s+)?(?:is|are|was|were|do|does|did|can|should|will|has|have)\b"
    r"|(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may)\s+(?:i|you|we|they|he|she|it|there|this|"
    r"that|these|those|the|my|your|our)\b)"
)
# So does the first half of a sentence that asks twice and ends in a question mark: "Who wrote it and when was it …?"
OPENING_OF_TWO = (
    r"(?:(?:and|but|so|also|then|ok|okay|hi|hello|hey|please|well)\b[\s,]*)*"
    r"(?:who|which|whose|what(?! (?:i|you|we|they|he|she|it)\b))\s+\w"
)
# A second question inside one sentence: ", and when does it arrive?"
SECOND = (
    r"[,;]?\s+and\s+(?:(?:also\s+)?(?:tell me|let me know|explain|say)\s+)?(?=(?:what|how|why|when|where|who|which)\b)"
    r"|[,;]\s+(?=(?:what|how|why|when|where|who|which)\b)"
)
# So does one that wants a yes or a no, behind one that does not: ", and do you take cards?"
SECOND_POLAR = (
    r"[,;]?\s+and\s+(?:also\s+)?(?=(?:is|are|was|were|do|does|did|can|could|will|should|has|have)\s+"
    r"(?:i|you|we|they|he|she|it|there)\b"
    r"|(?:is|are|was|were|do|does|did|will)\s+[a-z'-]+(?:\s+[a-z'-]+){1,5}\?\s*$)"
)
# What stands before an answer in a list of questions and answers.
ANSWER = r"a|ans|answer"
# Questions that ask for assent only.
TAGS = frozenset(
    (
        *("right", "ok", "okay", "yes", "no", "huh", "correct", "really", "is it", "isn t it", "you know"),
        *("would that work", "what the hell"),
    )
)

# So does what ends like this.
TAG_BEHIND = r"(?:[,;-]|\.\.\.)\s*(?:huh|eh)\?+$|^is that what (?:you(?:'re| are) saying|you mean)\?+$"
# A question that wants no more than to be taken up.
ANYTHING_ELSE = r"\banything else (?:that )?(?:i|we)\b"

POLAR = r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|may|am|isn't|aren't|don't|can't)\b"
NUMBER = (
    r"\bhow\s+(?:many|much|long|old|far|often|tall|big|large|deep|high|fast|soon|heavy|wide|thick|small|short|slow|loud"
    r"|hot|cold|warm|expensive|late|early|close)\b|\bwhen\b|\b(?:what|which)(?:'s|\s+is|\s+are|\s+was|\s+were)?\s+"
    r"(?:(?:the|your|its)\s+)?(?:time|year|date|day|month|percentage|number|age|price)\b|\bwhat\s+(?:do|does|did|will|would)\b.{0,40}\bcost\b"
)
REASON = r"\bwhy\b|\bhow\s+come\b|\bfor\s+what\s+reason\b"

# Asked for a time, a condition is an answer, too.
TIME = r"\bwhen\b"
TIME_WORDS = (
    r"\b(?:when|whenever|once|after|before|until|as soon as|if|unless|today|tomorrow|yesterday|tonight|soon|immediately"
    r"|right away|never|always|noon|midnight|o'clock|daily|weekly|monthly"
    r"|(?:last|next|this|every|each|the) (?:day|night|morning|afternoon|evening|week|weekend|month|quarter|year|spring"
    r"|summer|autumn|fall|winter|century|decade)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|easter|christmas|january|february|march|april|may|june|july|august"
    r"|september|october|november|december"
    r"|(?:at|by|in|within|about|until|since) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|an? (?:moment|while|second|minute|hour|day|week|month|year))"
    r"|(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|centuries|decades) (?:ago|later|from now|earlier))\b"
)

_YES_OR_NO = (
    "absolutely cannot certainly correct course definitely exactly indeed never no nope not right sure true "
    "unfortunately yeah yep yes"
)
YES_OR_NO = frozenset(_YES_OR_NO.split())
NUMBER_WORDS = (
    r"\b(?:zero|once|twice|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|"
    r"billion|half|none|free|nothing|never|always|today|tomorrow|yesterday|tonight|soon|immediately|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|"
    r"november|december)\b"
)
REASON_WORDS = (
    r"\b(?:because|since|due|reason|reasons|cause|caused|causes|so that|in order)\b|\A\W*(?:probably|perhaps|maybe)\b"
)
# A figure beside a name is a part of it ("an RTX 4070") unless a word or a sign leads to it: "in 1965".
LEADS_TO_FIGURE = (
    r"\b(?:in|on|at|for|by|from|since|until|till|about|around|of|to|is|are|was|were|has|have|had|costs?|over|under|takes?"
    r"|within|after|before|only|nearly|almost|exactly|some)(?: the| a| about| around| only| some)? [$€£¥]?\d|[$€£¥]\d"
    r"|\d ?(?:%|percent\b|(?:years?|days?|hours?|minutes?|weeks?|months?|people|times|kg|km|cm|mm|[kmgt]b)\b)"
)
# How a short answer opens that points at what was asked about.
POINTS_BACK = r"(?:it|this|that)(?:'s| is| was| means| refers| comes| stands)\b"
# "Where is my money?", "Your refund is on its way": of the one and the same.
MINE, YOURS = r"\b(?:my|mine|our|ours)\b", r"\byours?\b"
# What is asked for is a way, and what is told are its steps: "open the settings, then choose …".
ASKS_FOR_A_WAY = r"\bhow (?:do|does|can|could|to|should|would)\b"
STEPS = (
    r"\b(?:first|firstly|then|next|finally|by \w+ing|you (?:can|could|should|need|must|have to))\b"
    r"|(?:\A|[.!?:,;\n]\s*|\band )(?:just |simply )?(?:click|press|tap|open|select|choose|go|type|enter|run|use|install"
    r"|visit|add|set|turn|ask|call|send|create|remove|delete|try|make|take|put|write|start|check|look)\b"
)
# A question put back to the user that asks for nothing: it defers no answer.
COURTESY = (
    r"\b(?:anything|something|what)\s+else\b|\b(?:further|other|more)\s+(?:questions|help|assistance)\b|\bhelp you\b"
)
# Said to everybody, whatever was asked.
PLEASANTRY = (
    r"(?:(?:many )?thanks?(?: you)?(?: so much| very much)?"
    r"(?: for (?:reaching out|asking|your|contacting|getting in touch|the)\b.{0,60})?"
    r"|(?:great|good|excellent|interesting) question|(?:i(?:'m| am|'d be)|we(?:'re| are)) (?:always |more than )?"
    r"(?:happy|glad|delighted|here) to (?:help|assist)\b.{0,30}|have a (?:great|nice|good|lovely|wonderful)\b.{0,30}"
    r"|(?:hello|hi|hey)(?: there)?|you're welcome|i (?:just )?love (?:talking|chatting)\b.{0,40})\W*$"
)
# "…, by Ada", "the author is Ada", "and the boss is Ada Byron".
NAMES_SOMEBODY = (
    r"\bby \w+|\b(?:author|owner|lead|manager|host|speaker|contact|winner)\b"
    r"|^\W*(?:and |but |while )?(?!it\b|that\b|this\b|there\b|which\b)[a-z' ]{2,30} (?:is|was|are|were)"
    r" [a-z'-]+(?: [a-z'-]+)?\W*$"
)
# ", at 12 Main Street"
NAMES_A_PLACE = (
    r"^\W*(?:and |but )?(?:it's |we're |it is |we are |located |based )*"
    r"(?:at|in|on|near|next to|opposite|behind|above|below|by)\b"
)
# Beside the answer to another question this may well answer one that wants a yes or a no: ", and kids are welcome".
STATES = (
    r"\b(?:is|are|was|were|can|cannot|may|must|will|do|does|did|has|have|included|free|allowed|welcome|available|possible"
    r"|supported|required|optional)\b|n't\b|\w'(?:s|re)\b"
)
# But not what only explains that other answer.
EXPLAINS = r"(?:and |but )?(?:because|since|so|as|which|if|when|where|thanks to|due to)\b"
# How a reply begins that has not named anything yet: "of course, …"
NO_NAME = (
    r"(?:of course|no problem|got it|understood|happy to|glad|as|according|based|in|on|at|for|from|with|currently"
    r"|right now|usually|typically|generally|actually|honestly|basically|first|here|if|when|i|we|well|great"
    r"|hello|hi|hey|thanks?)\b"
)
# What is needed from the user before the question can be answered.
ASKS_FOR = (
    r"\b(?:please|kindly)\s+(?:provide|confirm|share|tell|give|send|specify|clarify|let me know)\b"
    r"|\b(?:could|can|would)\s+you\s+(?:please\s+|kindly\s+)?(?:provide|confirm|share|tell|give|send|specify|clarify)\b"
)
# A request in the form of a question.
REQUEST = r"(?:(?!(?:what|how|why|when|where|who|which)\b)\w+,?\s+){0,3}(?:can|could|would|will) you\b"
# How somebody begins who wants something made or found: what is given need not speak of what was asked for.
ORDERS = (
    r"(?:(?:please|kindly|now|can you|could you|would you)[ ,]+)*(?:create|write|rewrite|generate|compose|construct"
    r"|produce|make|design|draft|invent|come up|given?|for (?:the|a) given|rank|list|provide|suggest|name|complete|find"
    r"|identify|describe|output|tell|show|add|think|brainstorm|translate|convert|calculate|continue)\b"
)
# How somebody begins who wants something told of a subject that is named: what is told names it, too.
ASKS_TO_BE_TOLD = (
    r"(?:(?:please|kindly|now|can you|could you|would you)[ ,]+)*(?:explain|analy[sz]e|evaluate|compare|discuss"
    r"|determine|predict|assess|clarify|elaborate)\b"
)
# The answer is on its way, or somebody else is to give it.
GOES_TO_FIND_OUT = (
    r"\btransfer(?:ring)? you\b|\bhold on\b|\bbear with me\b|\b(?:one|just a) moment\b"
    r"|\b(?:let me|i'll|i will)(?: first| now| go and| just)* (?:check|look|search|find|verify|investigate|ask)\b"
)
# No answer: to refuse one, where nothing behind it gives a reason.
REFUSES = (
    r"(?:(?:i(?:'m| am) )?(?:so |very )?sorry\b,?|unfortunately,?|i apologi[sz]e,?|as an? [^,.]{1,40},|but|\s)*+"
    r"i(?:'m| am)? (?:cannot|can't|can not|won't|will not|unable to|not able to)"
    r" (?:(?:answer|discuss|respond to|comment on|talk about)\b"
    r"|(?:help|assist)(?: you)? (?:with|on) (?:it|this|that|your|the)(?: \w+){0,3}[.!\s]*\Z"
    r"|do (?:it|this|that)[.!\s]*\Z)"
)
GIVES_GROUNDS = r"\b(?:because|since|due to|as it|depends?|without|unless|until|but|however|not enough)\b"
# An answer, too: there is none, or none is known.
HAS_NO_ANSWER = (
    r"\b(?:i|we) (?:don't|do not|didn't|did not) (?:know|have)\b"
    r"|\b(?:can't|cannot|couldn't|could not|unable to) (?:find|tell|say|know|determine|see)\b"
    r"|\bno (?:single|definite|definitive|one|clear|right|simple) answer\b|\bdepends\b"
    r"|\bnot enough (?:information|context)\b"
    r"|\b(?:hard|difficult|impossible) to (?:say|tell|know|determine)\b|\b(?:not|isn't|is not) (?:known|clear)\b"
)
# The message names the language the answer is to have.
_LANGUAGE = (
    "(?:english|chinese|mandarin|cantonese|japanese|korean|french|german|spanish|portuguese|italian|dutch|polish|swedish"
    "|turkish|russian|arabic|hindi|thai|vietnamese|indonesian|malay|latin)"
)
NAMES_A_LANGUAGE = (
    rf"\btranslat|\b(?:in|into|to)\s+(?:(?:simplified|traditional|plain|proper|modern|classical)\s+)?{_LANGUAGE}\b"
    rf"|\b{_LANGUAGE}\s+(?:titles?|names?|words?|phrases?|terms?|characters?|letters?|text|version|translation|spelling"
    r"|poems?|proverbs?|idioms?|for)\b|\b(?:characters|kanji|hanzi|hangul|kana)\s+(?:for|of)\b"
)
