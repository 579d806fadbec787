"""Synonyms, since people seldom use the words of a schema."""

SYNONYMS = (
    {"birth", "birthday", "birthdate", "born", "dob"},
    {"article", "paper", "publication"},
    {"drug", "med", "medication", "medicine"},
    {"client", "customer", "buyer", "purchaser"},
    {"employee", "staff", "worker", "personnel"},
    {"business", "company", "enterprise", "firm"},
    {"car", "automobile", "vehicle"},
    {"film", "movie"},
    {"doctor", "doc", "physician"},
    {"supplier", "vendor"},
    {"country", "nation"},
    {"phone", "telephone"},
    {"picture", "photo", "image"},
    {"instructor", "teacher", "lecturer", "professor"},
    {"student", "pupil"},
    {"goods", "item", "product", "merchandise"},
    {"airline", "carrier"},
    {"airplane", "aircraft", "plane"},
)
"""Synonyms. Related words, such as city and region, are not synonyms."""
