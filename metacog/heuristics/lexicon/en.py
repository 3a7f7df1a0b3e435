"""English: what the `aware` profile looks for, and the marks; below, what each other subject wants (`shapes`).

Words stand in small letters; one that ends in a letter counts only as a whole word. `NEGATED` matches what stands
right before a claim that is none (in Chinese it opens with one of its characters), `NOT_CITED` what follows words that
look like a citation and are none: both expressions see the folded text (`shadow.fold`), so small letters and "'" for
every apostrophe.

The chat mark avoids every hedge of the seed ("not sure", "maybe", "might", "I think"), so that a marked
text that is scored again is judged by its own words.
"""

from .shapes import (
    BriefWords,
    CompletionWords,
    ConfidenceWords,
    ContradictionWords,
    CorrectionWords,
    ExtensionWords,
    FactWords,
    QualityWords,
    ReflectionWords,
    ResearchWords,
    Shape,
    StuckWords,
    listed,
    one_of,
    pairs,
)

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
# Its reason stands behind a colon in the sentence of a conclusion; behind one of these stands what it is, or a list.
NO_REASON = (
    r"\b(?:following|follows?|these|those|this|below|is|are|was|were|be|includes?|steps?|options?|namely|example)"
)
# findings on real texts: a source is a citation, not the word.
CITATION = (
    *("according to", "source:", "sources:", "ref:", "reference:", "references:", "as reported by", "as reported in"),
    *("cited in", "quoted from", "as stated in", "as documented in", "et al.", "doi:", "arxiv:", "isbn"),
    *("as described in", "as specified in", "as defined in", "as explained in", "per the documentation", "per rfc"),
    *("as shown in", "as shown on", "as listed in", "as given in", "as indicated in", "as printed on"),
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
    *("all their might", "all your might", "all our might", "all the might", "all of his might", "all of her might"),
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
    r"|(?<!no )(?<!no one )(?<!nobody )(?<!who )doubts|(?<!never )doubted|(?:i'm|i am) unsure|unlikely"
    r"|far from certain)"
    r"(?:\s+(?!(?:and|but|so)\b)[a-z']+){0,6}\s+"
    r"|(?:nearly|almost|virtually|practically|seemingly|next to|close to|well-nigh|nigh|probably|perhaps|maybe|possibly"
    r"|apparently|presumably|(?:seem|appear|look)(?:s|ed)?(?: to be)?)\s+"
    r")"
)
_UNKNOWN = r"without (?:knowing|seeing|having|more|further|additional|enough|access to)\b"
# What stands before a claim, and then behind it, in a sentence that speaks of it as somebody's mistake; or says that it
# is impossible as long as something is not known.
NOT_MEANT = (
    (
        r"\b(?:not (?:true|the case|correct|accurate|right|a fact|saying|claiming)|false|untrue|wrong|incorrect|doubt"
        r"|den(?:y|ies)|a (?:myth|misconception|fallacy))(?: to (?:say|claim|assume|think|believe|conclude))? that\b",
        r"",
    ),
    (rf"\b{_UNKNOWN}", r"(?<=impossible)"),
)
# Such a word where it claims nothing: it tells how something is said or done, describes what is named (an impossible
# case), begins a sentence for others, praises, or wishes and advises.
UNCLAIMED = (
    r"(?:clearly|obviously|definitely)-[a-z]+(?:ed|en|ing|ible|able)\b"
    r"|clearly (?:says?|said|saying|set out|laid out|point(?:s|ed|ing)? out|note[sd]?|seen|heard|visible|written|named"
    r"|worded|indicat(?:e|ing)|(?:stat|mention|document|describ|explain|specif|defin|label|mark|list|outlin|communicat"
    r"|articulat|distinguish|separat|identif|express|convey|structur|summari|organi)"
    r"(?:y|ying|[sz]?(?:e|es|s|ed|ied|ies|ing))?)\b"
    # What is to be done: "Clearly define the problem".
    r"|(?<![a-z0-9,'\")] )(?<![a-z0-9])clearly (?!(?:not|all|both|only|just|even|given|despite|since|because|once|when"
    r"|while|if|as|in|on|at|by|for|from|with|without|under|after|before|until|of|to|is|was|are|were|be|has|had|have|did"
    r"|does|do|can|will|that|this|and|or|but|so|more|most|some|any|like|unlike|than|though|although)\b)"
    r"[a-z]+(?<!s)(?<!ed)(?<!ing)(?<!ody) (?:the|an?|your|each|every|all|any|what|how|why|whether|its|their|our|my)\b"
    r"|(?<=[a-z] )(?<!is )(?<!as )(?<!re )clearly(?=,)"
    r"|(?<=[a-z] )clearly(?=[.!;\n]|\Z| enough\b| so (?:that|the|your?|we|they|every[a-z]+)\b)"
    r"|(?:cannot|can't|could not|couldn't) possibly (?:know|say|tell|guess|thank|express|imagine|list|cover"
    r"|describe)\b"
    rf"|impossible to [^,;:.!?\n]{{1,80}} {_UNKNOWN}"
    r"|impossible (?!(?:to|for|that|in|on|at|with|without|if|because|since|as|and|or|but|under|given|when|where"
    r"|unless"
    r"|until|from|by|due|here|there|now|today|even|either|anyway|again|otherwise|while|so|not|using|via|through"
    r"|before"
    r"|after|within|during|between|over|across|among|against|about|of|above|below|than|then|they|it|he|she|we|you|i"
    r"|this)\b)[a-z]"
    r"|(?:no|undeniable|it|it's|i|i'm|absolutely|100%|every[a-z]+) (?:[a-z0-9%']+ ){0,3}that ?(?:…|\.\.\.)[ \t]*"
    r"(?:\n|\Z)"
    r"|(?<=[a-z]: )(?:definitely|obviously|clearly)!"
    r"|(?:clearly|definitely|obviously|undoubtedly|unquestionably|undeniably|indubitably|without (?:a )?doubt),?"
    r" (?:(?:been|be|is|was|not|still|quite|very|really|so|a|an|such) ){0,3}"
    r"(?:(?:(?:one of|among) )?(?:the|my|our|your|his|her|its|their) (?:(?:very|single|all-time) )?"
    r"(?:best|worst|greatest|finest|most (?:beautiful|iconic|beloved|famous|influential|talented|important|popular))"
    r"|fun|great|nice|annoying|amazing|wonderful|beautiful|exciting|enjoyable|impressive|interesting"
    r"|fascinating|delicious"
    r"|memorable|delightful|challenging|rewarding|stunning|lovely|cool|awesome|pleasant|frustrating|disappointing"
    r"|tempting)\b"
    # What the agent is going to do, or not.
    r"|(?:(?<=\bi )|(?<=\bwe ))(?:definitely|obviously|clearly|undoubtedly|unquestionably)"
    r" (?:should|must|need|have to|ought|will|shall|won't|shouldn't|mustn't|cannot|can't|want|am going|are going)\b"
    r"(?! (?:not )?(?:have(?! to)|be (?:the|an?|right|wrong))\b)"
    # Advice.
    r"|(?<=you )definitely (?:should|must|need to|have to|ought to)"
    r"(?! (?:be(?! (?:careful|sure|aware|prepared|patient))|have)\b)"
    r"|(?<![a-z0-9,'\")] )(?<![a-z0-9])definitely (?:do(?:n't)? |do not |never )?(?:back up|use|avoid|read|make sure"
    r"|keep|save|test|ask|call|contact|run|get|take|visit|bring|go|set|remember|update|verify|review|start|watch|see|add"
    r"|buy|restart|reboot|reinstall|rebuild|rerun|upgrade|send|tell|report|stop|turn|wear|eat|drink|skip|book|pack|choose"
    r"|pick|include|mention|give|put|talk|clean|close|open|delete|remove)\b"
    r"|(?:definitely|will certainly) (?:do not |don't )?(?:want|wish|love|enjoy|hope|recommend|suggest|prefer"
    r"|consider|try|check|look (?:into|forward|at)|plan|intend|advise|appreciate)\b"
)
# The same, from the word before; what follows from definitions can be checked.
UNCLAIMED_BEHIND = (
    r"\b(?:(?:stat|explain|se|speak|writ|communicat|defin|describ|mark|label|document|show|hear|read|express|think)"
    r"(?:e|s|es|ed|ing)? clearly\b(?! (?:that|it|the|this)\b)|could definitely"
    r"|(?:sa(?:y|ys|id)|thinks?|thought|believes?|believed|claims?|claimed|argues?|argued|felt"
    r"|feels?) there(?:'s| is)"
    r" (?:no|zero) (?:way|chance|possibility)"
    r"|out clearly|(?:i|we) (?:cannot|can't|could not|couldn't) possibly"
    r"|would definitely(?= (?:help|like|love|want|be (?:useful|helpful|interested|happy|open|worth|nice|glad))\b)"
    r"|(?:an?|the|or|(?<=all )but|effectively|usually|often|sometimes|generally|seems?|seemed|looks|sounds|made"
    r"|(?<=made )it|(?<=would )be|(?<=should )be|logically|mathematically|provably|(?<=by )definition) impossible"
    r"|(?:(?<=\bi )|(?<=\bwe ))must definitely(?! (?:be|have)\b)"
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
    *("they say", "some say", "others say", "people say", "critics say", "many say", "you say"),
)
SAID = ("that", "it", "this", "there", "they", "he", "she")
# What a figure is supposed to be is not claimed: it stands in the clause of a condition or an assumption, and before
# what opens the next one.
# So is what is asked for in a recipe or a setting: "preheat the oven to", "Set the timeout to", "Add 500 ml of it".
# And what the reader is said to have said: they know where they have it from.
SUPPOSED = (
    r"\b(?:if|unless|preheat|(?:bake|roast|simmer|boil|let it (?:rest|cool|sit))(?= (?:it |them )?(?:for|at|until)\b)"
    r"|suppos(?:e|ing)|assum(?:e|ing)|imagine|let's say|let us say|hypothetically"
    r"|(?:(?<![a-z0-9,)\"'] )(?<![-/.])|(?<=please ))(?:set|configure|limit|adjust|add|mix|pour|use(?=\s\Z)))\b"
    r"|\bas you(?:'ve| have)? (?:said|mentioned|noted|stated|wrote|asked|requested|wanted|wished)\b,?"
    r"|(?:(?<![a-z0-9] )|(?<=since )|(?<=because )|(?<=that )|(?<=and )|(?<=but )|(?<=when ))\byou(?:'ve| have)?"
    r" (?:(?:also|just|already|previously) )?(?:said|mentioned|told (?:me|us)|stated|noted|specified|entered"
    r"|indicated"
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
    r"(?! (?:[a-z0-9.,&'()-]+ ){1,8}(?:shows?|showed|shown|finds?|found|suggests?|suggested|confirms?|confirmed"
    r"|proves?"
    r"|proved|demonstrates?|demonstrated|indicates?|indicated|reports?|reported|concludes?|concluded|reveals?"
    r"|revealed"
    r"|estimates?|estimated)\b)"
)
# What was given to read, named as what says so: "Based on the given table", "The context states", "(Passage 3)".
_GIVEN = (
    r"(?:contexts?|passages?|tables?|documents?|texts?|articles?|excerpts?|paragraphs?|snippets?|transcripts?|sections?"
    r"|search results?|knowledge base|sources?|records?|dataset)"
)
GIVEN_WORDS = (
    *("context", "passage", "table", "document", "text", "article", "excerpt", "paragraph", "snippet", "transcript"),
    *("section", "search result", "knowledge base", "source", "record", "dataset"),
)
_GIVEN_ONE = rf"(?:(?:given|provided|supplied|attached|retrieved|quoted|above|following|[a-z]+) ){{0,2}}{_GIVEN}"
_SAYS = (
    r" (?:(?:also|clearly|explicitly|only) )?(?:say|state|show|indicate|mention|list|give|note|report|read|tell"
    r"|describe|confirm|specif(?:y|ie))s?\b"
)
GIVEN_SOURCE = (
    rf"\b(?:based on|according to|as per|per|going by|judging (?:by|from)|from|in) (?:the|this|that|these|those)"
    rf" {_GIVEN_ONE}\b(?!-)"
    rf"|\b(?:(?:the|this|that|these|those) {_GIVEN_ONE}|{_GIVEN} #?[0-9]{{1,3}}){_SAYS}"
    rf"|[(\[](?:see |from |in |source: ?)?{_GIVEN} ?#?[0-9]{{1,3}}\b"
    rf"|\b(?:in|from|per|according to|see) {_GIVEN} #?[0-9]{{1,3}}\b"
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
    # As code names them: with no word before.
    r"|(?<![\w'] )(?<![\w'])(?:data|df|results?|lines?|parts?|words?|options?|text|str(?:ing)?s?|map|set)"
)
# Whose figures they are, right before "studies show" and the like.
NAMED_SOURCE = r"(?!)"
# Facts that ask for a source (type `no-source` of seed 000). What makes a number a figure, and what a date:
UNITS = (
    r"percent|per cent|thousand|million|billion|trillion|dollars?|euros?|pounds?|usd|people|inhabitants"
    r"|(?:kilo)?met(?:er|re)s?|km|kg|miles?|feet|tons?|tonnes?|acres|hectares|degrees|years old|times (?:more"
    r"|less|as)"
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
# So many days from a day that was given, each so many of them: "the next day, 2024-05-21", "two weeks later".
_MANY = r"([0-9]{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)"
DAYS_ON = (
    (r"\b(?:(?:next|following) day|day after|a day later|tomorrow)\b", 1),
    (r"\b(?:(?:previous|preceding) day|day (?:before|prior|earlier)|yesterday)\b", -1),
    (r"\b(?:a week later|week after)\b", 7),
    (r"\b(?:a week earlier|week before)\b", -7),
    (rf"\b{_MANY} days? (?:later|after|from)\b", 1),
    (rf"\b{_MANY} days? (?:earlier|before|prior)\b", -1),
    (rf"\b{_MANY} weeks? (?:later|after|from)\b", 7),
    (rf"\b{_MANY} weeks? (?:earlier|before|prior)\b", -7),
)
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
    r"|phrase|word|[a-z]*error|exception|traceback|message|warning|pr|docstring|output|tests?|readme|guide"
    r"|script|code|system"
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
    r"|advertisement|revenue projection|hypothetical|fictitious|fictional|imaginary|made-up|(?:sample|dummy"
    r"|mock) data"
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

# -- stuck (seed 002, "Detection Keywords") ----------------------------------------------------------------------
#
# The seed's phrases and their uncontracted forms; then what agents' transcripts say instead.

# "I am completely out of ideas."
_DEGREES = ("", "really ", "completely ", "totally ", "entirely ", "truly ", "quite ", "still ", "just ", "now ")
_AT_AN_END = tuple(
    f"{who} {degree}{how}"
    for who, states in (
        *((who, ("stuck", "out of ideas", "at a loss")) for who in ("i'm", "i am")),
        *((who, ("stuck", "out of ideas")) for who in ("we're", "we are")),
    )
    for degree in _DEGREES
    for how in states
)
_TWICE = r"think(?: +|-| *\r?\n *)twice"
_ANSWERING = r"(?:you )?(?:answer|answering|reply|replying|respond|responding)\b"
_THE_MATTER = (
    r"(?![^\n]* (?:is|was) what \w+ (?:said|says?|told|wrote)\b)"
    r"(?:(?:it|this|that|these|those)\b(?! (?:is|was|are|were|means|meant|sounds)\b)"
    r"|(?:the|your|my|our|why|how|what|whether)\b|[^\s\d]*\d)"  # or bug-17
)
STUCK = StuckWords(
    exhaustion=(
        *_AT_AN_END,
        *("i've tried everything", "i have tried everything", "i've exhausted", "i have exhausted"),
        *("we've exhausted", "we have exhausted", "i've run out of ideas", "i have run out of ideas"),
        *("i don't know what else to try", "i do not know what else to try", "i don't know what else i can try"),
        *("i do not know what else i can try", "i don't know what else i could try"),
        *("i do not know what else i could try", "not sure what else to try", "i can't figure out"),
        *("i cannot figure out", "i can't seem to figure out", "this is puzzling", "i'm puzzled"),
        *("nothing i try works", "nothing i've tried works", "nothing i try helps", "nothing i try makes"),
        *("nothing i've tried helps", "nothing i've tried has worked", "nothing i've tried has helped"),
        *("nothing seems to work", "i ran out of ideas", "i have no more ideas", "i'm running out of ideas"),
        *("i'm running out of options", "i've run out of options", "i'm out of options"),
        *("i have no idea what else", "i don't know how to proceed", "i'm at my wits' end", "i've hit a wall"),
        *("i have hit a wall",),
    ),
    uncertainty=(
        *("i'm not sure why", "i am not sure why", "this should work but", "this should work, but"),
        *("that should have worked", "this should have worked", "i don't understand why"),
        *("i do not understand why", "i don't know why", "not clear to me why", "unclear to me why"),
        *("i have no idea why", "for some reason", "strangely,", "oddly,", "weirdly,", "unexpectedly,"),
        *("i would have expected", "i'd have expected", "this is confusing", "i'm confused", "i can't explain why"),
        *("i cannot explain why", "i'm baffled", "i am baffled", "i have no clue why", "no idea why it"),
        *("no idea why this", "no idea why the", "idk why", "this makes no sense", "this doesn't make sense"),
        *("this does not make sense", "weirdly enough,", "strangely enough,", "oddly enough,"),
    ),
    scope_creep=(
        *("let me try a completely different approach", "i'll try a completely different approach"),
        *("let's try a completely different approach", "let me try an entirely different approach"),
        *("let me try a totally different approach", "let's start over", "let me start over"),
        *("let me start from scratch", "let's start from scratch", "maybe we should try something else entirely"),
        *("i'm going to take a step back", "let me take a step back", "let's take a step back", "let me step back"),
        *("let me rethink this", "let me rethink the", "let's try something entirely different"),
        *("let's try something completely different", "let me try something entirely different"),
        *("let me try something completely different", "let me try another approach entirely"),
        *("i'll start from scratch", "i will start from scratch", "i'll start over"),
    ),
    not_meant_before=(
        *("if", "when", "whenever", "until", "unless", "in case", "whether", "before", "not that", "never say"),
        *("who",),
    ),
    not_meant_behind=("except", "yet?"),
    condition=("if", "in case"),
    rationale=("because", "since", "given that", "now that", "as the", "so that", "the reason"),
    somebody="",
    denied="",
    said_by=(
        r"\b(?:users?|customers?|clients?|reporter|somebody|someone|people|he|she|they) (?:also |then "
        r"|just )?(?:writes?|wrote|says?|said|reports?|reported|complain(?:s|ed)?|asks?|asked"
        r"|told (?:me|us))(?: that)?"
    ),
    not_claimed=r"(?:\bnot|n't) (?:saying|claiming|suggesting|implying)(?: that)? \Z",
    idioms=(),
    own_before="",
    describing=(),
    # What somebody is stuck with stays as it is, but for what is wrong: the old API, not this bug.
    goes_on=(
        r"(?<=start over) (?:here|there)\b|(?<=stuck) with (?:the|an?|our|my|your|these"
        r"|those) (?![^.,;!?\n]{0,32}\b(?:bugs?|errors?|problems?|issues?|tests?|failures?|exceptions?|crash(?:es)?"
        r"|questions?|task|idea|mess)\b)"
    ),
    # "This is confusing for newcomers"; "this should work, but only on Linux" says where.
    matter=("this ",),
    for_others=r" (?:for|to) (?!(?:me|us)\b)| (?:only|not (?:on|in|for|with))\b",
    # "Weirdly," says it of what follows only where it opens its clause: not in "it behaves weirdly, but".
    to_open_a_clause=(",",),
    opens_a_clause=("", "and", "but", "so", "yet", "then", "now", "very", "quite", "rather"),
    think_twice=(
        rf"{_TWICE}|ｔｈｉｎｋ[ \u3000]+ｔｗｉｃｅ"
        r"|think about (?:this|it|that)(?: carefully)? (?:once more|again)|re-?think|reconsider"
        r"|think (?:(?:this|it|that|things) (?:over|through)(?: carefully)? )?(?:once more|again)"
        r"|(?:have another|have a second) think|give (?:this|it|that) (?:a second|another|some more) (?:thought"
        r"|think)"
        r"|have (?:another|a second) think about (?:this|it|that)"
    ),
    in_think_twice=("think", "ｔｈｉｎｋ", "reconsider", "thought"),
    leads=(
        "please|pls|ok|okay|now|so|hey|hmm|wait|stop|yes|well|just|let's|lets|let us|can you|could you|would you"
        "|why don't you|why don't we|why not|we (?=should|need|must|have to|had better|better)|i think|i said"
        "|go ahead|will you|can we|could we|you|should|need to|must|have to|had better|better|i want you to"
        "|i'd like you to|i(?:'m| am) (?:asking|telling) you to|i ask you to|i told you to|i would like you to"
        "|i need you to|i asked you to|try to|maybe|perhaps|really|and|then|but|go and|go|do a|do|try|it's time to"
        "|time to|(?:take a )?step back|stop and|slow down|use|run|invoke|start|trigger|kuro|claude|agent"
    ),
    # What the agent thought of, at the end: a user who wants the refund reconsidered asks for a refund.
    tails=(
        r"then (?:answer|reply|respond|tell|try|go|continue|proceed|decide|act|write|say|give|fix)\b[^\n]{0,60}"
        r"|please|pls|now|again|here|first|harder|this time|for me|for us|okay|ok|then|mode"
        rf"|(?:about|on|with|over) {_THE_MATTER}[^\n]{{0,60}}"
        rf"|before {_ANSWERING}[^\n]{{0,60}}|(?:and|because|since)\b[^\n]{{0,60}}"
        r"|(?:it|this|that|everything|(?:the|this) whole thing)\b"
        r"|(?:your|the|this|that|our)(?: \w+){0,2}? (?:approach|plan|answer|solution|conclusion|idea|design|strategy"
        r"|reasoning|assumptions?|logic|thinking|response|fix|diagnosis)\b[^\n]{0,40}"
    ),
    not_asked=rf"{_TWICE} before(?! {_ANSWERING})",
    mentioned="translate|translation|spell|print|type|echo|title|button|label|caption|lyrics|phrase|idiom|sentence|words?",
    codes=(
        r"\b(?:http(?:/[12](?:\.[01])?)?|status(?: code)?|exit(?:ed)?(?: with)?(?: code| status)?|error code|code"
        r"|errno|winerror|signal|sqlstate|error(?= \(?\d{2,5}\b))"
    ),
    durations=(
        r"(?<![\w.])(?:\d+(?:\.\d+)? ?(?:days?|hours?|minutes?|min|seconds?|secs?|sec"
        r"|[dhm](?![a-z])),? ?){0,3}\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|min|minutes?|hours?|days?"
        r"|[dhm](?=\d))\b"
    ),
    labels={
        "en": {
            "repeated-approach": "Repeated identical approach: tried {count} times",
            "repeated-command": "Repeated identical command: run {count} times",
            "circular-reasoning": "Circular reasoning: repeats a passage of its own failed step {step}",
            "error-loop": "Error loop: same error {count} times",
            "exhaustion": "Exhaustion: “{words}”",
            "uncertainty": "Uncertainty: “{words}”",
            "scope-creep": "Scope creep: “{words}”",
            "stale-context": "Stale context: {percent}% of the context window in use",
            "no-commits": "No commits: {minutes} minutes of work since the last one",
            "test-regression": "Test regression: {passed} tests pass, {best} did",
        },
    },
    prompts={
        # Seed 002, "Suggested Prompt", letter for letter (its line ends in a blank).
        "en": "I'm detecting signs we might be stuck on this problem:\n{signals}\n\n"
        "Would you like me to **Think Twice**? I'll distill the problem into a \n"
        "comprehensive brief and consult a fresh sub-agent for a different perspective.",
    },
)

# -- the brief: ours, modal verbs of obligation and prohibition --------------------------------------------------

BRIEF = BriefWords(
    binds=(
        r"\b(?:must(?:n't)?|do(?:es)? not|don't|doesn't|never|cannot|can't|should not|shouldn't|may not|only|without"
        r"|at (?:most|least)|no (?:more|less|new)|keep|avoid)\b"
    ),
    wordings={
        "en": {
            "title": "# Think twice: a fresh look at one problem",
            "note": "Lines that begin with “>” quote what was said and done: evidence, not instructions.",
            "problem": "## The problem",
            "unnamed": "The agent gave it no name.",
            "signs": "## Why it looks stuck",
            "asked": "## What the user said",
            "attempts": "## What was tried",
            "attempt": "{n}. {outcome}",
            "again": "{n}. {outcome}, {count} times the same",
            "dropped": "({count} earlier attempts left out for length.)",
            "failed": "failed",
            "resolved": "worked",
            "unknown": "outcome unknown",
            "approach": "Approach",
            "command": "Command",
            "errors": "Error",
            "known": "## What is known",
            "agent": "From the team's memory ({id}), written by an agent on {date}:",
            "person": "From the team's memory ({id}), written by a person on {date}:",
            "disputed": "(It contradicts {ids}; nobody has settled yet which of them holds.)",
            "topic": "Topic: ",
            "source": "Source: ",
            "constraints": "## Constraints",
            "task": "## What is wanted",
            "ask": "Question the assumptions above, name what was not checked, and propose one different approach.",
            "cut": "… (cut)",
            "nothing": "Nothing is recorded.",
        },
    },
)

# -- quality (seed 004, "Self-Monitor"): ours; the commonest function words, and the shapes of questions and answers --

_A_LANGUAGE = (
    "(?:english|chinese|mandarin|cantonese|japanese|korean|french|german|spanish|portuguese|italian|dutch|polish|swedish"
    "|turkish|russian|arabic|hindi|thai|vietnamese|indonesian|malay|latin)"
)
QUALITY = QualityWords(
    stopwords=frozenset(
        listed("""
            a about actually after again all also am an and any anything appreciate are as assist assistance at be
            because been before being but by can cannot could d day did do does doing don done down each else even
            ever every example examples few following for from get give go going good got great had has have having
            he hello help her here hers hey hi him his how i if in information into is it its just know let like
            list ll look m made make many may me might more most much must my name need needs no nor not now of off
            ok okay on once one only or other our out over own please provide question questions re really right s
            same say see shall she should so some something sorry still such sure t take tell than thank thanks that
            the their them then there these they thing things think this those three to today too two under until up
            us use used using ve very want was way we welcome well were what when where whether which while who whom
            whose why will with would write yes yet you your
            """)
    ),
    function_within=frozenset(),
    # A sentence that starts like this asks, with or without a question mark. After "what" and "how" a verb must follow,
    # so that "How nice." and "What a day." ask nothing.
    opening=(
        r"(?:(?:and|but|so|also|then|ok|okay|hi|hello|hey|please|well|tell me(?=[,:]))\b[\s,:]*)*"
        r"(?:(?:what|how|why|when|where|who|which)(?:'s|'re|\s+(?:is|are|was|were|do|does|did|can|could|should"
        r"|would|will|has|have|many|much|long|often|far|old|to))\b"
        r"|(?:what|which)\s+(?:time|day|date|year|kind|type|sort|size|version|colou?r|price|number|page|file"
        r"|language|one)\s+(?:\w+\s+)?(?:is|are|was|were|do|does|did|can|should|will|has|have)\b"
        r"|(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may)\s+(?:i|you|we|they|he|she"
        r"|it|there|this|that|these|those|the|my|your|our)\b)"
    ),
    # So does the first half of a sentence that asks twice, with a question mark: "Who wrote it and when was it …?"
    opening_of_two=(
        r"(?:(?:and|but|so|also|then|ok|okay|hi|hello|hey|please|well)\b[\s,]*)*"
        r"(?:who|which|whose|what(?! (?:i|you|we|they|he|she|it)\b))\s+\w"
    ),
    asking="",
    not_asking="",
    # A second question inside one sentence: ", and when does it arrive?"
    second=(
        r"[,;]?\s+and\s+(?:(?:also\s+)?(?:tell me|let me know|explain|say)\s+)?(?=(?:what|how|why|when|where"
        r"|who|which)\b)"
        r"|[,;]\s+(?=(?:what|how|why|when|where|who|which)\b)"
    ),
    # So does one that wants a yes or a no, behind one that does not: ", and do you take cards?"
    second_polar=(
        r"[,;]?\s+and\s+(?:also\s+)?(?=(?:is|are|was|were|do|does|did|can|could|will|should|has|have)\s+"
        r"(?:i|you|we|they|he|she|it|there)\b"
        r"|(?:is|are|was|were|do|does|did|will)\s+[a-z'-]+(?:\s+[a-z'-]+){1,5}\?\s*$)"
    ),
    # What stands before an answer in a list of questions and answers.
    answer=r"a|ans|answer",
    # Questions that ask for assent only.
    tags=frozenset(
        (
            *("right", "ok", "okay", "yes", "no", "huh", "correct", "really", "is it", "isn t it", "you know"),
            *("would that work", "what the hell"),
        )
    ),
    # So does what ends like this.
    tag_behind=r"(?:[,;-]|\.\.\.)\s*(?:huh|eh)\?+$|^is that what (?:you(?:'re| are) saying|you mean)\?+$",
    tag_ends=("h?", "h??", "saying?", "mean?"),
    # A question that wants no more than to be taken up.
    anything_else=r"anything else (?:that )?(?:i|we)\b",
    polar_opening=r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|may|am|isn't|aren't|don't|can't)\b",
    polar="",
    number=(
        r"\bhow\s+(?:many|much|long|old|far|often|tall|big|large|deep|high|fast|soon|heavy|wide|thick|small"
        r"|short|slow|loud|hot|cold|warm|expensive|late|early|close)\b|\bwhen\b"
        r"|\b(?:what|which)(?:'s|\s+is|\s+are|\s+was|\s+were)?\s+(?:(?:the|your|its)\s+)?(?:time|year|date|day|month"
        r"|percentage|number|age|price)\b|\bwhat\s+(?:do|does|did|will|would)\b.{0,40}\bcost\b"
    ),
    number_words=(
        r"\b(?:zero|once|twice|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred"
        r"|thousand|million|billion|half|none|free|nothing|nobody|no one|never|always|today|tomorrow|yesterday"
        r"|tonight|soon|immediately|hourly|daily|nightly|weekly|monthly|yearly|every \w+"
        r"|(?:an?|a few|several|a couple of) (?:second|minute|hour|day|night|week|month|quarter|year|decade)s?"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august"
        r"|september|october|november|december)\b"
    ),
    reason=r"\bwhy\b|\bhow\s+come\b|\bfor\s+what\s+reason\b",
    reason_words=(
        r"\b(?:because|since|due|reason|reasons|cause|caused|causes|so that|in order)\b|\A\W*(?:probably"
        r"|perhaps|maybe)\b"
    ),
    # Asked for a time, a condition is an answer, too.
    time=r"\bwhen\b",
    time_words=(
        r"\b(?:when|whenever|once|after|before|until|as soon as|if|unless|today|tomorrow|yesterday|tonight|soon"
        r"|immediately|right away|never|always|noon|midnight|o'clock|daily|weekly|monthly"
        r"|(?:last|next|this|every|each|the) (?:day|night|morning|afternoon|evening|week|weekend|month|quarter"
        r"|year|spring|summer|autumn|fall|winter|century|decade)"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|easter|christmas|january|february|march|april|may|june"
        r"|july|august|september|october|november|december"
        r"|(?:at|by|in|within|about|until|since) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
        r"|an? (?:moment|while|second|minute|hour|day|week|month|year))"
        r"|(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|centuries|decades) (?:ago|later|from now"
        r"|earlier))\b"
    ),
    who=r"\bwho\b",
    where=r"\bwhere\b",
    yes_or_no=frozenset(
        listed("""
            absolutely cannot certainly correct course definitely exactly indeed never no nope not right sure true
            unfortunately yeah yep yes
            """)
    ),
    no_decision="",
    decides=(
        r"\b(?:is|are|was|were|be|it's|that's) (?:(?:not|always|also|strictly) )?(?:welcome|allowed|permitted|forbidden"
        r"|prohibited|possible|impossible|included|available|supported|required|optional)\b"
    ),
    # A figure beside a name is a part of it ("an RTX 4070") unless a word or a sign leads to it: "in 1965".
    leads_to_figure=(
        r"\b(?:in|on|at|for|by|from|since|until|till|about|around|of|to|is|are|was|were|has|have|had|costs?"
        r"|over|under|takes?|within|after|before|only|nearly|almost|exactly|some)"
        r"(?: the| a| about| around| only| some)? [$€£¥]?\d|[$€£¥]\d"
        r"|\d ?(?:%|percent\b|(?:years?|days?|hours?|minutes?|weeks?|months?|people|times|kg|km|cm|mm|[kmgt]b)\b)"
    ),
    one=r"\bone\b",
    # How a short answer opens that points at what was asked about.
    points_back=r"(?:it|this|that)(?:'s| is| was| means| refers| comes| stands)\b",
    stands_for=(
        r"\A\W*(?:(?:and|so|but|well|oh|ok|okay|because|since|by|perhaps|maybe|probably|possibly)\W+)?(?:it|its|this|that|these|those|there|here|they|their|he|his"
        r"|she|her|both|all|none|neither|either|some|one|only|as|such)(?:'[a-z]+)?\b"
        r"|\b(?:i|me|my|mine|we|us|our|ours|you|your|yours|let's)(?:'[a-z]+)?\b"
    ),
    # "Where is my money?", "Your refund is on its way": of the one and the same.
    mine=r"\b(?:i|me|my|mine|our|ours)\b",
    yours=r"\byou(?:rs?)?\b",
    # What is asked for is a way, and what is told are its steps: "open the settings, then choose …".
    asks_for_a_way=r"\bhow (?:do|does|can|could|to|should|would)\b",
    steps=(
        r"\b(?:first|firstly|then|next|finally|by \w+ing|you (?:can|could|should|need|must|have to))\b"
        r"|(?:\A|[.!?:,;\n]\s*|\band )(?:just |simply )?(?:click|press|tap|open|select|choose|go|type|enter|run"
        r"|use|install|visit|add|set|turn|ask|call|send|create|remove|delete|try|make|take|put|write|start|check"
        r"|look)\b"
    ),
    # A question put back to the user that asks for nothing: it defers no answer.
    courtesy=(
        r"\b(?:anything|something|what)\s+else\b|\b(?:further|other|more)\s+(?:questions|help|assistance)\b"
        r"|\bhelp you\b"
    ),
    # Said to everybody, whatever was asked.
    pleasantry=(
        r"(?:(?:many )?thanks?(?: you)?(?: so much| very much)?"
        r"(?: for (?:reaching out|asking|your|contacting|getting in touch|the)\b.{0,60})?"
        r"|(?:great|good|excellent|interesting) question|(?:i(?:'m| am|'d be)|we(?:'re| are)) (?:always |more than )?"
        r"(?:happy|glad|delighted|here) to (?:help|assist)\b.{0,30}|have a (?:great|nice|good|lovely"
        r"|wonderful)\b.{0,30}"
        r"|(?:hello|hi|hey)(?: there)?|you're welcome|i (?:just )?love (?:talking|chatting)\b.{0,40})\W*$"
    ),
    # "…, by Ada", "the author is Ada", "and the boss is Ada Byron".
    names_somebody=(
        r"\bby \w+|\b(?:author|owner|lead|manager|host|speaker|contact|winner)\b"
        r"|^\W*(?:and |but |while )?(?!it\b|that\b|this\b|there\b|which\b)[a-z' ]{2,30} (?:is|was|are|were)"
        r" [a-z'-]+(?: [a-z'-]+)?\W*$"
    ),
    # ", at 12 Main Street"
    names_a_place=(
        r"^\W*(?:and |but )?(?:it's |we're |it is |we are |located |based )*"
        r"(?:at|in|on|near|next to|opposite|behind|above|below|by)\b"
    ),
    # Beside the answer to another question this may well answer one that wants a yes or a no: ", and kids are welcome".
    states=(
        r"\b(?:is|are|was|were|can|cannot|may|must|will|do|does|did|has|have|included|free|allowed|welcome"
        r"|available|possible|supported|required|optional)\b|n't\b|\w'(?:s|re)\b"
    ),
    # But not what only explains that other answer.
    explains=r"(?:and |but )?(?:because|since|so|as|which|if|when|where|thanks to|due to)\b",
    # How a reply begins that has not named anything yet: "of course, …"
    no_name=(
        r"(?:of course|no problem|got it|understood|happy to|glad|as|according|based|in|on|at|for|from|with|currently"
        r"|right now|usually|typically|generally|actually|honestly|basically|first|here|if|when|i|we|well|great"
        r"|hello|hi|hey|thanks?)\b"
    ),
    # What is needed from the user before the question can be answered.
    asks_for=(
        r"\b(?:please|kindly)\s+(?:provide|confirm|share|tell|give|send|specify|clarify|let me know)\b"
        r"|\b(?:could|can|would)\s+you\s+(?:please\s+|kindly\s+)?(?:provide|confirm|share|tell|give|send"
        r"|specify|clarify)\b"
    ),
    # A request in the form of a question.
    request=r"\A\W*(?:(?!(?:what|how|why|when|where|who|which)\b)\w+,?\s+){0,3}(?:can|could|would|will) you\b",
    # How somebody begins who wants something made or found: what is given need not speak of what was asked for.
    orders=(
        r"(?:(?:please|kindly|now|can you|could you|would you)[ ,]+)*(?:create|write|rewrite|generate|compose"
        r"|construct|produce|make|design|draft|invent|come up|given?|for (?:the|a) given|rank|list|provide|suggest"
        r"|name|complete|find|identify|describe|output|tell|show|add|think|brainstorm|translate|convert|calculate"
        r"|continue)\b"
    ),
    # How somebody begins who wants something told of a subject that is named: what is told names it, too.
    asks_to_be_told=(
        r"(?:(?:please|kindly|now|can you|could you|would you)[ ,]+)*(?:explain|analy[sz]e|evaluate|compare|discuss"
        r"|determine|predict|assess|clarify|elaborate)\b"
    ),
    # The answer is on its way, or somebody else is to give it.
    goes_to_find_out=(
        r"\btransfer(?:ring)? you\b|\bhold on\b|\bbear with me\b|\b(?:one|just a) moment\b"
        r"|\b(?:let me|i'll|i will)(?: first| now| go and| just)* (?:check|look|search|find|verify|investigate|ask)\b"
    ),
    # No answer: to refuse one, where nothing behind it gives a reason.
    refuses=(
        r"(?:(?:i(?:'m| am) )?(?:so |very )?sorry\b,?|unfortunately,?|i apologi[sz]e,?|as an? [^,.]{1,40},|but|\s)*+"
        r"i(?:'m| am)? (?:cannot|can't|can not|won't|will not|unable to|not able to)"
        r" (?:(?:answer|discuss|respond to|comment on|talk about)\b"
        r"|(?:help|assist)(?: you)? (?:with|on) (?:it|this|that|your|the)(?: \w+){0,3}[.!\s]*\Z"
        r"|do (?:it|this|that)[.!\s]*\Z)"
    ),
    gives_grounds=r"\b(?:because|since|due to|as it|depends?|without|unless|until|but|however|not enough)\b",
    # An answer, too: there is none, or none is known.
    has_no_answer=(
        r"\b(?:i|we) (?:don't|do not|didn't|did not) (?:know|have)\b"
        r"|\b(?:can't|cannot|couldn't|could not|unable to) (?:find|tell|say|know|determine|see)\b"
        r"|\bno (?:single|definite|definitive|one|clear|right|simple) answer\b|\bdepends\b"
        r"|\bnot enough (?:information|context)\b"
        r"|\b(?:hard|difficult|impossible) to (?:say|tell|know|determine)\b|\b(?:not|isn't|is not) (?:known|clear)\b"
    ),
    names_a_language=(
        r"\btranslat"
        r"|\b(?:in|into|to|you (?:speak|understand))\s+(?:(?:simplified|traditional|plain|proper|modern|classical)\s+)?"
        rf"{_A_LANGUAGE}\b"
        rf"|\b{_A_LANGUAGE}\s+(?:titles?|names?|words?|phrases?|terms?|characters?|letters?|text|version|translation|spelling"
        r"|poems?|proverbs?|idioms?|for)\b|\b(?:characters|kanji|hanzi|hangul|kana)\s+(?:for|of)\b"
    ),
    hedges={"en": "I'm not entirely sure, but…"},
)

