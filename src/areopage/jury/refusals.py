"""Beginnings of texts in which a judge declines, in the languages that judges answer in."""

import re

from areopage.text import late_pattern

_BY_LANGUAGE = {
    "en": r"i(?:['’]m| am) (?:sorry|not able|unable)|sorry,|i (?:can(?:no|['’])t|won['’]t|must decline|apologi[sz]e)|as an ai\b",
    "fr": r"je (?:suis (?:désolée?|navrée?|dans l['’]incapacité)|ne (?:peux|puis|suis) pas|refuse|regrette)|désolée?\b|"
    r"en tant qu['’](?:ia\b|intelligence artificielle)",
    "es": r"lo (?:siento|lamento)\b|(?:no (?:puedo|me es posible|estoy en condiciones de)|debo negarme a) (?:\w{1,3} )?"
    r"(?:ayudar|asistir|evaluar|calificar|juzgar|puntuar|valorar|responder|contestar|cumplir|proporcionar|participar)|me niego\b|"
    r"debo (?:rechazar|declinar)|como (?:una )?(?:ia\b|inteligencia artificial|modelo de lenguaje)",
    "de": r"(?:es )?tut mir (?:sehr )?leid|entschuldigung\b|(?:(?:leider )?(?:kann|darf) ich|ich (?:kann|darf)) "
    r"(?:\w+ ){0,5}nicht (?:helfen|weiterhelfen|behilflich|unterstützen|beurteilen|bewerten|benoten|einschätzen|beantworten|"
    r"erfüllen|nachkommen)|"
    r"ich (?:bin nicht in der lage|muss (?:das |dies )?ablehnen|lehne (?:das |dies |es )?ab\b)|als (?:eine )?"
    r"(?:ki(?:-\w+)?\b|künstliche intelligenz|sprachmodell)",
    "it": r"mi (?:di)?spiace\b|spiacente\b|(?:non (?:posso|sono in grado di|mi è possibile)|devo rifiutare di) (?:aiutar|"
    r"assister|valutar|giudicar|risponder|fornir|soddisfar|partecipar|dare un)|devo (?:rifiutare|declinare)|(?:in quanto|come) "
    r"(?:(?:un['’])?(?:ia\b|intelligenza artificiale)|modello linguistico)",
    "pt": r"desculpe\b|desculpa\b|lamento\b|sinto muito\b|não (?:posso|consigo|me é possível|sou capaz de) (?:\w{1,3} )?"
    r"(?:ajudar|auxiliar|avaliar|julgar|pontuar|responder|atender|fornecer|participar)|devo recusar|como (?:uma? )?(?:ia\b|"
    r"inteligência artificial|modelo de linguagem)",
    "zh": r"(?:我)?(?:很|非常|十分|深感|真的)?(?:抱歉|对不起|對不起|不好意思|遗憾|遺憾)|"
    r"我?(?:无法|無法|不能|不便|不会|不會|拒绝|拒絕)"
    r"(?:(?:为|為)您|(?:对|對|就|根据|根據)[^，。,.]{0,20}?)?(?:进行|進行|提供|给出|給出)?(?:任何)?(?:评|評|判|打分|回答|协助|協助|帮|幫|"
    r"满足|滿足|处理這|处理这|完成|参与|參與)|作(?:为|為)(?:一(?:个|個|名))?(?:ai|人工智能|人工智慧|语言模型|語言模型)",
}
_REFUSAL = late_pattern(rf"\W*(?:{'|'.join(_BY_LANGUAGE.values())})", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Whether a text without a verdict begins as a judge that declines."""
    return _REFUSAL.match(text) is not None
