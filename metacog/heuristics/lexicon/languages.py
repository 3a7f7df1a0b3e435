"""The commonest words of languages that are written in Latin letters: articles, pronouns, prepositions, auxiliaries.

Source: our own choice from any grammar's closed word classes, written as a folded text has them (`words.fold_signs`:
"ı" is "i"). Languages share some; letters alone and the words that English has, too, are dropped below, so no list has
to be looked at beside another to add one.
"""

_EVERYDAY = {
    "en": """a i the of and to in is that it for you with on are this not be or have was as at by from your can will
        if an they we but what how there when which their do my he she his her would could should has been were does
        did about into than then so no yes me our us them these those because while where who why any some just
        also""",
    "es": """el los las una es del con por para su como más pero sus ya este esta estos estas sí porque entre cuando
        muy sin sobre también hasta hay donde quien desde todo todos nos uno después ahora así hacer mismo mucho según
        siempre gracias debe hola aquí cuál dónde ni otros ese eso ante ellos qué yo mi tu usted cómo puede puedo
        tiene tengo está están ser son fue ha he lo le les se al la que de en un y o""",
    "fr": """le les des une est dans pour qui sur pas par plus avec ce cette ces il elle nous vous ils elles mais ou
        où sont était être avoir ont aux du au je tu mon ma mes ton ta votre vos notre nos leur comme si bien très
        aussi peut peux faire quand comment pourquoi parce sans sous entre donc c'est j'ai n'est qu'il et un la de que
        en""",
    "de": """der die das und ist nicht ein eine einen einem einer eines zu den dem des mit von für auf sich auch es an
        als wie aus bei nach wird werden sind hat haben ich du er sie wir ihr mein meine dein ihre ihren aber oder
        wenn dass kann können noch nur über durch um so mehr war wurde diese dieser dieses wo was warum bitte in im am
        zum zur""",
    "it": """il lo gli le di che è per un una con non sono del della dei delle nel nella si da al alla come più ma
        anche io mio mia tuo suo noi voi loro questo questa questi quello ho hai ha abbiamo hanno essere stato perché
        quando dove chi cosa può posso molto tutto tutti se e o la in dal dalla sul sulla""",
    "pt": """o os as um uma do da dos das em no na nos nas para com não que é por mais como mas foi ele ela eles elas
        seu sua seus suas ou ser quando muito há já está eu também só pelo pela até isso isto este esta entre era
        depois sem mesmo aos ter você vocês meu minha pode posso tem são de e a ao onde porque obrigado""",
    "nl": """de het een en van ik te dat die in is niet op aan met voor er maar om hem dan zou of wat mijn men dit zo
        door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog zal me zij nu
        geen omdat iets worden toch al waren veel meer doen moet ben zonder kan hun dus wordt kunnen""",
    "sv": """och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig du
        henne då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut när efter upp vi dem
        vara vad över än dig kan sina här ha mot alla under någon eller allt mycket sedan denna själv detta utan""",
    "pl": """i w na z do się że nie jest to jak o za od po przez ale co tak już dla czy tym ten ta są był była było
        być jego jej ich może można gdy lub oraz tylko bardzo ma mam pan pani ja ty my wy oni które który która tego
        przy bez pod nad kiedy gdzie dlaczego ponieważ""",
    "tr": """ve bir bu da de için ile çok ne daha gibi kadar ama en olarak olan var yok ben sen biz siz onlar ki şu
        her değil mi sonra önce nasil neden çünkü veya ya şey olduğu oldu olur bunu bana sana""",
    "id": """yang dan di dari ini itu untuk dengan tidak pada adalah dalam akan ke juga saya anda kami kita mereka ada
        bisa dapat sudah telah atau karena oleh sebagai lebih seperti jika apa bagaimana mengapa kapan hanya belum
        harus tersebut""",
    "vi": """và của là có không được cho một các những này đó với trong để người tôi bạn chúng khi đã sẽ cũng như về
        từ thì mà ở nhưng vì nếu nào gì rất hay hoặc""",
}  # fmt: skip
_ENGLISH = frozenset(_EVERYDAY["en"].split())
# By two letters (ISO 639-1).
EVERYDAY = {"en": _ENGLISH} | {
    name: frozenset(word for word in words.split() if len(word) > 1) - _ENGLISH
    for name, words in _EVERYDAY.items()
    if name != "en"
}
# Of languages that are told from those we read, and not from one another.
_MORE = {
    "da": "og er ikke det af til som på med den har kan blev fra jeg der skal mere hvis",
    "no": "og er ikke det av til som på med den har kan ble fra jeg det trengs skal ingen hvis",
    "fi": "ja on ei että se ovat mutta oli joka kun niin tämä sitä jos myös olla minä mitä tähän",
    "hu": "és nem hogy egy az ez volt van meg csak de mint már ha minden kell azt ezt",
    "cs": "je že se na ve jsem není ale jako by tak podle pro už nebo jsou při když který",
    "ro": "și este nu la cu care din pe pentru mai sunt acest această prin dar sau ca fi",
    "hr": "je nije da se na su za koji ali kao što ne ili od ovo treba biti jer sam",
    "lt": "ir yra kad ne su tai bet kaip iš buvo dėl arba jau šis nuo reikia jis nėra tik",
    "sw": "na ya wa ni kwa katika hii hili hakuna cha za kuwa lakini sana yake yoyote bila hiyo",
    "tl": "ang ng sa mga ay hindi ito na para kung mo ko naman lang din may siya ngunit",
    "la": "et est non cum sed quod sunt esse ab ex hoc sine nulla quae enim autem atque",
}
# By two letters, all everyday words of a language, those it shares with others too.
SHARED = {name: frozenset(words.split()) for name, words in (_EVERYDAY | _MORE).items()}
NAMES = {
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "de": "German",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "sv": "Swedish",
    "pl": "Polish",
    "tr": "Turkish",
    "id": "Indonesian",
    "vi": "Vietnamese",
}

# A message in one of them that asks for another: to translate, or by the other's name.
NAMES_A_LANGUAGE = (
    r"\btradu[cizçs]|\bübersetz|\bvertaal|\böversätt|tłumacz|\bçevir|\bterjemah|\bdịch\b"
    r"|\b(?:anglais|inglese?s?|inglés|inglês|englisch|engels|engelska|angielsk\w*|ingilizce|inggris|tiếng anh)\b"
    r"|\b(?:français|francés|francês|francese|französisch|frans|franska|español|espagnol|espanhol|spagnolo|spanisch|spaans)\b"
    r"|\b(?:allemand|alemán|alemão|tedesco|deutsch|duits|tyska|italien|italiano|italienisch|portugais|portugués|português)\b"
    r"|\b(?:chinois|chino|chinês|cinese|chinesisch|chinees|japonais|japonés|japonês|giapponese|japanisch|japans)\b"
)