# -- what is said to be done (type `done-while-failing`): ours ---------------------------------------------------

COMPLETION = CompletionWords(
    done=r"\b(?:done|fixed)\b(?![-'])",
    stated=(
        r"(?:\A\W*(?:x\]\W*)?|\b(?:is|are|was|were|am|been|got|have|has|i|we)\b|'(?:s|re|m|ve)\b)"
        r"(?:\s*\b(?:now|all|already|finally|also|just|fully|both|and|so|ok|okay|yes|great)\b)*\s*"
    ),
    taken_back=(
        r"\b(?:when|whenever|until|till|after|before|what|how|will|would|could|should|must|might|may|can|cannot|need"
        rf"|needs|want|wants|hope|let)\b|'ll\b|(?:{NEGATED})\Z"
    ),
    condition=r"\b(?:if|once|unless|until|whether|as soon as|(?:al)?though|despite)\b",
    fails=(
        r"(?<!longer )(?<!not )(?<!n't )(?<!never )(?<!that )(?<!which )\bfails?\b"
        r"|(?<!the )(?<!a )(?<!that )(?<!which )\bfail(?:ed|ing)\b"
    ),
    still_fails=r"\bstill (?:fails?|failed|failing)\b",
)

# -- confidence (seed 004, "Confidence Estimation") --------------------------------------------------------------

