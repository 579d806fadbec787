import pytest
from cases import cases

from planweave.redact import holds_secret, without, without_passwords

SECRET = "h0nter2"


@cases(
    f"postgresql://user:{SECRET}@host/db",
    f"postgresql://user:a/{SECRET}@host/db",
    f"postgresql://user:a:{SECRET}@host:5432/db",
    f"postgresql://user:a@{SECRET}@host/db",
    f"bolt+s://:{SECRET}@host",
    f"bolt://user:a#{SECRET}@host",
    f"mysql+pymysql://host/db?user=u&password={SECRET}&charset=utf8mb4",
    f"postgresql://host/db?sslpassword={SECRET}",
    f"host=db password={SECRET} user=reader",
    f"postgresql:/user:{SECRET}@host/db",
    f"postgresql://user:${{NAME}}{SECRET}@host/db",
)
def test_a_password_is_hidden_wherever_it_stands(url: str) -> None:
    shown = without_passwords(f"The database {url} does not answer.")
    assert SECRET not in shown
    assert "***" in shown
    assert shown.endswith(" does not answer.")


@cases(
    "postgresql://user:${PASSWORD}@host/db",
    "postgresql://host/db?password=${PASSWORD}&x=1",
    "postgresql://user@host:5432/db",
    "bolt://host:7687",
    "C:\\data\\shop.db",
    "data/shop@home.sql",
    "sqlite:////data/shop.db",
)
def test_what_holds_no_password_stays(url: str) -> None:
    assert without_passwords(url) == url


@pytest.mark.timeout(30)
@cases("@ " + "a://b:" * 500_000, "a." * 1_000_000 + "@", "?" + "token" * 500_000)
def test_a_long_text_is_looked_through_once(text: str) -> None:
    assert without_passwords(text) == text


@cases(
    ("http://host:8000/v1#model", False),
    ("http://host:8000/v1#model@tag?", False),
    (f"http://{SECRET}@host/v1#model", True),
    (f"http://user:a#{SECRET}@host/v1#model", True),
    (f"http://user:a/{SECRET}@host/v1#model", True),
    (f"http://host/v1?key={SECRET}#model", True),
)
def test_urls_of_models(url: str, secret: bool) -> None:
    assert holds_secret(url) is secret


@cases(
    ("p", "password 'pip' at port 9, ***"),
    ("pip", "password '***' at port 9, p"),
    ("swor", "pas***d 'pip' at port 9, p"),
    ("", "password 'pip' at port 9, p"),
)
def test_a_secret_that_a_message_repeats(secret: str, shown: str) -> None:
    assert without("password 'pip' at port 9, p", secret) == shown
