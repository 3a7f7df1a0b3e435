"""Languages that no rule reads: by their script, or in Latin letters by everyday words; never from too little."""

from unittest import mock

from metacog.heuristics import unread
from metacog.heuristics.lexicon import LANGUAGES
from metacog.heuristics.unread import is_unread
from tests.tables import table

UNREAD = [
    "絶対に間違いありません。原因はキャッシュです。",
    "확실히 캐시가 원인입니다. 의심할 여지가 없습니다.",
    "זה בהחלט נכון, אין ספק.",
    "Das ist definitiv die Ursache, garantiert und immer.",
    "Это точно ошибка сервера, сомнений нет.",
    "C'est évidemment une erreur du serveur.",
    "Definitivamente el error está en la base de datos.",
    "È impossibile che il server sia lento.",
    "A causa é certamente o cache, sem dúvida nenhuma.",
    "Het is absoluut onmogelijk dat dit fout gaat.",
    "Det är helt säkert servern som är problemet.",
    "To jest na pewno wina serwera, nie ma wątpliwości.",
    "Bu kesinlikle sunucunun hatası ve başka bir şey değil.",
    "Ini pasti kesalahan server dan tidak ada yang lain.",
    "Chắc chắn lỗi này là do máy chủ.",
    "Virhe johtuu ehdottomasti välimuistista, eikä mitään muuta tarvitse tarkistaa.",
    "Chyba je určitě v mezipaměti.",
    "هذا بالتأكيد خطأ في الخادم ولا شك في ذلك",
    "यह निश्चित रूप से सर्वर की गलती है",
    "นี่คือข้อผิดพลาดของเซิร์ฟเวอร์อย่างแน่นอน",
    "Είναι σίγουρα η μνήμη, χωρίς αμφιβολία.",
    "C'est e\u0301videmment une erreur du serveur.",
    "Tatizo hili bila shaka linatokana na kumbukumbu ya muda na hakuna haja ya majaribio mengine yoyote sasa.",
]
READ = [
    "It is clearly the cache.",
    "一定是快取的問題，不用再測。",
    "这肯定是缓存的问题。",
    "這個 bug 是 race condition 造成的，我已經 fix 了",
    # Too little to tell.
    "Ja, klar.",
    "Danke schön!",
    "はい。",
    "OK",
    "",
    "42",
    "3.14 2.71 1.41",
    "!?",
    # In no language.
    "Anna Müller, José García, Søren Kierkegaard, Łukasz Żółty, Zoë Çelik",
    "Los Angeles, La Paz, El Salvador",
    "Rio de Janeiro, Universidad de la Plata, Ciudad de México",
    "git commit -m fix && npm run test -- --watch",
    "```python\nfür = die[und] + der(ist)\n```",
    "error: connection pool exhausted, restarting worker process now",
    "Restarted worker, cleared cache, redeployed build successfully",
    "Commenting out parameter names reduces code clarity.",
    # Ours, with another in it.
    "The word Schadenfreude means die Freude über das Unglück der anderen, and it is a German word.",
    "The word 絶対に means absolutely in Japanese.",
    "Update résumé and café naïve façade entries",
]


@table("text", UNREAD)
def test_a_language_without_a_file_is_unread(text: str) -> None:
    assert is_unread(text)


@table("text", READ)
def test_what_is_read_or_in_no_language_is_not(text: str) -> None:
    assert not is_unread(text)


def test_a_file_more_makes_its_language_readable() -> None:
    german, japanese = (type(name, (), {"__name__": f"lexicon.{name}", "ABSOLUTE": words}) for name, words in (
        ("de", ("definitiv", "garantiert")), ("ja", ("絶対に", "間違いない"))
    ))  # fmt: skip
    with mock.patch.object(unread, "LANGUAGES", (*LANGUAGES, german, japanese)):
        scripts, alphabets, ours, others = unread._reading()
    with mock.patch.multiple(unread, _SCRIPTS=scripts, _ALPHABETS=alphabets, _OURS=ours, _OTHERS=others):
        told = [is_unread(text) for text in UNREAD[:5]]  # Japanese, Korean, Hebrew, German, Russian
    assert told == [False, True, True, False, True]