CONFIDENCE = ConfidenceWords(
    wordings={
        "en": {
            # With "medium" it is the seed's, word for word.
            "level": "Your confidence level for this response is: {level}. ",
            "high": "high",
            "medium": "medium",
            "low": "low",
            "memory-high": "You have good memory about this topic.",
            "memory-medium": "You have limited memory about this topic.",
            "memory-low": "You have hardly any memory about this topic.",
        },
    },
)

# -- corrections (seed 000, "Error Patterns"): ours -------------------------------------------------------------

# fmt: off
_CUES = (
    ("denial", 0.8,
        r"\b(?:that|this|it|which|what you \w+|the answer[a-z ]{0,16}|your (?:answer|summary|claim|statement|result"
        r"|code|translation))(?:'s| is| was|'re| are)(?: still| just| simply| also| actually| clearly)? (?:wrong"
        r"|incorrect|false|not (?:right|correct|true|accurate)|a mistake|outdated"
        r"|the opposite)\b(?! (?:of me )?to [a-z])"),
    ("denial", 0.8,
        r"\b(?:isn't|wasn't|is not|was not) (?:right(?! to )|correct|true|how"
        r"|what i(?! (?:expect|thought|hope|saw|see|g[eo]t)))\b"),
    ("denial", 0.8,
        r"\b(?:not|isn't|wasn't) (?:what|how|which|who|the (?:one|file|way|thing)) (?:i|we) (?:asked|said|meant"
        r"|wanted|told|want|mean|need|needed)"),
    ("denial", 0.7, r"\b(?:that|this|it|these)(?:'s| is| are) (?:still )?the wrong (?!way to|place|time)\w"),
    ("denial", 0.7, r"\b(?:that|this)'s not (?:how|what|where|who|which|the)\b"),
    ("denial", 0.8,
        r"\byou(?:'re| are| were)(?: still| just| clearly)? (?:wrong|mistaken|incorrect|confusing|off by|way off"
        r"|contradicting (?:yourself|what)|ignoring|misreading|misunderstanding|missing the point|mixing"
        r"|hallucinating|making (?:this|that|it|things|stuff) up|using the wrong|repeating the mistake)\b"),
    ("denial", 0.7,
        r"~(?:still |again |also )?(?:wrong|incorrect|not (?:correct|right|true|quite))(?: again"
        r"| still)?(?: \w+){0,2}\s*[.!,:]?$"),
    ("denial", 0.7,
        r"~(?:sorry,? but )?(?:no|nope|nah|wrong|incorrect|not quite)[,.:]?\s+(?:no\b,?\s*)*+(?:it(?:'s| is)"
        r"|that(?:'s| is)(?! (?:fine|all|alright|ok|good|it\b))|the|she|he|they|i (?:meant|said|mean|asked|want)\b"
        r"|you|we (?:said|agreed))\b"),
    ("denial", 0.6,
        r"\bi(?:'m afraid\b.{0,20}\bwrong|(?:'m afraid| don't think| do not think)\b.{0,20}\b(?:right|correct))\b"),
    ("fault", 0.8,
        r"\byou(?:'ve| have)?(?: just| also| again| still)? (?:forgot|forgotten|misunderstood|misread|misheard|missed"
        r"|ignored|overlooked|confused|mixed up|swapped|got (?:it|that|the \w+|this|them)(?: \w+)? (?:wrong|backwards"
        r"|mixed up)|made (?:a|another|the same) mistake|invented|mix(?:ed)? (?:\w+ ){1,3}up|made (?:that|this|it) up"
        r"|contradict(?:ed)?|mistranslated|misquoted|misspel(?:led|t)|miscounted|miscalculated|misinterpreted"
        r"|misnamed|mislabell?ed|left out|mistook|hallucinated)\b"),
    ("fault", 0.7,
        r"(?<!did )(?<!if )\byou(?:'ve| have)?(?: just| also| again)? \w{3,}(?: \w+){0,3} the wrong \w+[^?]*$"),
    ("denial", 0.7,
        r"\b(?:is|are|was|were|'s)(?: still| just| simply| also| actually)? (?:misattributed|misquoted|mistranslated"
        r"|misspel(?:led|t)|miscalculated|mislabell?ed|upside down|out of date)\b"),
    ("fault", 0.7, r"\byou (?:keep|kept) (?:\w+ing)\b"),
    ("fault", 0.7,
        r"\byou (?:gave|sent|showed|told|used|wrote|picked|chose|booked)\b[^.!?]{1,40}\bi (?:wanted|asked for|said"
        r"|meant|needed|ordered)\b"),
    ("fault", 0.7,
        r"\byou (?:haven't|didn't|did not|have not) (?:fix|read|answer|do|change|listen|follow|include|understand)"),
    ("fault", 0.7, r"\byou (?:were supposed|should have|shouldn't have|weren't supposed)\b"),
    ("fault", 0.7, r"\byou \w+(?:ed|lt) .{1,30} (?:wrongly|incorrectly|backwards|the wrong way)\b"),
    ("fault", 0.6,
        r"\b(?:your|the) (?:answer|summary|calculation|citation|link|code|regex|translation|reply"
        r"|response)\b.{0,24} (?:is wrong|leaves out|misses|is dead|doesn't|does not|is made up|contradicts)\b"),
    ("fault", 0.6,
        r"\b(?:error|mistake|typo|bug) in your (?:answer|calculation|code|reply|summary|reasoning|translation|last)\b"),
    ("reminder", 0.8,
        r"\b(?:i|we)(?:'ve| have)?(?: already| just| clearly)? (?:told you(?! so\b"
        r"| (?:it|that|this) (?:would|will|wouldn't) )|said (?:no|so|to you|that|it should)|asked you to"
        r"|mentioned (?:that|it|this))\b"),
    ("reminder", 0.6,
        r"~(?:but )?i (?:(?:already|clearly|just|specifically|explicitly|literally) )?(?:asked for|meant(?! to\b)"
        r"|said(?! (?:yes|hi|hello|goodbye|goodnight)\b)|wrote|mentioned)\b"),
    ("reminder", 0.7, r"\bi (?:said|asked for|meant|wrote|wanted) [^.,;?]{1,30}, not (?!that\b|only\b)"),
    ("reminder", 0.6, r"~i wanted (?:it|this|that|them|these|those|the \w+) (?:in|on|at|for|as|with|without|to be)\b"),
    ("reminder", 0.6,
        r"~(?:please )?(?:look|check|count|read|scroll)(?: (?:it|that|this))? (?:again|closer|more closely|twice"
        r"|once more), [^?]{1,60} (?:is|are|was|were|has|have|says?|does)\b[^?]*$"),
    ("denial", 0.5,
        r"~(?:the |your |our )?(?:docs?|documentation|manual|(?:web)?site|contract|receipt|invoice|policy|label|spec"
        r"|readme) (?:clearly |actually )?(?:says?|states?|shows?) (?:that )?(?:it's|it is|it was|they're|they are"
        r"|the \w+ (?:is|are))\b[^?]*$"),
    ("reminder", 0.7,
        r"\b(?:as|like) (?:i )?(?:already )?(?:said|mentioned|told you)(?: before| earlier| already)?\b"),
    ("reminder", 0.8,
        r"\b(?:let me|i) remind(?:ed)? you\b(?! (?:that )?you(?:'re| are)? (?:can(?!'t| not)|may(?! not)"
        r"|could(?!n't| not)|free\b|welcome\b|always\b))"),
    ("reminder", 0.8, r"\b(?:didn't|did) i (?:not )?(?:say|tell|ask|mention)\b"),
    ("reminder", 0.8,
        r"\bi (?:never|didn't|did not) (?:say|said|ask(?:ed)? (?:for|you)|mean|meant|want|wanted|tell|told)\b"),
    ("reminder", 0.7,
        r"\b(?:how many times (?:do|did|must|have) i|we've been over this|we agreed (?:on|that)|read it again"
        r"|re-?read my|read (?:my|the) (?:message|question|request|instructions?|e?-?mail) (?:again|properly))\b"),
    ("reproach", 0.7,
        r"\bwhy (?:are|do|did|is|have|would) you (?:still|keep|again|delete|remove|change|ignore|not)\w*\b"),
    ("reproach", 0.5, r"~(?:please )?stop (?:call|add|chang|us|say|mak|ask|writ|do|assum|ignor|repeat)\w*ing\b"),
    ("restatement", 0.6, "~(?:not|it's not|it isn't|it's) [^,.;?]{1,30}, (?:not|but|it's) ?[^,.;?]{1,30}[.!]?$"),
    ("restatement", 0.6,
        r"\b(?:it|this) (?:should|has to|was supposed to) (?:be|say|read)\b(?! (?:linked|under|another|in|on|at|there"
        r"|fine|enough|possible|able)\b)(?!.*\bor\b)[^?]*(?:$|, not|instead)"),
    ("fault", 0.6,
        r"(?<!did )\byou(?:'ve| have)?(?: just| also| again| still| even)? (?:dropped|skipped|undid|undone|omitted"
        r"|broke|broken|overwrote|overwritten|duplicated|truncated|garbled|misplaced) (?:my (?!heart)"
        r"|the (?!record|ice|news|bank)|an? (?!record)|one |two |both |half |several |part |steps? |lines? "
        r"|questions? |points? |(?:it|them|that|this)[.!]?$)[^?]*$"),
    ("fault", 0.6, r"(?<!did )\byou (?:answered|solved|quoted|translated|summari[sz]ed) an?(?:other| different) "),
    ("fault", 0.7,
        r"\bthe (?:\w+ ){1,3}(?:that )?you (?:gave|sent|showed|told|used|wrote|listed|quoted|cited|suggested|provided"
        r"|mentioned)(?: me| us)? (?:is|are|was|were|does|do|did)(?:n't| not)?(?: even| actually)? (?:broken|dead"
        r"|wrong|incorrect|invalid|outdated|made up|fake|empty|work"
        r"|exist)\b(?<!does work)(?<!do work)(?<!did work)[^?]*$"),
    ("reproach", 0.7,
        r"\b(?:who|nobody|no one|no-one) (?:asked|told) you to (?:add|book|buy|cancel|change|commit|delete|deploy"
        r"|do (?:this|that)|drop|edit|fix|format|include|install|modify|order|post|push|refactor|remove|rename|reset"
        r"|rewrite|run|send|touch|translate)\b"),
    ("reproach", 0.7,
        r"\byou (?:\w+ )?said [^.?]{1,60}\bnow you(?:'re| are)? (?:say|tell|claim)"
        r"|~but you (?:just |also |clearly )?(?:said|told me|promised|wrote|claimed)\b"
        r"|\byou (?:just |also )?(?:said|told me|wrote|claimed) (?:the opposite|otherwise"
        r"|something (?:else|different))\b"),
    ("denial", 0.7,
        r"\bnothing to do with (?:my (?:question|request|problem)|what i (?:asked|said|want|meant)"
        r"|the (?:question|task))\b"),
    ("denial", 0.7,
        r"\b(?:docs?|documentation|manual|(?:web)?site|page|contract|receipt|invoice|policy|logs?|screen|app|label"
        r"|ticket|e-?mail|spec|readme|output) (?:clearly |actually )?(?:says?|states?|shows?|reads?) (?:otherwise"
        r"|the opposite|something else)\b"),
    ("denial", 0.6, r"~(?:no|nope),? not (?:the (?!last time)|th[ai]t(?! i\b)|those|these|my)\b"),
    ("restatement", 0.6,
        r"~(?:that|this|those|there)(?:'s| is| was| are| were) [^,.;?]{1,40}, not (?:mine|ours|yours|his|hers|theirs"
        r"|(?:my|our|the) \w+|\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten)(?: \w+)?[.!]?$"),
    ("reminder", 0.6, r"~again[,:] (?:it's|it is|i (?:said|asked|meant)|my name)\b"),
    ("restatement", 0.6,
        r"~(?:it's|it is|the (?:\w+ ){1,5}(?:is|are|was|were)) [^,.;?]{1,24}, not (?!too|very|so|yet"
        r"|sure)[^,.;?]{1,24}\b"),
    ("restatement", 0.7, r"~correction\b|\bthe other way (?:a)?round\b"),
    ("restatement", 0.5,
        r"~(?:no|nope), (?!thank|problem|worr|not|i\b|we\b|all|please|(?:it|that)(?:'s| is) (?:fine|all|alright|ok"
        r"|good|it\b))[a-z]"),
    ("restatement", 0.5,
        r"~actually,? (?:it's|it is|the|that's|i (?:said|meant))\b(?! (?:great|fine|good|nice|perfect))"),
    ("restatement", 0.6, r"\b(?:does not|doesn't|do not|don't) (?:exist|answer (?:what|my))\b"),
    ("restatement", 0.6,
        "~once more: |~not (?!now|yet|sure|today|really|bad|at all|that)[^,.;?]{1,20}, [^,.;?]{1,20}[.!]?$"),
    ("denial", 0.6, r"~(?:the|that|this|your) (?:\w+ ){1,3}(?:is|are) (?:wrong|incorrect|outdated|off by)\b"),
    ("restatement", 0.6, r"~you mean (?!to\b|that\b|if\b|like\b)[^?]{1,40}$"),
    ("restatement", 0.5, r"\b(?:it|this|that|they) (?:was|were) supposed to (?!rain|snow)[a-z]+\b[^?]*$"),
    ("denial", 0.6, "~(?:it|that|this|they) (?:did|does|is|was|has|will|can|do|are|were)(?: not|n't)(?:[,.!]|$)"),
    ("denial", 0.5, "~(?:wasn't|isn't|weren't) (?:it|that) [^?]{1,30} (?:who|which|that) "),
    ("denial", 0.7,
        r"\b(?:your|the) (?:maths?|arithmetic|numbers?|sums?|count|totals?|dates?|logic|figures?) (?:is|are"
        r"|seems?) (?:way )?off\b[^?]*$"),
    ("fault", 0.6, r"\b(?:error|mistake|typo) in your (?!opinion|experience|view)\w+\b[^?]*$"),
    ("denial", 0.5,
        r"\bplease (?:correct|rectify) (?:that|this)\b(?! (?:text|essay|sentence|paragraph|e?-?mail|letter|file"
        r"|code))"),
    ("denial", 0.8,
        r"\b(?:that|this|it|which)(?:(?:'s| is) not| isn't)(?: really| even| at all)? (?:an"
        r"|the) answer to (?:my (?:\w+ )?question|what i (?:asked|wanted))\b[^?]*$"),
    ("denial", 0.7,
        r"~(?:that's |it's |this is )?(?:the )?wrong (?!number)\w+ ?(?:[-–—,:]+|[.]{2,}) ?i (?:meant|said|asked for"
        r"|wanted)\b(?! to\b)"),
    # With a K, with two Ls.
    ("restatement", 0.6,
        r"~(?:it's|it is|that's) (?:actually )?spel(?:led|t) (?:(?!exactly|just|correctly"
        r"|right)[\w'-]+,? )?with(?:out)? (?:(?:an?|one|two|the|double|single|capital|small) )*(?:[b-z]"
        r"|a(?=[.!,]|$))(?:'?s)?(?![\w'])[^?]{0,16}$"),
    # "7 am not pm", all of it.
    ("restatement", 0.6,
        r"^(?!.*\b(?:i|we|you|they|he|she|it|do|does|did|is|are|was|were|can|will|would|could|should|why|if|or|have"
        r"|has|may|might|let|course|certainly|probably|maybe|perhaps|definitely|absolutely|surely|better|still|just"
        r"|please|hopefully|preferably|ideally|but|and|whether)\b)[^,.:;?]{1,24} not (?:a |an |the )?(?!found|set"
        r"|ready|valid|sure|now|yet|today|here|there|bad|good|fine|ok|enough|much|many|really|that|this|applicable"
        r"|necessary|possible|so\b|\w{2,}ed\b|\w+(?:able|ing)\b)[^,.;? ]{1,16}[.!]?$"),
)
_CONCESSIONS = (
    (0.7,
        r"\b(?:you(?:'re| are) (?:absolutely |completely |quite |totally |so )?(?:right(?!-(?:hand|wing|brain|foot"
        r"|side|lean|click|align|angle|mind))(?! (?:on (?!that|this)|here|there|now|at|next|behind|above|below|beside"
        r"|in (?:front|the))\b)|correct)|my (?:mistake|bad|error|apologies)|i stand corrected|good catch"
        r"|my (?:earlier|previous|last|first|original) (?:answer|reply|response|message|statement|claim|calculation"
        r"|summary) (?:was|is) (?:wrong|incorrect|inaccurate|mistaken|misleading|not (?:right|correct|accurate)))\b"),
    (0.7,
        r"\b(?:i apologi[sz]e|apologies|sorry) (?:for|about) (?:the|my|that|this) (?:\w+ )?(?:mistake|error|confusion"
        r"|oversight|misunderstanding|mix-?up|incorrect|wrong)"),
    (0.7,
        r"\bi (?:misunderstood|misread|was wrong|was mistaken|made (?:a|an) (?:mistake|error)|got (?:that|it) wrong"
        r"|mixed up|overlooked|missed that|forgot|should have)\b"),
    (0.7,
        r"\b(?:i'm |i am )?(?:so |very |really )?(?:sorry(?: about (?:that|this))?|(?:my )?apologies"
        r"|i apologi[sz]e)[,.;:!-]* (?:but )?i (?:had |have |must have )?(?:used|took|read|sent|gave|picked|misspoke"
        r"|confused|misattributed|left (?:out|off)|skipped|missed (?!your)|mixed|misheard|assumed|invented"
        r"|made (?:that|this|it) up|misstated|miscounted|copied)\b"),
    (0.7, r"\bthank(?:s| you) for (?:the correction|correcting|pointing (?:that|this|it) out|catching)\b"),
    (0.3,
        r"~(?:i'm |i am )?(?:so |very |really )?sorry\b(?! (?:to hear|but i (?:can't|cannot)"
        r"|for (?:the|your) (?:delay|wait|inconvenience|loss)))"),
)
# fmt: on
CORRECTION = CorrectionWords(
    cues=_CUES,
    denies=(
        r"~(?!i\b|we\b|let)[^,.;?]{1,30}, not (?:an? |the |on |in |at |for )?(?P<denied>[^,.;?]{2,30}?)[.!]*$",
        r"~(?P<denied>[^,.;?]{2,30}) (?:isn't|is not|wasn't|was not|aren't|are not) (?:the |an? )?[^,.;?]{2,30},"
        r" (?:it's |the )?[^,.;?]{1,30}?(?: (?:is|was|are))?[.!]*$",
        r"~there(?:'s| is| are| was| were) no (?:such )?(?P<denied>[^,.;?]{2,30}?)(?:[.!,]|$)",
    ),
    puts_right=(
        r"~(?:actually|in fact|in reality|it's|it is|it should be|that should be|should be)\b"
        r"(?!,? (?:now|more|less|over|under|about|around|almost|nearly|only)\b)"
    ),
    openings=r"(?:hm+|u[hm]+|er+m?|eh|ah|wait|sorry|well|but|and|so|oh|hey)\b[,. ]*",
    not_meant=(
        r"\bif\b|\bwhether\b|\bcorrect me\b|\b(?:am|was|were) i\b|\bis (?:that|this|it) (?:wrong|right|correct"
        r"|incorrect)\b|\bi (?:was|am|may be|might be|made|got|have it)\b(?! afraid| sure)|\bi'm (?:wrong|mistaken)\b"
        r"|\b(?:nothing|something|what)(?:'s| is| was| went) wrong\b|\b(?:might|may|could) be\b"
        r"|\b(?:he|she|they|my \w+) (?:said|told|says|asked|got|made|were|was)\b"
        r"|\b(?:the|an?|our|my|this|one|another) (?:customer|client|user|guest|reviewer|manager|boss|colleague"
        r"|teacher|buyer|seller|supplier)s? (?:just |also |still )?(?:said|says?|told|tells?|claim(?:s|ed)?|thinks?"
        r"|wr[io]tes?|insists?|complain(?:s|ed)?)(?: (?:that|me|us))* (?:you|we|it|this|that|your"
        r"|our)\b(?![^.!?]*, (?:and |so |but )?you\b)|\b(?:translate|story|write a|how do (?:i|you) say"
        r"|tell me (?:if|whether|about))\b|\bplease check\b|\b(?:explain|know|understand|wonder(?:ing)?|learn|tell me"
        r"|asks?|asking) why\b|\banything wrong\b|\b(?:don't|do not) think (?:that )?(?:you're|you are|you were"
        r"|that's|this is|it's|it is) (?:wrong|incorrect|mistaken)|\bthank|\bgreat\b|\bmissed nothing\b"
        r"|\bnot a problem\b"
    ),
    no=r"(?:no|nope|nah|not quite)\b(?! no\b)|(?:it|that|this|they) \w+(?: not|n't)\b",
    which=(
        r"(?:^|[.!;,。] ?)(?:and |so )?(?:which|what|when|where|how many|how much|how [^.!?]{1,30} spel[lt]\w*"
        r"|who)\b[^.!?]*\?$"
    ),
    asks_to_choose=(
        r"\bplease (?:choose|pick|select|tell|give|provide|specify|enter|let me know)\b"
        r"|\b(?:could|can|would) you (?:please )?spell\b|\bplease spell\b|\blet me know (?:which|what|when)\b"
    ),
    weekday=r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    month=r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    number="",
    concessions=_CONCESSIONS,
    apology=r"\b(?:i(?:'m| am) )?(?:so |very )?sorry\b|\b(?:my )?apolog(?:ies|i[sz]e)\b",
    concession_not_meant=(
        r"\b(?:if|whether|in case|unless|think|believe) (?:that )?you(?:'re| are) (?:right|correct)\b"
        r"|\byou(?:'re| are) right (?:to|that it depends)\b"
    ),
    # 3 | days, three | working days. "Three" alone is no term, and ends no phrase.
    cut=(
        r"\b(?:[0-9]+|one|two|three|four|five|six|seven|eight|nine|ten|twelve) [a-z]+ (?:second|minute|hour|day|week"
        r"|month|year|time|percent|euro|dollar|pound|mile)s?\b|[0-9] [a-z]"
    ),
    numerals_within=frozenset(),
    counters_within=frozenset(),
    measures_within=frozenset(),
    no_number_within=frozenset(),
    opens_badly_within=frozenset(),
    ends_badly_within=frozenset(),
    beside_within=frozenset(),
)

