"""English: what the `aware` profile looks for, and the marks.

Words stand in small letters; one that ends in a letter counts only as a whole word. `NEGATED` matches what stands
right before a claim that is none (in Chinese it opens with one of its characters), `NOT_CITED` what follows words that
look like a citation and are none: both expressions see the folded text (`shadow.fold`), so small letters and "'" for
every apostrophe.

The chat mark avoids every hedge of the seed ("not sure", "maybe", "might", "I think"), so that a marked
text that is scored again is judged by its own words.
"""

MARKS = {
    "en": {
        "chat": "(⚠️ I am not certain of this answer; it needs more thought.)",
        "remember": "⚠️ [hesitation score={score}]",
        "task": "[needs-review]",
    }
}

# Seed 000; the other lines: boosters in Hyland, "Metadiscourse" (2005), appendix.
ABSOLUTE = (
    *("clearly", "obviously", "definitely", "impossible"),
    *("undoubtedly", "without a doubt", "without doubt", "no doubt that", "no doubt about"),
    *("no doubt in my mind", "undeniable that", "there is no way", "there's no way", "guaranteed to"),
    *("beyond doubt", "beyond any doubt", "unquestionably", "undeniably"),
    *("without question", "no question that", "i am certain that", "i'm certain that"),
    *("i am 100% sure", "i'm 100% sure", "i am 100% certain", "i'm 100% certain", "absolutely no way"),
    *("i am absolutely sure", "i'm absolutely sure", "i am absolutely certain", "i'm absolutely certain"),
    *("absolutely certain that", "absolutely sure that", "100% sure that", "100% certain that"),
    *("will certainly", "it is certain that"),
    *("without any doubt", "beyond a doubt", "beyond all doubt", "beyond dispute", "no question about it"),
    *("indisputable", "indisputably", "irrefutable", "irrefutably", "incontrovertible", "indubitably"),
    *("i guarantee", "i can guarantee", "guaranteed to work", "never fails", "will never fail", "always works"),
    *("everyone knows that", "everybody knows that", "it is a fact that", "it's a fact that"),
    *("definately", "definitly", "definetly", "obviosly"),
    *("no doubt whatsoever", "no doubt at all", "no way this", "zero chance"),
    *("cannot possibly", "can't possibly", "could not possibly", "couldn't possibly"),
    *("there is no chance", "there's no chance", "there is no possibility", "there's no possibility"),
    *("beyond a shadow of a doubt", "without a shadow of a doubt", "there is zero chance", "there's zero chance"),
    *("i'm absolutely positive", "i am absolutely positive", "i'm positive that", "i am positive that"),
    *("cannot fail",),
    *("can never fail", "100% safe", "100% correct", "i'm 100% confident", "i am 100% confident"),
)
# Seed 000, findings on real texts, and the hedges of Hyland (2005) that are frequent in CoNLL-2010's sentences.
HEDGE = (
    *("not sure", "maybe", "might", "i think"),
    *("seem", "seems", "seemed", "seemingly", "likely", "unlikely", "probably", "perhaps", "possibly"),
    *("presumably", "apparently", "supposedly", "arguably", "appears to", "appear to", "appeared to"),
    *("may be", "may have", "may not", "may also", "could be", "could have been"),
    *("i believe", "i guess", "i suspect", "i assume", "i don't think", "i'm guessing", "my understanding is"),
    *("unsure", "uncertain", "unclear", "not certain", "not clear", "not entirely sure", "can't be sure"),
    *("as far as i know", "as far as i can tell", "to my knowledge", "if i remember correctly"),
    *("impossible to say", "impossible to tell", "impossible to know", "impossible to determine", "hard to say"),
    *("impossible to provide", "impossible to give", "impossible to predict", "impossible to verify"),
    *("impossible to confirm", "impossible to answer", "impossible to guess", "impossible to identify"),
    *("impossible to pinpoint", "impossible to estimate", "impossible to judge", "impossible to be sure"),
    *("there is no way to know", "there's no way to know", "there is no way to tell", "there's no way to tell"),
    *("there is no way to verify", "there's no way to verify", "there is no way to be sure"),
    *("it is said that", "not necessarily", "not definitely", "it depends", "potentially", "conceivably"),
    *("it is possible", "it's possible", "it appears", "in my opinion", "in my view"),
    *("cannot confirm", "can't confirm", "impossible for me to", "impossible for an ai"),
    *("this suggests", "suggests that", "i doubt", "my guess", "i don't know"),
    *("i could be wrong", "correct me if i'm wrong", "if i'm not mistaken"),
    *("no definitive answer", "no clear answer", "hard to tell"),
    *("not 100% sure", "not 100% certain", "not absolutely sure", "not absolutely certain", "not entirely certain"),
    *("not completely sure", "not completely certain", "cannot be certain", "can't be certain", "cannot be sure"),
    *("could well", "may well", "best guess", "it looks like", "in all likelihood", "would appear", "chances are"),
    *("there's a chance", "there is a chance", "fairly sure", "fairly certain", "pretty sure", "reasonably sure"),
    *("not verified", "haven't verified", "needs to be confirmed", "to be verified", "needs verification"),
    *("i'd guess", "i would guess", "inclined to think", "inclined to believe", "tell for sure", "say for sure"),
    *("know for sure", "know for certain", "say for certain", "grain of salt", "speculative", "i may be wrong"),
    *("fairly confident", "reasonably confident", "not confident that", "not fully confident", "i'm assuming"),
    *("i suppose", "i presume", "i'd assume", "i would assume", "iirc", "afaik", "imo", "idk", "dunno"),
    *("from what i can tell", "from what i can see", "from what i understand", "as best i can tell"),
    *("if memory serves",),
    *("as far as i remember", "as far as i can see", "as far as i'm aware", "as i understand it", "don't quote me"),
    *("best of my knowledge", "best of our knowledge", "as far as we know", "as far as we can tell"),
    *("to our knowledge", "if i recall", "from memory", "at a guess", "educated guess", "my hunch", "i reckon"),
    *("i'd say", "i would say"),
    *("we think", "we suspect", "we're not sure", "i can't tell", "i'm not convinced"),
    *("i am not convinced", "can't rule out", "cannot rule out", "can't be ruled out", "cannot be ruled out"),
    *("untested", "unverified", "haven't tested", "have not tested", "haven't checked", "have not checked"),
    *("have not verified", "not been able to verify", "may or may not"),
    *("may come from", "may indicate", "may already", "may just", "may simply", "may still", "may no longer"),
    *("may fail", "may break"),
    *("it sounds like", "tentatively", "plausibly", "i vaguely", "i may have", "i might have", "could well be"),
)
# Seed 000; "conclusion" only where something is concluded: a premise and a conclusion are logic.
CONCLUSION = ("therefore", "in conclusion", "the answer", "the answers", "conclusion:", "conclusions:", "conclusion is")
# Seed 000; the last line gives reasons, too.
REASONING = (
    *("however", "because", "on the other hand", "alternatively"),
    *("given that", "due to", "although"),
)
# findings on real texts: a source is a citation, not the word.
CITATION = (
    *("according to", "source:", "sources:", "ref:", "reference:", "references:", "as reported by", "as reported in"),
    *("cited in", "quoted from", "as stated in", "as documented in", "et al.", "doi:", "arxiv:", "isbn"),
    *("as described in", "as specified in", "as defined in", "as explained in", "per the documentation", "per rfc"),
    *("the documentation says", "the documentation states", "the docs say", "the manual says", "see rfc", "in rfc"),
    *("study published in", "paper published in", "article published in", "research published in"),
    *("report published in",),
    *("the handbook says", "the handbook states", "the guidelines say", "the guidelines state", "the terms say"),
    *("the terms state", "the rules say", "the rules state", "the law says", "the law states", "the agreement says"),
    *("the agreement states", "the release notes say", "the changelog says", "the faq says", "the warranty says"),
    *("as noted in", "as per the official", "the spec says", "the specification says", "the standard says"),
    *("the policy states", "the policy says", "the readme says", "the contract says", "the contract states"),
    *("the official documentation", "the official docs", "as published in", "documented at", "quoting from"),
    # What must follow these `NOT_CITED` says.
    *("per the", "citing the", "research by", "study by", "studies by", "survey by", "experiments by"),
    "www.",
)
# Listed so that what lies in them does not count.
PLAIN = (
    *("open source:", "all his might", "all her might", "all its might", "all my might", "military might"),
    *("the might of", "might and main"),
    *("the answer key", "not impossible", "nothing is impossible", "mission impossible", "impossible to miss"),
    *("or even impossible", "if not impossible"),
    *("more clearly", "as clearly as", "clearly and", "clearly defined", "clearly explained", "clearly stated"),
    *("speak clearly", "write clearly", "can definitely help", "can definitely assist", "definitely worth"),
    # Advice, resolutions and thanks claim nothing.
    *("you should definitely", "we should definitely", "i should definitely", "i'll definitely", "i will definitely"),
    *("would definitely recommend", "definitely recommend", "i'd definitely", "i would definitely"),
    # The reader's doubt, and what is offered to them.
    *("if you're unsure", "if you are unsure", "if you're not sure", "if you are not sure"),
    *("you might like", "you might want", "you might consider"),
    *("i believe in", "inconvenience this may have caused", "inconvenience it may have caused"),
    *("not possibly", "you may still", "you may just", "you may already"),
)
NEGATED = (
    r"\b(?:"
    r"(?:not|never|no|nor|neither|nothing|nobody|none|without|hardly|scarcely|barely|rarely|seldom|less|far from"
    r"|whether|if|cannot|[a-z]+n't)(?:\s(?:say|claim|mean|think))?(?:\s+[a-z']+){0,2}\s+"
    # Of whole clauses: "I doubt it is definitely wrong", "I'm not saying the cache is clearly slow".
    r"|(?:(?:not|never|[a-z]+n't)\s(?:saying|claiming|suggesting|asserting|implying|arguing|convinced|certain|sure|clear)"
    r"|(?:i|we|they|he|she|do|does|would|still|seriously|highly|really|people|some|many|critics|experts)\sdoubt"
    r"|(?<!no )doubts|(?<!never )doubted|(?:i'm|i am) unsure|unlikely|far from certain)"
    r"(?:\s+(?!(?:and|but|so)\b)[a-z']+){0,6}\s+"
    r"|(?:nearly|almost|virtually|practically|seemingly|next to|close to|well-nigh|nigh)\s+"
    r")"
)
# What stands before a claim, and then behind it, in a sentence that speaks of it as somebody's mistake.
MISTAKEN = (
    r"\b(?:not (?:true|the case|correct|accurate|right|a fact|saying|claiming)|false|untrue|wrong|incorrect|doubt"
    r"|den(?:y|ies)|a (?:myth|misconception|fallacy))(?: to (?:say|claim|assume|think|believe|conclude))? that\b",
    r"",
)
# Such a word where it claims nothing: it tells how something is said or done, describes what is named (an impossible
# case), begins a sentence for others, praises, or wishes and advises.
UNCLAIMED = (
    r"clearly (?:says?|said|saying|set out|laid out|point(?:s|ed|ing)? out|note[sd]?|seen|heard|visible|written|named"
    r"|worded|indicat(?:e|ing)|(?:stat|mention|document|describ|explain|specif|label|mark|list|outlin|communicat"
    r"|articulat|distinguish|separat|identif|express|convey|structur|summari|organi)"
    r"(?:y|ying|[sz]?(?:e|es|s|ed|ied|ies|ing))?)\b"
    r"|(?<=[a-z] )clearly(?=[.!;\n]|\Z| enough\b| so (?:that|the|your?|we|they|every[a-z]+)\b)"
    r"|(?:cannot|can't|could not|couldn't) possibly (?:know|say|tell|guess|thank|express|imagine|list|cover|describe)\b"
    r"|impossible (?!(?:to|for|that|in|on|at|with|without|if|because|since|as|and|or|but|under|given|when|where|unless"
    r"|until|from|by|due|here|there|now|today|even|either|anyway|again|otherwise|while|so|not|using|via|through|before"
    r"|after|within|during|between|over|across|among|against|about|of|above|below|than|then|they|it|he|she|we|you|i"
    r"|this)\b)[a-z]"
    r"|(?:no|undeniable|it|it's|i|i'm|absolutely|100%|every[a-z]+) (?:[a-z0-9%']+ ){0,3}that ?(?:…|\.\.\.)[ \t]*"
    r"(?:\n|\Z)"
    r"|(?<=[a-z]: )(?:definitely|obviously|clearly)!"
    r"|(?:clearly|definitely|obviously|undoubtedly|unquestionably|undeniably|indubitably|without (?:a )?doubt),?"
    r" (?:(?:been|be|is|was|not|still|quite|very|really|so|a|an|such) ){0,3}"
    r"(?:(?:(?:one of|among) )?(?:the|my|our|your|his|her|its|their) (?:(?:very|single|all-time) )?"
    r"(?:best|worst|greatest|finest|most (?:beautiful|iconic|beloved|famous|influential|talented|important|popular))"
    r"|fun|great|nice|annoying|amazing|wonderful|beautiful|exciting|enjoyable|impressive|interesting|fascinating|delicious"
    r"|memorable|delightful|challenging|rewarding|stunning|lovely|cool|awesome|pleasant|frustrating|disappointing"
    r"|tempting)\b"
    # Advice.
    r"|(?<=you )definitely (?:should|must|need to|have to|ought to)"
    r"(?! (?:be(?! (?:careful|sure|aware|prepared|patient))|have)\b)"
    r"|(?<![a-z0-9,'\")] )(?<![a-z0-9])definitely (?:do(?:n't)? |do not |never )?(?:back up|use|avoid|read|make sure"
    r"|keep|save|test|ask|call|contact|run|get|take|visit|bring|go|set|remember|update|verify|review|start|watch|see|add"
    r"|buy)\b"
    r"|(?:definitely|will certainly) (?:do not |don't )?(?:want|wish|love|enjoy|hope|recommend|suggest|prefer"
    r"|consider|try|check|look (?:into|forward|at)|plan|intend|advise|appreciate)\b"
)
# The same, from the word before; what follows from definitions can be checked.
UNCLAIMED_BEHIND = (
    r"\b(?:(?:stat|explain|se|speak|writ|communicat|defin|describ|mark|label|document|show|hear|read|express|think)"
    r"(?:e|s|es|ed|ing)? clearly\b(?! (?:that|it|the|this)\b)|could definitely"
    r"|(?:sa(?:y|ys|id)|thinks?|thought|believes?|believed|claims?|claimed|argues?|argued|felt|feels?) there(?:'s| is)"
    r" (?:no|zero) (?:way|chance|possibility)"
    r"|out clearly|(?:i|we) (?:cannot|can't|could not|couldn't) possibly"
    r"|would definitely(?= (?:help|like|love|want|be (?:useful|helpful|interested|happy|open|worth|nice|glad))\b)"
    r"|(?:an?|the|or|(?<=all )but|effectively|usually|often|sometimes|generally|seems?|seemed|looks|sounds|made"
    r"|(?<=made )it|(?<=would )be|(?<=should )be|logically|mathematically|provably|(?<=by )definition) impossible"
    # Advice; "you must definitely be wrong" is none.
    r"|(?<=you )must definitely(?! (?:be(?! (?:careful|sure|aware|prepared|patient))|have|know|think|mean)\b)"
    r"|(?:to|the|any|for|(?<=should )be|(?<=must )be|(?<=that )are|(?<=that )were) (?:clearly|obviously|definitely)"
    r"|(?:be|being|make|making) (?:100%|absolutely) (?:sure|certain) that)\b"
)
# A claim behind one of these, in the same clause, hangs on it.
CONDITIONS = (
    *("if", "unless", "whether", "when", "whenever", "where", "wherever", "once", "until", "in case", "so that"),
    *("just as", "as though", "think of", "imagine"),
)
# It is somebody else's behind one of these and one of what opens what they say.
SAYING = (
    *("believe", "believes", "believed", "argue", "argues", "argued", "assume", "assumes", "assumed", "claims"),
    *("claimed", "insists", "insisted", "maintains", "maintained", "fear", "fears", "suspect", "suspects"),
    *("think", "thinks", "thought", "felt", "said", "says"),
    *("they claim", "some claim", "others claim", "people claim", "critics claim", "many claim", "you claim"),
)
SAID = ("that", "it", "this", "there", "they", "he", "she")
# What a figure is supposed to be is not claimed: it stands in the clause of a condition or an assumption, and before
# what opens the next one.
# So is what is asked for in a recipe: "preheat the oven to".
# And what the reader is said to have said: they know where they have it from.
SUPPOSED = (
    r"\b(?:if|unless|preheat|suppos(?:e|ing)|assum(?:e|ing)|imagine|let's say|let us say|hypothetically)\b"
    r"|\bas you(?:'ve| have)? (?:said|mentioned|noted|stated|wrote)\b,?"
    r"|(?:(?<![a-z0-9] )|(?<=since )|(?<=because )|(?<=that )|(?<=and )|(?<=but )|(?<=when ))\byou(?:'ve| have)?"
    r" (?:(?:also|just|already|previously) )?(?:said|mentioned|told (?:me|us)|stated|noted|specified|entered|indicated"
    r"|asked for|requested)\b(?! (?:is|are|was|were|has|had|about|to)\b)"
    r"|\bthe (?:amount|date|number|figure|price|budget|year|age|weight|height|size|total|value) (?:that )?you"
    r" (?:said|mentioned|entered|specified|provided|(?:gave|told)(?: me| us)?) (?:is|was)\b"
)
CONCLUDED = r"\b(?:then|will|would|can|must|should|know that|see that)\b|'ll\b"
# Letters at the end of a question that has no mark.
ASKING = ""
# Where somebody can look; your invoice is a source, your wishes are none.
_DOCUMENT = (
    r"(?:documentation|docs?|manual|handbook|spec(?:ification)?s?|guide(?:lines?)?|readme|changelog|release notes"
    r"|polic(?:y|ies)|terms|contract|agreement|report|standard|census|survey|study|paper|article|invoice|receipt"
    r"|rules?|regulations?|bylaws|statutes?|warranty|itinerary|booking|reservation|confirmation|profile|calendar"
    r"|order (?:details|history)|(?:bank )?statement|e-?mail|letter|ticket|records?)"
)
NOT_CITED = (
    rf"\s*(?:me|my|mine|(?:your?s?|our)(?! (?:[a-z0-9'-]+ ){{0,2}}{_DOCUMENT}\b)|us|plan"
    r"|the (?:plan|user|instructions?|schedule|rules above)|unknown|none|not (?:known|given|stated|available)|n/a|tbd"
    r"|missing|needed)\b"
    # What things are sorted by.
    r"|\s(?:(?:their|its|the) )?(?:size|date|name|age|colou?r|priority|type|category|weight|height|length|price|order"
    r"|needs?|preferences?|taste|availability|context|alphabet|whether|how)\b"
    rf"|(?:(?<=per the)|(?<=citing the))(?! (?:[a-z0-9.'-]+ ){{0,3}}{_DOCUMENT}\b)"
    # Somebody finds it: "research by Kahneman shows", not "a study by candlelight".
    r"|(?:(?<=research by)|(?<=study by)|(?<=studies by)|(?<=survey by)|(?<=experiments by))"
    r"(?! (?:[a-z0-9.,&'()-]+ ){1,8}(?:shows?|showed|shown|finds?|found|suggests?|suggested|confirms?|confirmed|proves?"
    r"|proved|demonstrates?|demonstrated|indicates?|indicated|reports?|reported|concludes?|concluded|reveals?|revealed"
    r"|estimates?|estimated)\b)"
)
# A link to press on, to go to or to load from is none; in parentheses it stands behind a claim.
NAVIGATION = (
    r"\b(?:click|tap|press|log ?in|sign ?in|sign ?up|buy|order)\b[^.!?\n]{0,32}"
    r"|\b(?:git (?:clone|fetch|pull|push|remote add|submodule add)|curl|wget|pip3? install|npm (?:i|install)|yarn add"
    r"|brew (?:install|tap)|docker (?:pull|run)|go get|cargo install|helm repo add|xdg-open|ping)\b[^(!?\n]{0,40}"
    r"|\b(?:visit|go(?:ing)? (?:over )?to|head(?:ing)? (?:over )?to|navigat(?:e|ing) to|brows(?:e|ing) to|proceed to"
    r"|open(?! source| access)|launch|log ?on|download|install|clone|fetch|subscribe|register|enrol+|join|apply|pay"
    r"|book|check ?in|reset (?:it|your password)|activate|redeem|upload|deployed|running)\b"
    r"(?:\s(?:it|them|this|that|the|an?|our|your|my|its|official|following|latest|free|new|[a-z-]+(?=\s(?:at|from|via))"
    r"|package|app|file|repo(?:sitory)?|version|page|(?:web)?site|link|url|portal|from|at|via|with|on|to|here|now)){0,5}"
    r"(?::?\s?<?|\s?\[[^\[\](\n]{0,32}\]\()"
    r"|\[(?:visit|go to|open|download|install|get|start|join|register|subscribe|try)\b[^\[\](\n]{0,32}\]\("
)
# What a link is for that is to be pressed on.
NAVIGATION_BEHIND = (
    r"[>\]]?,?\s(?:in order )?(?:to|and|then|where you can|and then)\s(?:sign|log) ?(?:in|up|on|out)\b"
    r"|[>\]]?,?\s(?:in order )?(?:to|and|then|where you can|and then)\s(?:register|download|install|subscribe|check ?in"
    r"|buy|order|book|pay|apply|create an|reset|activate|redeem|get started|submit|upload)\b"
)
# What has its parts by number: arr[1] is no citation.
INDEXED = (
    r"\b[a-z_]*(?:arr(?:ay)?|list|tuple|dict|(?:kw)?args|argv|vec(?:tor)?|matrix|tensor|buf(?:fer)?|deque|queue|stack"
    r"|rows?|cols|columns|nums|tokens|elem(?:ent)?s?|items?|vals?|values|params|nodes|keys|fields|matches|children)"
)
# Whose figures they are, right before "studies show" and the like.
NAMED_SOURCE = r"(?!)"
# Facts that ask for a source (type `no-source` of seed 000). What makes a number a figure, and what a date:
UNITS = (
    r"percent|per cent|thousand|million|billion|trillion|dollars?|euros?|pounds?|usd|people|inhabitants"
    r"|(?:kilo)?met(?:er|re)s?|km|kg|miles?|feet|tons?|tonnes?|acres|hectares|degrees|years old|times (?:more|less|as)"
    r"|(?:kilo|milli)?grams?|mg|calories|kcal|kilocalories|lit(?:er|re)s?|gallons?|mph|knots|light[- ]years?"
    # Of few letters. What sorts of a thing are called by without a blank (64GB, 750ml, a 3.5mm plug, in 2m) needs one.
    r"|(?<=\s)(?:m(?![0-9/'])|g(?![0-9/'])|mm|ml|ft|[kmgtp]i?b|mah|fps)(?!\s?[\^²³])|[kmgtp]i?b(?= of\b)"
    r"|(?:m|mm|ft)(?= (?:tall|high|long|wide|deep|thick|above|below|apart)\b)|(?:[cn]m|km)(?!\s?[\^²³])|k?m[²2]"
    r"|[µμ][mgs]|ha|inches|yards?|lbs?|ms|[kmgt]bps|[kmg]?hz|k[wv]h?|[mg]wh?|rpm|ppm|psi|kmh|km/h|m/s"
    r"|(?:centi|milli|nano)met(?:er|re)s?|milliseconds|(?:kilo|mega|giga|tera)bytes|watts?|volts?"
)
NOT_FIGURE = r"\s?%\s(?:sure|certain|confident|positive)\b"
# What has so many degrees by definition.
ANGLE = r"\b(?:angles?|triangles?|rectangles?|quadrilaterals?|circles?|rotat(?:e|ed|ion))\b[^.!?\n]*\Z"
# Behind it stands what a list comes to.
TOTAL = r"\b(?:totals?|sum|combined|altogether|in all)\b"
# A day up to which something is known says nothing else.
AS_OF = (
    r"\bas (?:of|on|at) (?:the |early |late |(?:my|our) [a-z' ]{2,30} (?:in|on|of) )?"
    r"|\b(?:i was (?:last )?(?:trained|updated)|my (?:training|knowledge|last update))\b[^.!?\n0-9]{0,32}"
)
BEFORE_YEAR = r"\b(?:(?<!ending )(?<!ends )in|since|during|circa|year)\s+"
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
ATTRIBUTION = (
    *("studies show", "studies have shown", "research shows", "research has shown", "research suggests"),
    *("experts say", "experts agree", "scientists say", "scientists agree", "statistics show"),
    *("it is well known that", "it has been proven that", "a study found", "a recent study"),
    *("research proves", "research indicates", "studies suggest", "studies indicate", "studies have found"),
    *("multiple studies", "numerous studies", "a new study", "one study found"),
    *("scientists have found", "scientists have shown", "scientists found", "researchers found"),
    *("researchers have found", "science has proven", "scientifically proven", "surveys show", "polls show"),
    # Figures in words.
    *("two thirds of", "two-thirds of", "three quarters of", "three-quarters of", "one third of", "one-third of"),
)
# After a name: two capitalised words, or a title and one.
REPORTING = (
    *("said", "wrote", "argued", "argues", "claimed", "discovered", "proved", "invented", "stated"),
    # Of whoever bears one name, which anybody may: what it says must follow.
    *("said that", "once said", "famously said", "wrote that", "argued that", "claimed that", "stated that"),
    *("proved that", "once wrote", "famously wrote", "discovered that", "said:", "wrote:", "believed that"),
)
# An apostrophe that opens no quotation: for the beginning of a word.
ELIDED = r"[0-9]{2}s?\b(?!')|(?:n|tis|twas|em|cause|cos|til|till|bout|round|kay)\b(?!')"
# What stands before a quotation that somebody is made to say, and when it is no claim about anybody.
QUOTING = r"\b(?:said|says|wrote|writes|stated|states|argued|argues|claimed|claims|put it|quote|quoted)\b[^.!?\n]{0,24}"
NOT_QUOTING = (
    r"\b(?:you|your|i|we|my|our|users?|description|instructions?|issue|report(?:er)?|docs?|documentation|comment"
    r"|phrase|word|[a-z]*error|exception|traceback|message|warning|pr|docstring|output|tests?|readme|guide|script|code|system"
    r"|logs?|tool|ticket|task|prompt|page|it|which)\b[^.!?\n]{0,32}"
    r"|\bquoted? (?:from|of|in|by)\s*"
)
_PLEASE = (
    r"(?:given [^.!?\n]{0,80}?, )?"
    r"(?:(?:please|kindly|can you|could you|would you|now|i want you to|i'd like you to)[ ,]+)*"
)
# How somebody begins who asks for words of their own, or to compare with: the agent claims nothing beyond doubt in
# them. Figures in them are looked up all the same.
COMPOSED = _PLEASE + (
    r"(?:(?:edit|rewrite|reword|rephrase|paraphrase|translate|proofread|polish|revise)\b|post a comment\b"
    r"|take [^.!?\n]{1,40} and rewrite\b"
    r"|(?:create|write|generate|compose|construct|design|draft|come up with|give|provide|make|suggest)\b"
    r"(?:(?!\b(?:in|that|which|to|about|for|from)\b)[^.!?\n]){0,60}?"
    r"\b(?:(?:facebook|instagram|linkedin|twitter|social media) posts?|tweets?|captions?|slogans?|taglines?|toasts?"
    r"|sentences?|sentence starters|analog(?:y|ies)|metaphors?|similes?)\b)"
)
# How somebody begins who asks for something made up: nobody looks its figures up. Read on HaluEval.
MADE_UP = _PLEASE + (
    r"(?:(?:imagine|pretend|invent|make up)\b|(?:create|write|generate|compose|design|draft|come up with|give|provide"
    r"|share|make|tell|suggest|complete|continue)\b"
    r"(?:(?!\b(?:summar|report|review|analy|table|chart|essay|article|fact))[^.!?\n]){0,80}?"
    r"\b(?:stor(?:y|ies)|storytelling|tale|novel|poem|haiku|song|lyrics|dialogue"
    r"|screenplay|scene|comic|joke|anecdote|riddle|scenario|situation|budget|recipe|receipt|invoice|classified ad"
    r"|advertisement|revenue projection|hypothetical|fictitious|fictional|imaginary|made-up|(?:sample|dummy|mock) data"
    r"|(?:math|word|trigonometry) problem)\b)"
)
NAME = r"\b(?:(?:Dr|Prof|Mr|Mrs|Ms|President|Professor)\.? [A-Z][a-z]+|[A-Z][a-z]+ (?:[A-Z]\. )?[A-Z][a-z]+) (?:once )?"
# One name, before what is said: no pronoun, no relative, no role.
LONE_NAME = (
    r"\b(?!(?:He|She|They|We|You|It|Who|One|Nobody|No|Someone|Somebody|Everyone|Everybody|Anyone|People|Some|Many|Most"
    r"|Others|Both|All|None|That|This|These|Those|What|Which|And|But|As|So|Then|Also|Never|Mom|Mum|Dad|Mother|Father"
    r"|Users?|Customers?|Friends?|Experts?|Critics?|Officials?|Police|Reporters?|Issue|Description|Docs?|Support|Agent"
    r"|Staff|Management|Teachers?|Doctors?|Manager|Boss|Having|Being|Once|Just|Later|I)\b)[A-Z][a-z]{2,}\s"
)
