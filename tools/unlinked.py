"""Which words of a question nothing in a database corresponds to: no name, no value.

A question whose things the database does not know cannot be answered from it, whatever a model
writes. Names of people and places, quoted texts and verbs do not count: a value may be missing, and
a deed may have any name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from planweave.tools.checking.words import KINDS, superlatives
from planweave.tools.database import Schema, Unlinked
from planweave.tools.suggest import shared_start
from planweave.tools.synonyms import SYNONYMS

_ASKING = frozenset(
    """
    a an the of is are was were be been being it its this that these those to in on at by for from
    with without and or not no if has have had having do does did which what who whom whose where
    when how why most least more less fewer than first last one two three we our us you your me my
    i should would could must may might can will there here they them their he she his her as so
    because only other others each every any all some both either into up out over under per about
    between within during after before since until against also then such same different distinct
    unique based once twice ever still already another together whether across along among often
    throughout never none neither nor nobody nothing anyone anybody anything everyone everybody
    everything someone somebody something much many lot lots several few enough too very quite
    rather almost around away back down off through onto upon beyond besides despite except via
    though although however always sometimes usually rarely seldom mostly mainly maybe perhaps soon
    itself themselves whichever whatever yet even far apart ahead instead elsewhere just else
    nowadays abroad anywhere everywhere somewhere
    """.split()  # noqa: SIM905 (a text is easier to read)
)
"""Words that hold a question together; one without them is in another language."""
_GENERAL = frozenset(
    """
    return returns returned show shows list lists listed give given find get provide display
    compute calculate determine identify tell let please make making use using include including
    exclude excluding sort sorted order ordered rank ranked ranking group grouped compare match
    ignore note represent want answer query live left join just format round rounded case
    insensitive number numbers count counts total sum average avg mean median maximum minimum
    max min highest lowest largest smallest biggest greatest top bottom best worst many much
    percentage percent ratio rate share proportion fraction difference change changes amount
    amounts value values fewest longest shortest latest earliest recent newest oldest higher
    lower greater larger smaller longer shorter earlier later above below equal long short
    length alphabetical ascending descending exactly inclusive respectively overall decimal
    place places name names named id ids record records row rows data database dataset column
    columns table tables result results details information info set letter start starts
    starting end ends ending contain contains date dates day days week weeks month months
    quarter quarterly monthly yearly daily weekly year years hour hours minute minutes time
    times second seconds noon midnight morning afternoon evening night today tomorrow tonight
    yesterday now current currently past ago calendar january february march april
    june july august september october november december jan feb mar apr jun jul aug sep oct nov
    dec monday tuesday wednesday thursday friday saturday sunday null zero yes true false
    corresponding associated related respective specific certain particular available people
    person user users customer customers thing things item items relationship relationships node
    nodes role roles outside common next successful kind type types question square kilometer
    kilometers kilometre kilometres meter meters metre metres mile miles feet mph kmh dollar
    dollars euro euros preference boolean option options decide choose wrote sold bought sent
    made came paid got went took gave ran met held won lost spent grew began built kept led told
    thought brought belong word words single character characters includes limit but play vary
    retrieve select metric metrics graph diverse various consecutive used refers written taken
    chosen seen shown done drawn broken driven
    """.split()  # noqa: SIM905
)
_DEEDS = frozenset(
    """
    accept add allow appear apply arrive ask attend avoid become begin borrow bring build buy care
    carry catch choose cite close come connect consist contribute cost cover create cross deal
    decide decrease deliver depart depend deserve die differ divide download drop earn eat employ
    enable enter establish exceed exist expect expire fail fall finish fit fly follow generate get
    go grow handle happen have help hire hold increase indicate involve join keep know land last
    lead learn leave lend lie live lose maintain make manage mean meet mention miss move need occur
    offer open operate organize outnumber overlap owe own participate pass pay perform play prefer
    prevent produce promote provide publish purchase raise reach receive reduce refer register
    reject relate rely remain remove repeat replace reply require respond return ride rise run save
    say see seem sell send serve settle ship sign skip solve speak specialize spend split stand
    start stay stop submit suffer supply support surpass survive take teach think transfer travel
    try turn upload use visit wait walk watch wear weigh win work write

    ate beaten borne bred caught cut dealt drank drunk eaten fallen fed felt flew flown fought found
    gave gotten hidden hit kept laid lain lent meant ridden risen rode rose sat seen shot shown
    put shut slept spoke spoken stolen stood struck sung taught thrown torn understood woke worn
    """.split()  # noqa: SIM905
)
"""What is done, in forms that no ending marks; a deed may have any name in a database."""
_COUNTED = frozenset(
    """
    zero one two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred
    thousand million dozen half pair combination combinations terms member members participant
    participants
    """.split()  # noqa: SIM905
)
"""Numbers in words, and words for several things together."""
_VERB = re.compile(r"(?:ed|ing|ly|able|ible|ous|ful)$")
"""Endings of deeds, and of how things are or are done: they name no thing."""
_ACTING = re.compile(r"\w (?:that|who)$", re.IGNORECASE)
"""What stands before a deed: "a flight that operates"."""
_NOUN_OF_VERB = re.compile(r"(?<=\w\w\w)(?:(?:a?t?ion|me?nt|ing|al|ance)s?|e)$")
_COMPARED = re.compile(r"\b(?:most|least|how|too|more|less)$", re.I)
_ADJECTIVE = re.compile(r"(?:ive|able|ible|al|ful|ous|ent|ant|on|ar|ng|ge|gh)$")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_WORD = re.compile(r"[^\W\d_]+")
_PARTS = re.compile(r"[^\W\d_A-Z]+|[A-Z]+(?![a-z])|[A-Z][^\W\d_A-Z]*")
_QUOTED = re.compile(r"(?<!\w)['\"\u201c\u2018][^'\"\u201d\u2019]{1,60}['\"\u201d\u2019](?!\w)")
_ALTERNATIVES = re.compile(r"(?<=[^\W\d_])/[^\W\d_]+")
"""What stands behind a stroke, as in "cities/towns": the first name counts."""
_LEAST_ASKING = 2
_LONGEST_ABBREVIATION = 6
_SHORTEST_STEM = 4
_SHARED_STEM = 6


def unlinked(
    question: str,
    schema: Schema,
    values: Callable[[str, str], Sequence[str]],
    *,
    explained: str = "",
) -> Unlinked:
    """The words of a question that no name and no value of a database corresponds to.

    Args:
        question: In the user's words; one that is not English is not judged.
        schema: What the database holds.
        values: Stored texts of a column, by table and column.
        explained: Rules, instructions and other texts whose words are known from there.
    """
    telling = _telling(question)
    if not telling:
        return Unlinked((), 0.0)
    names = {word for entity in schema.entities for word in _names(entity.name)}
    names |= {
        w for entity in schema.entities for field in entity.fields for w in _names(field.name)
    }
    known = {*_words(explained), *_abbreviated(question, names)}
    for entity in schema.entities:
        for field in entity.fields:
            for value in values(entity.name, field.name):
                known.update(_words(value))
    unknown = tuple(word for word in telling if not _is_known(word, names, known))
    return Unlinked(unknown, len(unknown) / len(telling))


def invented(names: Iterable[str], question: str, schema: Schema, *, explained: str = "") -> str:
    """A name that is made of a question's words and that the database does not have; or nothing.

    A model that finds no place for what is asked takes a name from the question: ``blood_type``.

    Args:
        names: The columns or properties that a query reads.
        question: In the user's words.
        schema: What the database holds.
        explained: Texts whose words are known from there.
    """
    entities = schema.entities
    given = [entity.name for entity in entities]
    given += [field.name for entity in entities for field in entity.fields]
    known = {_single(_joined(name)) for name in given}
    asked = {_single(word) for word in _words(question)} - {_single(w) for w in _words(explained)}
    for name in names:
        parts = {_single(part.lower()) for part in _PARTS.findall(name)}
        if parts and parts <= asked and _single(_joined(name)) not in known:
            return name
    return ""


def _telling(question: str) -> tuple[str, ...]:
    """Words that name what is asked about, without names of single things and verbs."""
    if sum(word in _ASKING for word in _words(question)) < _LEAST_ASKING:
        return ()
    text = _COMPOUND.sub(lambda found: max(found[0].split("-"), key=len), question)
    text = _ALTERNATIVES.sub(" ", _QUOTED.sub(" ", text)).replace("\u2019", "'")
    text = re.sub(r"(?:n't|'s)\b", "", text)
    found = []
    for word in _WORD.finditer(text):
        before = text[: word.start()].rstrip()
        is_name = word[0][0].isupper() and before and before[-1] not in ".?!:"
        plain = word[0].lower()
        if (
            is_name
            or _ACTING.search(before)
            or len(plain) < 2
            or plain in _ASKING
            or plain in _GENERAL | _DEEDS | _COUNTED
            or _single(plain) in _DEEDS
            or superlatives(plain)
        ):
            continue
        if _COMPARED.search(before) and _ADJECTIVE.search(plain):
            continue  # "most expensive": how things are compared, not what they are
        if not (_VERB.search(plain) and len(plain) > _SHORTEST_STEM):
            found.append(plain)
    return tuple(dict.fromkeys(found))


def _names(name: str) -> Iterable[str]:
    """The words of a name, and all of it in one: ``pay_load`` is ``payload`` to a reader."""
    yield from (part.lower() for part in _PARTS.findall(name))
    yield _joined(name)


def _joined(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _abbreviated(question: str, names: set[str]) -> Iterator[str]:
    """Words of a question whose first letters are a name: "mechanism of action" is ``moa``."""
    words = _words(question)
    for length in range(3, _LONGEST_ABBREVIATION + 1):
        for start in range(len(words) - length + 1):
            several = words[start : start + length]
            if "".join(word[0] for word in several) in names:
                yield from several


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_known(word: str, names: set[str], known: set[str]) -> bool:
    single = _single(word)
    if word in known or single in known:
        return True
    if any(_is_kin(single, _single(name)) for name in names):
        return True
    singles = {single for name in names for single in (name, _single(name))}
    return any({word, single} & kind and singles & kind for kind in _KINSHIPS)


def _is_kin(word: str, name: str) -> bool:
    """Whether one is a form of the other, or its beginning: ``dept`` hardly, ``desc`` yes."""
    if word == name:
        return True
    shorter, longer = sorted((word, name), key=len)
    shared = shared_start(word, name)
    if shared >= _SHARED_STEM or _stem(word) == _stem(name):
        return True  # production and produced, citation and cite
    if len(shorter) <= _SHORTEST_STEM:
        return len(shorter) == _SHORTEST_STEM and longer.startswith(shorter)
    return shared >= len(shorter) - 1 or (shared > 2 and word[shared:] in ("or", "er"))  # an actor


def _stem(word: str) -> str:
    """A word without the ending that makes a noun of a verb."""
    return _NOUN_OF_VERB.sub("", word)


def _single(word: str) -> str:
    """A word without its plural ending."""
    for ending, single in (("ies", "i"), ("sses", "ss"), ("ches", "ch"), ("xes", "x")):
        if word.endswith(ending):
            return word[: -len(ending)] + single
    if word.endswith(("ie", "y")) and len(word) > 3:
        return f"{word.removesuffix('e').removesuffix('y').removesuffix('i')}i"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


_NEAR = (
    KINDS["cost"]
    | KINDS["pay"]
    | KINDS["gain"]
    | {"amount", "balance", "cash", "money", "spending", "turnover"},
    {"registration", "signup", "signups", "customer", "enrolment", "enrollment"}
    | {"created", "enrolled", "join", "joined", "registered", "signed", "since"},
    {"message", "comment", "text", "note", "description", "review"},
    {"cargo", "freight", "load", "payload"},
    {"place", "location", "address", "city", "area", "region"},
)
"""Words of which a database that has one may answer for another."""
_KINSHIPS = [
    {one for word in kind for one in (word, _single(word))} for kind in (*SYNONYMS, *_NEAR)
]
"""The same words, each in the singular, too."""