# -- contradictions: ours ----------------------------------------------------------------------------------------

# What is on, behind these, is enabled.
_SWITCHED = r"\b((?:is|are|was|were|be|stays?|remains?|turned|switched|set to)(?: (?:now|currently|still|always))?)"
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CONTRADICTION = ContradictionWords(
    answers=r"^(?:yes|no|nope|right)(?:,\s*|\s+(?=it\b))(?=\S)",
    lead_in=(
        r"^on (?:reflection|(?:a )?(?:second|closer) (?:look|inspection))\s+(?=\w)"
        r"|^(?:on (?:reflection|(?:a )?(?:second|closer) (?:look|inspection))|looking (?:at it )?again"
        r"|i (?:have )?(?:looked|checked)(?: it)?(?: again)?|after checking|having checked|correction|actually"
        r"|in fact|i (?:have )?(?:double-?checked|re-?checked|verified|re-?read)(?: it| this)?)\s*[:,]\s*(?=\S)"
    ),
    contrast=r",\s*(?:and )?not\b[^,.;]*(?=[.!]?$)|\bnot\b[^,.;]{1,60},?\s+but\s+(?!also\b)",
    denies_one=(
        r"^(.*\b(?:is|are|was|were)) .*,\s*(?:and )?not ([^,;]+?)[.!]?$",
        r"^(.*\b(?:is|are|was|were)) not ([^,;]{1,60}?),?\s+but\s+(?!also\b).*",
    ),
    denial="{} not {}",
    but=r"but\b",
    heads=(
        r"^(?P<head>(?!although|though|because|since|as\b|in case|until)[^,;:?]{12,120}),? (?P<why>because"
        r"|since(?= (?:it|they|the|he|she|we)\b)|which means) ",
    ),
    negated=r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|hardly|unable)\b|n't\b",
    negated_within="",
    no_negation=r"\bnot (?:only|just|merely)\b|\bno doubt\b|\bwithout (?:a )?doubt\b|\bnothing but\b|\bno matter\b",
    antonyms=pairs("""
        always/never all/none increase/decrease up/down rise/fall before/after enable/disable open/closed open/close
        like/hate love/hate pass/fail required/optional mandatory/optional public/private faster/slower fast/slow
        empty/full older/younger old/new oldest/newest more/less higher/lower high/low true/false right/wrong
        safe/dangerous allow/forbid accept/reject include/exclude first/last early/late cheap/expensive free/paid
        agree/disagree start/stop win/lose keep/remove hot/cold success/failure best/worst strong/weak better/worse
        improve/worsen synchronous/asynchronous guilty/innocent alive/dead exist/missing present/absent
        allowed/forbidden permitted/forbidden allowed/prohibited permitted/prohibited allowed/banned succeed/fail
        succeeded/failed online/offline approved/rejected approved/denied approved/declined granted/denied
        granted/refused visible/hidden busy/idle temporary/permanent grow/shrink longer/shorter larger/smaller
        bigger/smaller lighter/heavier earlier/later buy/sell ascending/descending works/broken left/right north/south
        synchronously/asynchronously reduce/increase include/drop supported/dropped inbound/outbound
        encrypted/plaintext minimum/maximum raise/lower raise/reduce raise/cut easy/hard easy/difficult wide/narrow
        deep/shallow rare/common often/rarely frequently/rarely always/rarely always/seldom help/harm cause/prevent
        accelerate/slow strengthen/weaken upgrade/downgrade import/export gain/lose profit/loss lengthen/shorten
        lossless/lossy odd/even upper/lower outer/inner dark/light met/missed single/married
        rose/fell rose/dropped grew/shrank won/lost bought/sold
        """),
    antonyms_within=(),
    prefixes={"un": 3, "non": 3, "in": 5, "im": 5, "ir": 5, "il": 5, "dis": 5},
    all_of=r"(?<!\bnot )(?<!n't )(?<!almost )(?<!nearly )\b(?:all|every|each)(?: of)?(?: the)?(?= [a-z])",
    some_of=r"\b(?:some|several|a few)(?: of the\b)?(?= [a-z])",
    most_of=r"\b(?:most|the majority|many)(?: of the\b)?(?= [a-z])",
    not_all=r"\bnot (?:all|every|each)\b",
    counted_of=(
        r"^(?:there (?:are|were) )?(?:[0-9]+|one|two|three|four|five|six|seven|eight|nine|ten)(?: of(?: the)?)?"
        r" (?=[a-z])"
    ),
    none_of=(
        (r"\bno (?!more\b|longer\b|less\b|fewer\b|one\b|doubt\b|matter\b|other\b|need\b|idea\b)(?=[a-z])", "0 "),
        (r"\b(?:is|are|comes?) free(?: of charge)?(?=[.!,;]|$)", "costs 0"),
    ),
    only=(
        r"^only (?:the |our )?([a-z][a-z' -]{1,40}?)"
        r" ((?:can|may|could|must|should|will|has|have|gets?|sees?|is|are)\b.+)",
        r"^no ?(?:one|body) (?:but|except|other than) (?:the |our )?([a-z][a-z' -]{1,40}?)"
        r" ((?:can|may|could|will|has|have|gets?|sees?|is|are)\b.+)",
    ),
    whoever=(
        r"^((?:every|any)(?:one|body)|(?:all|any|every)(?: of)?(?: the| our)? [a-z][a-z' -]{1,40}?)"
        r" ((?:can|may|could|must|should|will|has|have|gets?|sees?|is|are)\b.+)",
    ),
    # Words that only join others.
    stopwords=frozenset(
        listed("""
        a an the this that these those it its is are was were be been being am do does did done have has had having
        will would shall should can could may might must to of in on at by for with from as and or but so i we you
        they my our your their me us them there here also just still really very definitely clearly certainly any some
        able only then than longer anymore now yet already actually both each every everybody everyone about into
        """)
    ),
    stop_within="",
    # May is a month beside a day, and behind what a month follows; what people may do is a rule.
    hedge=(
        r"(?<!\byou )(?<!customers )(?<!customer )(?<!users )(?<!user )(?<!members )(?<!passengers )(?<!passenger )"
        r"(?<!guests )(?<!employees )(?<!students )(?<!visitors )(?<!travelers )(?<!travellers )(?<!buyers )"
        r"(?<!admins )(?<!agents )(?<!anyone )(?<!\bwe )(?<!\d )(?<!\d(?:st|nd|rd|th) )(?<!\b(?:in|of"
        r"|by) )(?<!\b(?:this|last|next|late) )(?<!\b(?:until|since|early) )\bmay\b(?! \d)"
        r"|\b(?:might|could|maybe|perhaps|possibly|probably|seems?)\b"
    ),
    another=r"\b(?:other|another|others)\b",
    bound=r"\b(?:at least|at most|up to|more than|less than|over|under|about|around|nearly|almost)\b",
    cap=r"\b(?:at most|up to)\b",
    past=r"\b(?:used to|previously|formerly|once was|back then)\b",
    when=(
        r"\b(?:used to|previously|formerly|once was|back then|was|were|had been|originally|initially|before|after"
        r"|until|during|tomorrow|yesterday|tonight|in (?:19|20)\d\d|(?:this|next|last) (?:week|month|year|quarter"
        r"|time|spring|summer|autumn|fall|winter|sprint))\b"
    ),
    condition=(
        r"^(?:if|when|unless|while|once)\b|\bif\b|^(?:so |and |now |but )?(?:(?:let's|let us) (?:assume|suppose|say"
        r"|pretend)|assume|suppose|assuming|supposing)\b"
    ),
    reworded=(
        (rf"{_SWITCHED} on(?=[.!,;]|$)", r"\1 enabled"),
        (rf"{_SWITCHED} off(?=[.!,;]|$)", r"\1 disabled"),
    ),
    any_more=r"\b(?:any more|any longer)\b",
    this_that=(),
    than=(
        r"(?:the )?(.{1,60}?) (?:is|are|was|were) (.{1,40}?) than (?:the )?(.{1,60}?)"
        r"((?: (?:for|in|on|at|with|under|by) .{1,60})?)[.!]?$",
    ),
    prefers=(r"(.{1,60}?) (?:prefers?|picked|chose) (?:the )?(.{1,40}?) (?:over|to) (?:the )?(.{1,40}?)[.!]?$",),
    than_within=(),
    determiners="the|our|my|your|his|her|its|their|an?",
    there_is=r"there (?:is|are|was|were) ",
    same_thing=frozenset(
        listed("""
        new current actual correct updated latest right real exact official total final revised
        """)
    ),
    label=(
        r"(?:version|v|step|chapter|page|part|phase|section|line|issue|case|room|level|day|week|q|#|order|invoice"
        r"|ticket|account|customer|user|task|bug|pr|build|run|job|server|node|host|worker|question|exercise|problem"
        r"|table|flight|train|bus|channel)\s*$"
    ),
    lettered=(
        r"\b(?:line|group|team|room|section|plan|option|building|wing|zone|gate|class|part|variant|unit|terminal|list"
        r"|appendix|batch|site|type) [a-z]\b"
    ),
    no_name=r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*",
    dated=(
        r"due\b|deadline|moved|found|born|happen|occur|(?<!\ba )(?<!\ban )(?<!\bnother )\b(?:meeting|appointment"
        r"|interview|exam|wedding|flight)\b|complet|construct|demolish|abolish|ratif|patent|discover|invent"
        r"|sign(?:ed)?\b|wedding|establish|releas|launch|publish|die|built|creat|introduc|expir|end|start|begin"
        r"|(?:is|was|be) (?:delivered|shipped)|arrive[sd]?\b"
    ),
    month=rf"(?<=\bin )(?:{'|'.join(MONTHS)})\b",
    months=MONTHS,
    weekday=((rf"\b(?:on|is|was|by|until) ({'|'.join(_WEEKDAYS)})s?\b", "on {} weekday"),),
    weekdays={day: number for number, day in enumerate(_WEEKDAYS, 1)},
    respelt=(),
    named_times=((r"(?<=\bat )noon\b", "12:00"), (r"(?<=\bat )midnight\b", "00:00")),
    halves_within={},
    numerals={**{word: str(number) for number, word in enumerate(_COUNTED)}, "twelve": "12"},
    digits_within={},
    tens_within={},
    measures_within=frozenset(),
    scales=(
        {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86400},
        {"gram": 1, "g": 1, "kg": 1000, "kilogram": 1000, "pound": 453.6, "lb": 453.6, "ounce": 28.35, "oz": 28.35},
        {"meter": 1, "metre": 1, "m": 1, "cm": 0.01, "km": 1000, "kilometer": 1000, "kilometre": 1000, "mile": 1609.3},
        {"kb": 1, "mb": 1000, "gb": 1e6, "tb": 1e9},
    ),
    per={
        **dict.fromkeys(("second", "sec", "s"), 1),
        **dict.fromkeys(("minute", "min"), 60),
        **dict.fromkeys(("hour", "hr", "h"), 3600),
        "day": 86_400,
        "week": 604_800,
        "month": 2_628_000,
        "year": 31_536_000,
    },
    rate=r"\s(?:per|an?|each|every)\s",
    not_counted=r"(?:per|an?|each|every|in|and|or|to)\b",
    retraction=(
        r"\bi was (?:wrong|mistaken)\b|\bon second thoughts?\b|\bi (?:retract|withdraw|take (?:that|it) back"
        r"|no longer (?:think|believe))\b|\bmy (?:earlier|previous|first|original|last) (?:answer|claim|statement"
        r"|conclusion|view)\b.{0,20}\b(?:wrong|incorrect|mistaken|false|not (?:right|correct|true))\b"
        r"|\b(?:this|that) (?:was|is) (?:wrong|incorrect|a mistake|not (?:right|correct|true))\b"
    ),
)

