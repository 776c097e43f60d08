"""Which match somebody means, by whatever they pasted."""

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli.remote.match_address import (
    MatchAddress,
    NoSuchAddress,
    is_whole_id,
    own_address,
    service_address,
)
from app.cli.remote.service import origin

OWN = "http://127.0.0.1:8000"
ID = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"


@pytest.mark.parametrize(
    ("text", "service", "match"),
    [
        (ID, OWN, ID),
        (ID.upper(), OWN, ID),
        ("01980a4e", OWN, "01980a4e"),
        (f"http://host:8000/matches/{ID}", "http://host:8000", ID),
        (f"http://host:8000/matches/{ID}/", "http://host:8000", ID),
        (f"http://host:8000/matches/{ID}?ply=3#board", "http://host:8000", ID),
        (f"http://host:8000/api/matches/{ID}", "http://host:8000", ID),
        (f"http://host:8000/api/matches/{ID}/events", "http://host:8000", ID),
        (f"http://host:8000/api/matches/{ID}/pgn", "http://host:8000", ID),
        (f"https://example.org/chess/matches/{ID}", "https://example.org/chess", ID),
        (f"https://example.org/chess/api/matches/{ID}", "https://example.org/chess", ID),
        (f"HTTPS://example.org/matches/{ID}", "https://example.org", ID),
        (f"host:8000/matches/{ID}", "http://host:8000", ID),
        (f"[::1]:8000/matches/{ID}", "http://[::1]:8000", ID),
        ("http://host:8000/matches/01980a4e", "http://host:8000", "01980a4e"),
        ("http://host:8000", "http://host:8000", ""),
        ("http://host:8000/", "http://host:8000", ""),
        ("http://host:8000/matches", "http://host:8000", ""),
        ("http://host:8000/api/matches/", "http://host:8000", ""),
    ],
)
def test_an_id_or_any_url_names_a_match(text, service, match):
    assert MatchAddress.parse(text, OWN) == MatchAddress(service, match)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "an id is of hexadecimal digits"),
        (ID + "0", "an id is of hexadecimal digits"),
        (" ", "an id is of hexadecimal digits"),
        ("http://host/matches/xyz", "an id is of hexadecimal digits"),
        ("http://host/matches/../x", "an id is of hexadecimal digits"),
        ("ftp://host/matches/1", "http:// or https://"),
        ("file:///matches/1", "http:// or https://"),
        ("http:///matches/1", "it names no host"),
        ("/matches/1", "it names no host"),
        ("http://ho st/matches/1", "an address has no spaces"),
        ("http://host\x1b[2J/matches/1", "an address has no spaces"),
        ("http://host:port/matches/1", "Port could not be cast"),
        ("http://host:99999/matches/1", "Port out of range"),
        ("http://[::1/matches/1", "Invalid IPv6 URL"),
        ("http://ü..x/matches/1", "Invalid IDNA hostname"),
        ("http://xn--/matches/1", "Malformed A-label"),
        ("http://999.1.1.1/matches/1", "Invalid IPv4 address"),
        ("http://me:secret@host/matches/1", "does not belong into an address"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(text, said):
    with pytest.raises(NoSuchAddress) as raised:
        MatchAddress.parse(text, OWN)
    assert said in str(raised.value)
    assert str(raised.value).isprintable()
    assert "secret" not in str(raised.value)


hosts = st.text(max_size=12) | st.text(alphabet="xn-.:[]@%a1٣ü\x1b", max_size=12)


@given(st.builds("http{}://{}/matches/{}".format, st.sampled_from(["", "s"]), hosts, hosts) | hosts)
@settings(deadline=None)
def test_whatever_is_pasted_is_an_address_that_can_be_asked_or_is_refused(text):
    try:
        address = MatchAddress.parse(text, OWN)
    except NoSuchAddress as error:
        address, said = None, str(error)
    if address is None:
        assert said.isprintable()
    else:
        httpx.AsyncClient(base_url=f"{address.service}/", trust_env=False, verify=False)
        assert origin(address.service)[1]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://host:8000", "http://host:8000"),
        ("http://host:8000/", "http://host:8000"),
        ("host:8000", "http://host:8000"),
        ("https://example.org/chess/", "https://example.org/chess"),
        ("https://example.org/chess/api", "https://example.org/chess"),
    ],
)
def test_the_address_of_a_service(text, address):
    assert service_address(text) == address


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("localhost", "http://localhost:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
        ("::1", "http://[::1]:8000"),
    ],
)
def test_where_the_service_of_this_machine_is(host, address):
    assert own_address(host, 8000) == address


def test_whole_ids():
    assert is_whole_id(ID)
    assert not is_whole_id(ID[:-1])
    assert not is_whole_id("x" * 36)
