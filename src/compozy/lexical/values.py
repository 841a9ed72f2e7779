"""What kinds of values a task contains, and the words by which a tool asks for them.

"Tell ada@example.org that I come at 18:30" says neither "email" nor "time", and a tool with such parameters says no
more than that. A kind is recognised by its form alone; what it hints at counts little beside real words (`HINT` in
`index`), but decides where those are silent. It knows nothing of documents.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from compozy.lexical.words import stem

# What follows is not looked at; every repetition below is bounded as well, so that no text takes long.
_MOST_CHARACTERS = 4_000
# Most kinds have one of these in them.
_SIGN = re.compile(r"[^\w\s]|\d")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_LANGUAGE = (
    "(?:english|german|french|spanish|italian|portuguese|japanese|chinese|mandarin|korean|russian|dutch|polish|turkish"
    "|arabic|hindi|greek|swedish|norwegian|danish|finnish|czech|hungarian|hebrew|thai|vietnamese|ukrainian|latin)"
)
_NUMBER = r"(?<![\w.])\d[\d.,]{0,15}"
_FEW = r"(?:\d{1,4}|an?|half an|two|three|four|five|six|seven|eight|nine|ten|few)"


class Kind(NamedTuple):
    """One kind of value: how a reason calls it, its form, and stems of the words by which it is asked for.

    A kind that is not `plain` is never found in a text of letters and spaces alone.
    """

    name: str
    form: re.Pattern[str]
    stems: tuple[str, ...]
    plain: bool


def _kind(name: str, words: str, form: str, *, exact_case: bool = False, plain: bool = False) -> Kind:
    return Kind(name, re.compile(form, 0 if exact_case else re.IGNORECASE), tuple(map(stem, words.split())), plain)


KINDS = (
    _kind(
        "a web address",
        "url link website web page address domain",
        r"https?://|\bwww\.|(?<![\w@.-])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|io|dev|app|edu|gov|de|fr|co\.[a-z]{2})\b",
    ),
    _kind("an e-mail address", "email mail address recipient", r"[\w+-]@[\w-]{1,63}\.\w"),
    _kind(
        "a date",
        "date day",
        r"\b\d{4}-\d\d?-\d\d?\b|(?<![\w/.])\d{1,2}(?:/\d{1,2}(?:/\d{2,4})?(?![\w/])|\.\d{1,2}\.(?:\d{2,4})?(?![\w.]))|\b\d{1,2}(?:st|nd|rd|th)\b"
        rf"|\b{_MONTH}\.?\s\d|\b\d{{1,2}}\.?\s(?:of\s)?{_MONTH}\b"
        r"|\b(?:january|february|april|june|july|august|september|october|november|december)\b"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:today|tomorrow|tonight|yesterday|weekend)\b"
        r"|\b(?:next|last|this) (?:week|month|year)\b",
        plain=True,
    ),
    _kind(
        "a time of day",
        "time hour",
        r"\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm|o'clock)\b|\b(?:noon|midnight)\b",
        plain=True,
    ),
    _kind(
        "a span of time",
        "duration time minutes",
        rf"\b{_FEW}[ -]?(?:mins?|minutes?|hours?|hrs?|secs?|seconds?|days?|weeks?|months?|years?)\b",
        plain=True,
    ),
    _kind(
        "an amount of money",
        "amount money price cost currency",
        rf"[$€£¥]\s?\d|{_NUMBER}k?\s?(?:[$€£¥]|(?:usd|eur|euros?|dollars?|bucks|quid|pounds?|gbp|chf|yen|jpy|inr|rupees?)\b)",
    ),
    _kind(
        "a currency",
        "currency",
        r"\b(?:USD|EUR|GBP|CHF|JPY|INR|CNY|AUD|CAD|SEK|NOK|DKK|PLN|MXN|BRL|ZAR|BTC|ETH)\b|\b(?:[Ee]uros?|[Dd]ollars|[Yy]en|[Rr]upees|[Pp]esos)\b",
        exact_case=True,
        plain=True,
    ),
    _kind("a share", "percent percentage rate", r"\d\s?%|\d\spercent\b"),
    _kind(
        "a file",
        "file path",
        r"\w\.(?:csv|txt|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp[34]|wav|mov|json|ya?ml|toml|xml|html?|py|js|ts|md|zip"
        r"|tar|gz|log|sql|parquet)\b|(?:^|\s)[~.]{0,2}/[\w.-]{1,64}/",
    ),
    _kind("an image", "image photo picture", r"\w\.(?:png|jpe?g|gif|svg|webp|heic)\b"),
    _kind("a recording", "audio sound", r"\w\.(?:mp3|wav|flac|m4a|ogg)\b"),
    _kind("a film", "video", r"\w\.(?:mp4|mov|mkv|webm)\b|\byoutu\.?be\b", plain=True),
    _kind("a table", "table data spreadsheet", r"\w\.(?:csv|tsv|xlsx?|ods|parquet)\b"),
    _kind("a network address", "ip address host", r"\b(?:\d{1,3}\.){3}\d{1,3}\b"),
    _kind(
        "an identifier",
        "id number identifier",
        r"#\d|\b[A-Z]{1,5}-\d|(?<![\w#])[A-Za-z]{1,4}\d{3,12}\b|(?<![\w.,])\d{5,20}\b(?![.,]\d)|\b[0-9a-f]{8}-[0-9a-f]{4}-",
        exact_case=True,
    ),
    _kind("a hash", "id hash", r"\b(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{7,64}\b", exact_case=True),
    _kind(
        "a temperature",
        "temperature degree unit",
        r"\d\s?(?:°|degrees?\b|deg\b|celsius\b|fahrenheit\b)|\d\s?[CF]\b|\b(?:[Cc]elsius|[Ff]ahrenheit)\b",
        exact_case=True,
        plain=True,
    ),
    _kind(
        "a distance",
        "distance length unit",
        rf"{_NUMBER}\s?(?:km|kilomet\w{{2,4}}|miles?|mi|met(?:er|re)s?|m|ft|feet|inch(?:es)?|cm|mm|yards?)\b",
    ),
    _kind("a weight", "weight unit", rf"{_NUMBER}\s?(?:kg|kilos?|lbs?|pounds|grams?|g|mg|oz|ounces|tons?)\b"),
    _kind(
        "a size",
        "size",
        r"\b\d{1,6}\s?(?:px|[kmgt]i?b)\b|\b\d{1,5}\s?x\s?\d{1,5}\b|\b(?:small|medium|large|xl|xxl)\b",
        plain=True,
    ),
    _kind("a phone number", "phone number contact", r"\+\d[\d ()-]{6,20}|\b\d{3}-\d{3,4}(?:-\d{3,4})?\b"),
    _kind("coordinates", "latitude longitude coordinates location", r"-?\d{1,3}\.\d{2,10}\s?,\s?-?\d{1,3}\.\d{2,10}"),
    _kind("a postal code", "zip postal code", r"(?<![\w.,#-])\d{5}(?:-\d{4})?(?![\w-]|[.,]\d)"),
    _kind(
        "a street",
        "address street location",
        r"\b\d{1,5}\s(?:\w{2,20}\s){1,3}(?:st|street|ave|avenue|rd|road|lane|ln|blvd|court|drive|square)\b",
    ),
    _kind("a language", "language target", rf"\b(?:in|into|to|from)\s{_LANGUAGE}\b", plain=True),
    _kind("a stock symbol", "symbol code ticker", r"(?<!\w)\$[A-Z]{1,5}\b", exact_case=True),
    _kind("a colour", "color colour", r"#(?=[0-9]{0,5}[a-f])[0-9a-f]{6}\b"),
    _kind("a calculation", "calculate expression number", r"\d\s?[+*/×^]\s?\d"),
    _kind("a version", "version", r"(?<![\w.])v?\d{1,4}\.\d{1,4}\.\d{1,4}\b(?!\.\d)"),
    _kind("a quotation", "text title name", r"[\"“][^\"”]{3,200}[\"”]|(?:^|\s)'[^']{3,200}'"),
    _kind("an account", "user account handle username", r"(?:^|\s)@\w"),
    _kind(
        "a number of people",
        "number people guests",
        rf"\b{_FEW}\s(?:people|persons?|of us|guests?|adults?|kids|children|seats?|tickets?)\b",
        plain=True,
    ),
)


# Scripts without blanks: a value that stands in such a text ends where its own script does.
_UNSPACED = "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
_SWITCH = re.compile(rf"(?<={_UNSPACED})(?=[!-~])|(?<=[!-~])(?={_UNSPACED})")


def kinds_in(text: str) -> tuple[Kind, ...]:
    """Return the kinds of values that the beginning of a text contains, each once."""
    return _kinds(text[:_MOST_CHARACTERS])


# One choice asks several times about its task.
@lru_cache(maxsize=16)
def _kinds(text: str) -> tuple[Kind, ...]:
    if not text.isascii():
        # A character may stand for up to eighteen.
        text = unicodedata.normalize("NFKC", text)[:_MOST_CHARACTERS]
        text = _SWITCH.sub(" ", text)
    signs = _SIGN.search(text) is not None
    return tuple(kind for kind in KINDS if (signs or kind.plain) and kind.form.search(text))


def hints(text: str) -> tuple[str, ...]:
    """Return the stems by which tools ask for the values in a text, each once."""
    return tuple(dict.fromkeys(root for kind in kinds_in(text) for root in kind.stems))