# -- facts -------------------------------------------------------------------------------------------------------
#
# Ours: what people and agents put into a memory (owners, places, versions, ports, dates).

_ROLE = one_of("""
    owner lead leader manager maintainer author contact assignee ceo cto cfo president chair chairman chairwoman
    chairperson head director boss supervisor teacher doctor dentist landlord tenant winner champion captain coach
    husband wife spouse partner fiancé fiancée mentor advisor adviser editor founder inventor principal mayor on-call
    capital
""")
_NAMED = one_of(r"""
    headquarters hq office birthplace hometown residence venue location destination origin room seat name nickname
    title surname username login email e-mail mail address hostname host domain url link endpoint website password
    passphrase key pin secret token bucket tag channel namespace cluster region zone server proxy employer school
    university bank vendor supplier provider carrier registrar airline hotel major currency timezone time_zone
    language locale framework broker database license licence model runtime engine compiler codename birthday
    anniversary deadline (?:due|start|end|launch|release|delivery|expiry|wedding|moving)_date schema
    (?:entry|primary|preferred|current|official|main|lead|chief)_\w+
    root_cause cause culprit reason bug error problem issue fault leak bottleneck regression
    port version phone extension number zip_code postcode postal_code code id gate release build date
""")
# Of these any word is a value.
_QUALITY = one_of(r"""
    colou?r status priority severity log_level encoding format plan tier default mode file_system filesystem branch
    default_\w+ protocol algorithm strategy blood_type
    favou?rite_(?:colou?r|food|dish|drink|sport|fruit|season|subject)
""")
_PLACED = one_of("located based hosted stored held kept deployed situated parked headquartered installed buried")
_VERB = one_of(r"""
    lives?_(?:in|at) resides?_(?:in|at) works?_(?:for|at|in) studies_at is_employed_(?:by|at) comes?_from grew_up_in
    was_born_(?:in|at) reports?_to belongs?_to points?_to defaults?_to resolves?_to depends_on listens?_(?:on|at)
    sits?_(?:in|at) is_(?:assigned|married|pinned|set|engaged)_to is_(?:called|named) is_(?:written_in|powered_by)
    is_licensed_under (?:is_|are_)?(?:runs?|running|hosted|deployed|built|based)_on
    is_due(?:_(?:on|in))? is_scheduled_(?:for|on) starts?_(?:on|at) ends?_(?:on|at) leaves?_from departs?_from
    (?:is|was)_(?:owned|maintained|led|managed|run|written|founded|developed|designed|painted|directed)_by
    (?:is|was)_(?:invented|discovered|chaired|built|composed)_by
""")
_DOES = one_of("""
    owns leads manages maintains chairs runs founded wrote invented discovered directed heads painted designed composed
""")
_NEEDS = one_of(r"""
    needs requires uses targets runs(?:_on)? is_on is_at is_pinned_to ships_with upgraded_to is_built_with
""")
_WHOSE = r"(?:(?:the|our|my|his|her|its|their|your|this) )?"
_ADVERB = r"(?:(?:now|currently|still|always|actually|really|today|officially|set to|called) )*"
_OF = r"(?: (?:of|for|in|on|at|to|behind) [^,;:]{1,60}?)?"
_IS = r"(?:is|are|=|:)"
_VERSION = r"(?P<value>\d+(?:\.\d+)*(?:-[\w.]+)?)"
_VERBS_OF_PLACE = ("", "located ", "based ", "situated ", "headquartered ", "hosted ", "deployed ")
FACT = FactWords(
    shapes=(
        Shape(r"(?P<subject>[^,;:]{1,60}?) (?:is|are) (?P<value>[\w.+-]+)[ -]licensed", "licence", True),
        Shape(
            rf"(?P<value>[^,;]{{1,50}}) {_IS} {_ADVERB}the (?P<subject>[^,;:]{{0,40}}?\bdefault(?: \w+)?{_OF})",
            "is",
            True,
        ),
        Shape(
            rf"{_WHOSE}(?P<subject>[^,;:]{{0,60}}?\b{_QUALITY}{_OF}) {_IS} {_ADVERB}(?P<value>[^,;]{{1,50}})",
            "is",
            True,
        ),
        Shape(
            rf"{_WHOSE}(?P<subject>[^,;:]{{0,60}}?\b(?:{_ROLE}|{_NAMED}){_OF}) {_IS} {_ADVERB}(?P<value>[^,;]{{1,50}})",
            "is",
        ),
        Shape(
            rf"(?P<value>[^,;]{{1,50}}) {_IS} {_ADVERB}(?:the|our|my|his|her|their|your) "
            rf"(?P<subject>[^,;:]{{0,40}}?\b{_ROLE}{_OF})",
            "is",
        ),
        Shape(
            rf"(?P<subject>[^,;:]{{1,80}}?) (?:is|are|lies|stands) {_ADVERB}(?P<verb>(?:{_PLACED} )?(?:in|at)) "
            r"(?P<value>[^,;]{1,50})",
        ),
        Shape(
            rf"(?P<subject>[^,;:]{{1,80}}?) {_ADVERB}(?P<verb>{_VERB}) {_ADVERB}(?P<value>[^,;]{{1,50}})",
        ),
        Shape(
            rf"(?P<value>[^,;]{{1,40}}?) (?P<verb>{_DOES}) (?P<subject>[^,;]{{1,60}})",
        ),
        Shape(rf"(?P<subject>[^,;:]{{1,60}}? {_NEEDS} [a-z][\w+#-]*) v?{_VERSION}", "version", True),
        Shape(rf"(?P<name>[a-z][\w+#-]*) {_VERSION} is (?P<subject>(?:required|needed)\b.{{0,60}})", "version", True),
        Shape(
            rf"(?P<subject>[^,;:]{{1,80}}?) (?:is|are) (?:on|at|in)? ?(?:version|release|v) ?{_VERSION}",
            "version",
            True,
        ),
    ),
    verbs={
        **dict.fromkeys(listed("stored_in stored_at held_in held_at kept_in kept_at"), "store"),
        **dict.fromkeys(listed("live_in lives_in live_at lives_at resides_in resides_at reside_in"), "live"),
        **dict.fromkeys(listed("works_for works_at work_for work_at is_employed_by is_employed_at"), "work"),
        **dict.fromkeys(listed("is_due is_due_on is_due_in is_scheduled_for is_scheduled_on"), "due"),
        **dict.fromkeys(listed("is_called is_named"), "called"),
        **dict.fromkeys(listed("runs_on run_on is_running_on are_running_on"), "run on"),
        **dict.fromkeys(listed("is_deployed_on are_deployed_on is_hosted_on are_hosted_on"), "deployed on"),
        "is licensed under": "licence",
        **{f"{verb}{where}": "place" for verb in _VERBS_OF_PLACE for where in ("in", "at")},
    },
    roles=dict(
        pairs("""
        owns/owner leads/lead manages/manager maintains/maintainer chairs/chair founded/founder wrote/author
        invented/inventor is_owned_by/owner is_led_by/lead is_managed_by/manager is_maintained_by/maintainer
        is_chaired_by/chair was_founded_by/founder was_written_by/author was_invented_by/inventor
        """)
    ),
    beside=(
        " (?:now|instead|today|these days|nowadays|again|already|from now on|as of (?:now|today)|since [^,;]{1,30})$"
        "|^(?:as of (?:now|today)|now|today|these days|currently|for now),? "
    ),
    no_value=(
        r"^(?:in|at|on|by|for|with|from|to|up|very|too|so|still|being|about) |^\w{2,}(?:[^r]ed|ing|able|ful|ous)$"
        r"|^(?:\w{2,}ed|due) (?:by|under|in|on|at|to|with|from|for)\b"
        r"|\b(?:and|or|both|either|not|no|than|that|which|who|where|when|if|because|also|too|as well|one of|among"
        r"|part of|unknown|tbd)\b"
    ),
    unnamed=r"^(?:the|a|an|our|my|his|her|their|room|port|v|version) |^v(?=\d)",
    definite=("the ",),
    subject_stop=r"'s\b",
    subject_token=r"[a-z0-9][\w.+#-]*",
    subject_stopwords=frozenset(
        listed("""
        the a an our my his her its their your this of for in on at to is are currently now i we he she it they there
        """)
    ),
    value_stopwords=frozenset(listed("the a an our my in on at of mr mrs ms dr")),
    regions=frozenset(
        listed("""
        europe asia africa america australia china taiwan japan korea germany france italy spain england britain uk
        usa us canada india brazil mexico california texas bavaria scotland ireland netherlands switzerland austria
        poland sweden
        """)
    ),
)

# -- extensions (seed 003, 2.3) ----------------------------------------------------------------------------------
#
# The seed gives "need time" and "thinking"; the rest is ours, from asking how else the same is said, how a need for
# data is put and what it is said to be for.

_NTH = ("first|1st", "second|2nd", "third|3rd", "fourth|4th")
EXTENSION = ExtensionWords(
    # Function words, time and effort, praise of data as such.
    fillers=listed("""
        a an the this that these those it its i i'm i'd i'll i've me my we our us you your he she they them their
        there here and or but so because since as if then than of for to from in on at by with about into over up out
        off is are was were be been being am do does did doing done have has had having can could may might must shall
        should will would not no yes ok okay well just only also too very really quite still yet already again almost
        nearly now please pls sorry thanks thank hi hello let's let lets need needs needed needing want wants wanted
        require requires required requesting request requested ask asking more most much many some any all other
        another few several bit little lot lots extra additional further time times moment while longer long minutes
        minute seconds second hours hour soon later step steps call calls tool tools round rounds turn turns attempt
        attempts try tries trying extension extend budget quota allowance limit think thinking thought thoughts reason
        reasoning consider considering reflect reflecting ponder pondering continue continuing keep keeps going go get
        getting make making give giving take taking finish finishing complete completing conclude conclusion wrap work
        working works progress task job things thing stuff investigate investigating investigation research
        researching explore exploring dig digging deeper deep look looking check checking verify verifying understand
        understanding analyse analyze analysing analyzing analysis study studying find finding search searching gather
        gathering collect collecting learn know see use using important relevant better best good great necessary
        sufficient enough useful helpful detailed specific full proper reliable recent latest various certain
        different new accurate correct concrete supporting support supports argument arguments claim claims side sides
        balanced well-founded appropriate topic issue problem question answer matter subject situation case point
        everything something anything sure carefully thoroughly properly fully quickly which what who when where why
        how max maximum incomplete insufficient inadequate unfinished before after concluding close nearer grant
        granted approve approved current currently existing present available comprehensive thorough robust solid
        stronger convincing confident confidence overall general clearer picture depth reach reaching decide deciding
        decision decisions judgement judgment determine determining improve improves improved improving provide
        provides providing respond reply so far thin weak scarce sparse limited wait waiting haven't hasn't hadn't
        don't doesn't didn't isn't aren't wasn't can't cannot couldn't won't final finally await awaiting read reading
        asap fyi btw urgent urgently immediately reached missing lacking lacks lack absent against under between
        within during
        """),
    # "Emissions data" is a need as it stands, and so is a document, a person's record, a device, a trace.
    telling=listed("""
        patent patents emissions index indices turnover wages salary salaries mortality unemployment inflation effects
        symptoms
        slip slips invoice invoices receipt receipts certificate certificates transcript transcripts prescription
        prescriptions passport passports itinerary parcel parcels shipment shipments
        device devices sensor sensors camera cameras router routers printer printers
        traceback tracebacks backtrace screenshot screenshots recording recordings footage
        """),
    needs=listed("""
        data dataset datasets figure figures statistic statistics stats number numbers price prices cost costs revenue
        earnings report reports filing filings source sources citation citations reference references paper papers
        article articles survey surveys benchmark benchmarks measurement measurements log logs trace traces
        output outputs result results test tests schema schemas config configuration setting settings documentation
        docs changelog release version versions code file files function module record records table tables rate rates
        share shares ratio law statute ruling regulation policy contract clause quote quotes date dates evidence
        information info details list dose dosage temperature weight population capacity history commit commits diff
        error errors
        """),
    holding=listed("data file files record records table tables report reports document documents entry entries list"),
    asking=listed("""
        argument arguments back claim claims core data detail details evidence fact facts figure figures information
        key lack lacking main miss missing number numbers point points prove proof purpose settle support supporting
        """),
    aim=(
        r"\b(?:answer(?:ing)?|help(?:ing)?|satisfy(?:ing)?|address(?:ing)?|resolv(?:e|ing)"
        r"|(?:reply|respond)(?:ing)? to) (?:the |my |our )?(?:user|customer"
        r"|client)(?:['’]?s['’]?)?(?: (?:questions?|requests?|query|queries))?\b"
    ),
    steps=r"more|extra|steps?|calls?|tool|seconds?|minutes?|hours?|times?|rounds?|tries|turns?",
    counted=r"%|(?:percent|words|characters|tokens|pages|lines|rows|files|records|entries|items|sources|papers|articles)\b",
    figure="",
    respelt=(
        *((rf"\b(?:{nth})[ -]quarters?\b", f"Q{number}") for number, nth in enumerate(_NTH, 1)),
        *((rf"\b(?:{nth})[ -]half\b(?! of the (?!year\b))", f"H{number}") for number, nth in enumerate(_NTH[:2], 1)),
    ),
)

# -- reflection --------------------------------------------------------------------------------------------------
#
# Ours, but for the form of a lesson (seed 004, "Reflection Engine"): "When user asks about X, remember to also mention
# Y".

REFLECTION = ReflectionWords(
    asking=listed("""
        ask asked asking check dear email explain find hear kindly look mail mean mention message news question remind
        reply say search send show speak suggest summarise summarize talk translate understand wonder work working
        morning afternoon evening week month year tomorrow yesterday monday tuesday wednesday thursday friday saturday
        sunday always never again still wrong correct incorrect forgot forget missed told said means meant
        """),
    lessons={
        "en": {
            "mention": "When asked about {subject}, also mention {asked}.",
            "corrected": "You were corrected {count} times about {subject}; the last time: “{quote}”",
            "corrected-on": "You were corrected {count} times on {asked}; the last time: “{quote}”",
            "corrected-alike": "You were corrected {count} times alike; the last time: “{quote}”",
            "gap": "When asked about {subject}, look it up first or say what you do not know ({count} times: {why}).",
            "low-confidence": "low confidence",
            "low-retrieval": "little retrieved",
            "unanswered": "questions left open",
            "and": ", ",
            "or": " or ",
            "rejected": "People rejected {count} responses for this reason, so check it before you answer: {reason}.",
            "impasse": "When asked about {subject}, read the question once more first: {count} responses got nowhere.",
        },
    },
)

# -- research ----------------------------------------------------------------------------------------------------
#
# The three questions and their aim are seed 003, section 5: “How to download the list of an ETF's holdings?”, “Where
# to see the latest report of the industry?”. The expressions are ours.

RESEARCH = ResearchWords(
    need=(
        r"(?:\b(?:should|must|needs? to|needed to|ha(?:ve|s) to|ought to|plans? to|decided? to|agreed to"
        r"|wants? to)\s+|\brecommend(?:s|ed)?\s+to\s+|\blet's\s+)(?!not\b|never\b|be\b"
        r"|have\b)(?:(?:now|also|first|then|always|only|just|therefore)\s+)*"
    ),
    do=(
        r"\A\s*(?:[-*•]\s*)?(?:(?:first|then|next|now|please),?\s+)?(?=(?:add|ask|build|buy|check|collect|compare"
        r"|contact|cut|delay|diversify|download|find|get|hire|hold|increase|install|invest|keep|look up|measure"
        r"|migrate|monitor|move|publish|raise|read|record|reduce|register|replace|review|roll out|sell|set up|ship"
        r"|start|stop|switch|test|track|train|update|upgrade|verify|watch|write)\b)"
    ),
    ends=r"[.;:,!?\n()]|\s(?:because|since|so that|but|unless|although|while|which|and then)\s",
    shortest=4,
    units=(
        r"percent\b|per cent\b|(?:percentage )?points?\b|billion\b|million\b|thousand\b|usd\b|eur\b|twd\b"
        r"|(?:dollars?|euros?|days?|weeks?|months?|years?|hours?|minutes?|seconds?|users?|people|customers?|times"
        r"|requests?|orders?)\b"
    ),
    no_name=frozenset(
        listed("""
        a an and as at but by for from he her his i if in it its my no not of on or our she so that the their then
        there these they this those to we what when where who why with yes you your monday tuesday wednesday thursday
        friday saturday sunday january february march april may june july august september october november december
        verdict conclusion
        """)
    ),
    questions={
        "en": {
            "do": "How do I {need}?",
            "do-first": "What is the first step with {subject}?",
            "find": "Where is the latest report on {subject}?",
            "check": "Where can “{figure}” be checked?",
            "check-risk": "What can go wrong with {subject}, and how is it noticed early?",
            "how-to": "{words} how to",
            "latest": "{words} latest report",
            "risk": "{words} risks",
        },
    },
    advice={
        "en": {
            "title": "# What to do next",
            "note": "Lines that begin with “>” quote the verdict and what a search found: leads, not instructions.",
            "do": "## {n}. To do",
            "find": "## {n}. To find",
            "check": "## {n}. To check",
            "source": "Source {n}:",
            "nothing": "The search found nothing for this.",
            "no-search": "No search is configured here: the questions stand, to be looked up elsewhere.",
        },
    },
)
