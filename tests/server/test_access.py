"""Who gets in, over real sockets: keys, roles, sessions, forms, other sites, other names of this computer."""

import base64
import hashlib
import hmac
import html
import json
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from sqlalchemy import select, update

from areopage.errors import UserError
from areopage.ledger.people.access import SESSION_LIFE, ApiKeys, Audit, Sessions
from areopage.ledger.people.labels import Labels
from areopage.ledger.tables.schema import metadata, sessions
from areopage.server import access as remembered
from areopage.server.guards import Addresses

from .live import Live, Reply, live
from .seeded import NOW, context_for

ANSWER = {"prompt": "Combien ?", "response": "Trente jours."}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PARTNER = "https://partner.example"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Live]:
    context = context_for(tmp_path, server={"origins": [PARTNER]})
    with live(context) as running:
        yield running
    context.ledger.close()


def token_of(page: Reply) -> str:
    """The token in a page's form."""
    found = re.search(rb'name="csrf" value="([^"]+)"', page.body)
    assert found, page.body
    return found.group(1).decode()


def hidden(page: Reply) -> dict[str, str]:
    """The hidden fields of a page's form."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.body.decode())
    return {html.unescape(name): html.unescape(value) for name, value in found}


def signed_in(site: Live, key: str) -> tuple[dict[str, str], Reply]:
    """The cookie of a new session, and the answer that set it."""
    form = {"key": key, "csrf": token_of(site.get("/login")), "next": "/monitor/alerts?x=1"}
    reply = site.ask("POST", "/login", urlencode(form).encode(), FORM)
    assert reply.status == 303, reply.body
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}, reply


# --- without keys


def test_without_keys_this_computer_may_do_everything(site: Live) -> None:
    assert site.post("/v1/evaluations", ANSWER).status == 202
    assert site.get("/v1/evaluations").status == 200


def test_without_keys_nobody_enters_through_a_proxy(site: Live) -> None:
    names = ("X-Forwarded-For", "X-Real-IP", "X-Forwarded-Proto", "X-Forwarded-Server", "CF-Connecting-IP", "True-Client-IP")
    for header in ({"Forwarded": "for=203.0.113.9"}, *({name: "203.0.113.9"} for name in names)):
        reply = site.get("/v1/evaluations", header)
        assert (reply.status, reply.code) == (403, "no_keys")
        assert "areopage keys create" in reply.json["error"]["message"]


def test_without_keys_another_host_name_gives_no_entry_even_if_it_is_known(site: Live) -> None:
    reply = site.get("/v1/evaluations", {"Host": "partner.example"})
    assert (reply.status, reply.code) == (403, "no_keys")


# --- keys


def test_once_there_is_a_key_everybody_shows_one(site: Live) -> None:
    key = site.key("read")
    reply = site.get("/v1/evaluations")
    assert (reply.status, reply.code) == (401, "unauthorized")
    assert reply.headers["www-authenticate"] == 'Bearer realm="areopage"'
    assert site.get("/v1/evaluations", key).status == 200


@pytest.mark.parametrize(
    "header", ["Bearer areo_wrong", "Bearer ", "Bearer", "Basic areo_x", "areo_x", "Bearer " + "x" * 5000, "Bearer é"]
)
def test_a_wrong_key_is_refused(site: Live, header: str) -> None:
    site.key("admin")
    reply = site.get("/v1/evaluations", {"Authorization": header.encode().decode("latin-1")})
    assert (reply.status, reply.code) == (401, "unauthorized")


def test_a_wrong_key_is_refused_also_where_none_is_needed(site: Live) -> None:
    assert site.get("/v1/evaluations", {"Authorization": "Bearer areo_wrong"}).status == 401


def test_each_role_may_do_what_it_says_and_no_more(site: Live) -> None:
    read, write, admin = site.key("read"), site.key("write"), site.key("admin")
    assert site.post("/v1/evaluations", ANSWER, read).code == "forbidden"
    made = site.post("/v1/evaluations", ANSWER, write)
    path = f"/v1/evaluations/{made.json['items'][0]['id']}"
    assert site.get(path, read).status == 200
    refused = site.ask("DELETE", path, None, write)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "admin" in refused.json["error"]["message"]
    assert site.ask("DELETE", path, None, admin).status == 204


def test_a_revoked_key_is_refused_within_seconds(site: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "REMEMBERED_SECONDS", 0.0)
    key, keys = site.key("read"), ApiKeys(site.context.ledger)
    site.key("admin")
    assert site.get("/v1/evaluations", key).status == 200
    keys.revoke(next(record.id for record in keys.list() if record.role == "read"))
    assert site.get("/v1/evaluations", key).status == 401


def test_many_wrong_keys_make_one_line_in_the_log(site: Live, caplog: pytest.LogCaptureFixture) -> None:
    site.key("read")
    with caplog.at_level(logging.WARNING, "areopage.server.access"):
        for _ in range(20):
            site.get("/v1/evaluations", {"Authorization": "Bearer areo_secret_guess"})
    assert len(caplog.records) == 1
    assert "areo_secret_guess" not in caplog.text


# --- other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"},
    ],
)
def test_what_a_page_of_another_site_sends_is_refused_with_and_without_a_key(site: Live, headers: dict[str, str]) -> None:
    assert site.post("/v1/evaluations", ANSWER, headers).code == "foreign_origin"
    assert site.post("/v1/evaluations", ANSWER, headers | site.key("write")).code == "foreign_origin"


def test_a_listed_origin_may_send_and_read(site: Live) -> None:
    key = site.key("write")
    reply = site.post("/v1/evaluations", ANSWER, key | {"Origin": PARTNER, "Sec-Fetch-Site": "cross-site"})
    assert reply.status == 202
    assert reply.headers["access-control-allow-origin"] == PARTNER
    asked = {"Origin": PARTNER, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    assert site.ask("OPTIONS", "/v1/evaluations", None, asked).headers["access-control-allow-origin"] == PARTNER


def test_others_get_no_permission_to_read(site: Live) -> None:
    reply = site.get("/v1/evaluations", {"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in reply.headers


def test_our_own_pages_may_send(site: Live) -> None:
    for headers in ({"Origin": f"http://{site.host}"}, {"Sec-Fetch-Site": "same-origin", "Origin": f"http://{site.host}"}):
        assert site.post("/v1/evaluations", ANSWER, headers).status == 202


def test_json_is_not_taken_from_a_form(site: Live) -> None:
    reply = site.ask("POST", "/v1/evaluations", b'{"prompt":"a","response":"b"}', {"Content-Type": "text/plain"})
    assert (reply.status, reply.code) == (415, "not_json")


# --- other names of this computer (DNS rebinding)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8600", "127.0.0.1.evil.example", "[::2]", "", "localhost.evil"])
def test_a_stranger_s_host_is_refused(site: Live, host: str) -> None:
    for path in ("/v1/evaluations", "/monitor", "/login", "/metrics", "/static/app.css", "/openapi.json"):
        reply = site.get(path, {"Host": host})
        assert (reply.status, reply.code) == (421, "unknown_host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8600", "127.0.0.1", "[::1]:8600", "partner.example"])
def test_our_own_names_are_known(site: Live, host: str) -> None:
    assert site.get("/login", {"Host": host}).status == 200


def test_health_and_keys_need_no_known_host(site: Live) -> None:
    assert site.get("/healthz", {"Host": "10.0.0.7"}).status == 200
    assert site.get("/v1/evaluations", {"Host": "10.0.0.7"} | site.key("read")).status == 200


def test_an_address_for_everybody_is_no_host_name() -> None:
    assert not Addresses("0.0.0.0", []).answers_for("0.0.0.0:8600")
    assert Addresses("monitor.lan", ["https://a.example:8443"], "https://link.example/x").answers_for("a.example:8443")
    assert Addresses("monitor.lan", [], "https://link.example/x").answers_for("link.example")
    assert Addresses("monitor.lan", []).answers_for("MONITOR.lan.:8600")


# --- sessions and forms


def test_a_page_without_a_session_leads_to_the_login_and_back(site: Live) -> None:
    site.key("read")
    reply = site.get("/monitor/answers?grade=weak", {"Accept": "text/html"})
    assert reply.status == 303
    assert reply.headers["location"] == "/login?next=%2Fmonitor%2Fanswers%3Fgrade%3Dweak"
    assert site.get("/monitor", {"HX-Request": "true"}).headers["hx-redirect"] == "/login"


def test_a_page_that_renews_itself_comes_back_with_its_filters_after_the_login(site: Live) -> None:
    site.key("read")
    page = {"HX-Request": "true", "HX-Current-URL": f"http://{site.host}/monitor?period=30&source=a%26b"}
    reply = site.get("/monitor/figures?period=30", page)
    assert reply.headers["hx-redirect"] == "/login?next=%2Fmonitor%3Fperiod%3D30%26source%3Da%2526b"


def test_a_form_that_is_sent_after_the_session_ended_is_kept_until_the_login(site: Live) -> None:
    record, key = ApiKeys(site.context.ledger).create("Ada", "write")
    assert site.post("/v1/evaluations", ANSWER | {"id": "a"}, {"Authorization": f"Bearer {key}"}).status == 202
    labels = {"csrf": "x", "score.": "7", "note": "Trop « court » <b>\r\nsans source", "then": "see"}
    asked = site.ask("POST", "/review/a?edit=1", urlencode(labels).encode(), FORM | {"Accept": "text/html"})
    assert (asked.status, b"Trop" in asked.body, b"<b>" in asked.body) == (401, True, False)
    again = site.ask("POST", "/login", urlencode(hidden(asked) | {"key": "areo_wrong"}).encode(), FORM)
    assert again.status == 401
    entered = site.ask("POST", "/login", urlencode(hidden(again) | {"key": key}).encode(), FORM)
    assert (entered.status, b'action="/review/a?edit=1"' in entered.body) == (200, True)
    cookie = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
    assert site.ask("POST", "/review/a?edit=1", urlencode(hidden(entered)).encode(), FORM | cookie).status == 303
    (label,) = Labels(site.context.ledger).of("a")
    assert (label.rater, label.score, label.note) == (record.name, 7.0, "Trop « court » <b>\nsans source")


def test_the_way_back_from_the_login_is_the_address_that_was_asked_for(site: Live) -> None:
    site.key("read")
    reply = site.get("/monitor/answers/..%2Fa%3Fb%20c", {"Accept": "text/html"})
    assert reply.headers["location"] == "/login?next=%2Fmonitor%2Fanswers%2F..%252Fa%253Fb%2520c"


def test_a_session_is_as_good_as_its_key(site: Live) -> None:
    site.key("read", "Ada")
    _, key = ApiKeys(site.context.ledger).create("Bea", "read")
    cookie, reply = signed_in(site, key)
    flags = reply.headers["set-cookie"].lower()
    assert "httponly" in flags and "samesite=lax" in flags and "secure" not in flags
    assert reply.headers["location"] == "/monitor/alerts?x=1"
    assert key not in reply.headers["set-cookie"]
    assert site.get("/v1/evaluations", cookie).status == 200
    assert b"Bea" in site.get("/login", cookie).body
    assert site.post("/v1/evaluations", ANSWER, cookie).status == 403


def test_behind_https_the_cookie_is_secure(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "read")
    form = urlencode({"key": key, "csrf": token_of(site.get("/login"))}).encode()
    reply = site.ask("POST", "/login", form, FORM | {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"})
    assert "secure" in reply.headers["set-cookie"].lower()


def test_a_wrong_key_opens_no_session(site: Live) -> None:
    site.key("read")
    form = urlencode({"key": "areo_wrong", "csrf": token_of(site.get("/login"))}).encode()
    reply = site.ask("POST", "/login", form, FORM)
    assert reply.status == 401
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.example",
        "///evil.example",
        "////evil.example/",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "",
        "/a\r\nb: c",
    ],
)
def test_the_login_leads_nowhere_else(site: Live, wanted: str) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "read")
    form = urlencode({"key": key, "csrf": token_of(site.get("/login")), "next": wanted}).encode()
    assert site.ask("POST", "/login", form, FORM).headers["location"] == "/monitor"


def test_signing_out_needs_our_form_and_forgets_the_session(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "read")
    cookie, _ = signed_in(site, key)
    assert site.ask("POST", "/logout", b"", cookie | FORM).code == "csrf"
    token = token_of(site.get("/login", cookie))
    reply = site.ask("POST", "/logout", urlencode({"csrf": token}).encode(), cookie | FORM)
    assert reply.status == 303
    assert 'areopage_session=""' in reply.headers["set-cookie"]
    assert site.get("/v1/evaluations", cookie).status == 401
    assert site.get("/monitor", cookie | {"Accept": "text/html"}).headers["location"].startswith("/login")


def test_signing_out_ends_one_session_and_no_other(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "read")
    one, _ = signed_in(site, key)
    other, _ = signed_in(site, key)
    token = token_of(site.get("/login", one))
    assert site.ask("POST", "/logout", urlencode({"csrf": token}).encode(), one | FORM).status == 303
    assert site.get("/v1/evaluations", one).status == 401
    assert site.get("/v1/evaluations", other).status == 200


def test_the_token_of_another_session_is_refused(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "write")
    one, _ = signed_in(site, key)
    other, _ = signed_in(site, key)
    token = token_of(site.get("/login", other))
    assert site.ask("POST", "/logout", urlencode({"csrf": token}).encode(), one | FORM).code == "csrf"


def test_a_script_of_our_pages_shows_its_token_in_a_header(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "write")
    cookie, _ = signed_in(site, key)
    assert site.post("/v1/evaluations", ANSWER, cookie).code == "csrf"
    token = token_of(site.get("/login", cookie))
    assert site.post("/v1/evaluations", ANSWER, cookie | {"X-CSRF-Token": token}).status == 202
    assert site.post("/v1/evaluations", ANSWER, cookie | {"X-CSRF-Token": "é".encode().decode("latin-1")}).code == "csrf"


def test_erasing_needs_the_token_of_a_session_whatever_the_body_claims_to_be(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "admin")
    cookie, _ = signed_in(site, key)
    assert site.ask("DELETE", "/v1/evaluations/x", None, cookie | FORM).code == "csrf"


def test_a_key_called_local_is_a_key_like_others(site: Live) -> None:
    """That is how somebody without a key is called, who may type any rater's name."""
    _, key = ApiKeys(site.context.ledger).create("local", "write")
    cookie, _ = signed_in(site, key)
    assert site.post("/v1/evaluations", ANSWER | {"id": "one"}, site.key("write")).status == 202
    page = site.get("/review/one", cookie)
    assert page.status == 200
    assert b'name="rater"' not in page.body


def test_a_form_of_another_site_is_refused_even_with_a_token(site: Live) -> None:
    site.key("read")
    body = urlencode({"key": "x", "csrf": token_of(site.get("/login"))}).encode()
    assert site.ask("POST", "/login", body, FORM | {"Origin": "https://evil.example"}).code == "foreign_origin"
    multipart = b'--b\r\ncontent-disposition: form-data; name="csrf"; filename="x"\r\n\r\nx\r\n--b--\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    assert site.ask("POST", "/login", multipart, kind).code == "not_a_form"


@pytest.mark.parametrize("cookie", ["x", "x.y", ".", "é.é", "eyJ9.AAAA", "a" * 3000 + ".b"])
def test_a_made_up_cookie_is_no_session(site: Live, cookie: str) -> None:
    site.key("read")
    assert site.get("/v1/evaluations", {"Cookie": f"areopage_session={cookie}".encode().decode("latin-1")}).status == 401


def test_a_session_ends_after_its_hours_and_is_known_by_its_whole_cookie(site: Live) -> None:
    ledger = site.context.ledger
    record, _ = ApiKeys(ledger).create("Ada", "read")
    store = Sessions(ledger)
    cookie = store.open(record.id, NOW)
    assert store.find(cookie, NOW + SESSION_LIFE - timedelta(seconds=1)) == record
    assert store.find(cookie, NOW + SESSION_LIFE) is None
    assert [store.find(made, NOW) for made in (cookie[:-2] + "AA", cookie + "A", cookie.upper(), record.id)] == [None] * 4
    store.open(record.id, NOW + SESSION_LIFE)
    with ledger.engine.connect() as connection:
        assert len(connection.execute(select(sessions)).all()) == 1  # what is over is removed


def test_no_session_outlives_its_hours_whatever_the_ledger_says_of_it(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "read")
    cookie, _ = signed_in(site, key)
    assert site.get("/v1/evaluations", cookie).status == 200
    with site.context.ledger.engine.begin() as connection:
        connection.execute(update(sessions).values(opened_at=NOW.replace(tzinfo=None) + timedelta(days=3650)))
    assert site.get("/v1/evaluations", cookie).status == 401


def test_who_can_read_the_ledger_can_open_no_session(site: Live) -> None:
    """All that is stored is tried as a cookie: as it stands, and as a secret that signs the id of a key."""
    ledger = site.context.ledger
    record, key = ApiKeys(ledger).create("Ada", "admin")
    signed_in(site, key)
    with ledger.engine.connect() as connection:
        rows = [tuple(row) for table in metadata.tables.values() for row in connection.execute(select(table)).all()]
    texts = {value for row in rows for value in row if isinstance(value, str) and value}
    assert len(texts) > 4
    claim = json.dumps({"key_id": record.id, "expires": int(NOW.timestamp()) + 600, "nonce": "00"}, separators=(",", ":"))
    payload = base64.urlsafe_b64encode(claim.encode()).rstrip(b"=")
    cookies = list(texts)
    for text in texts:
        for secret in (text.encode(), *([bytes.fromhex(text)] if re.fullmatch("(?:[0-9a-f]{2})+", text) else [])):
            signature = hmac.digest(secret, b"session\n" + payload, hashlib.sha256)
            cookies.append(f"{payload.decode()}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}")
    tried = [cookie for cookie in cookies if cookie.isascii() and cookie.isprintable() and not set(cookie) & set(' ;,"')]
    assert len(tried) > 10
    assert {site.get("/v1/evaluations", {"Cookie": f"areopage_session={cookie}"}).status for cookie in tried} == {401}


def test_the_audit_log_notes_who_signs_in_and_out_and_wrong_keys(site: Live) -> None:
    ledger = site.context.ledger
    record, key = ApiKeys(ledger).create("Ada", "read")
    cookie, _ = signed_in(site, key)
    token = token_of(site.get("/login", cookie))
    site.ask("POST", "/logout", urlencode({"csrf": token}).encode(), cookie | FORM)
    for _ in range(3):
        site.get("/v1/evaluations", {"Authorization": "Bearer areo_secret_guess"})
    noted = [(one.actor, one.key_id, one.action) for one in reversed(Audit(ledger).list())]
    assert noted == [("Ada", record.id, "login"), ("Ada", record.id, "logout"), ("unknown", "", "wrong_key")]
    assert Audit(ledger).list()[0].detail == "from 127.0.0.1; 1 since the last message"
    assert not any("guess" in one.detail + one.subject for one in Audit(ledger).list())


def test_two_valid_keys_never_share_a_name(site: Live) -> None:
    keys = ApiKeys(site.context.ledger)
    first, _ = keys.create("Ada", "read")
    with pytest.raises(UserError, match="Ada"):
        keys.create("Ada", "admin")
    keys.revoke(first.id)
    second, key = keys.create("Ada", "read")
    assert site.get("/v1/evaluations", {"Authorization": f"Bearer {key}"}).status == 200
    (entry,) = Audit(site.context.ledger).list()
    assert (entry.actor, entry.key_id) == ("Ada", second.id)


def test_a_label_in_another_name_is_noted_with_the_key_that_gave_it(site: Live) -> None:
    record, key = ApiKeys(site.context.ledger).create("boss", "admin")
    header = {"Authorization": f"Bearer {key}"}
    assert site.post("/v1/evaluations", ANSWER | {"id": "one"}, header).status == 202
    assert site.post("/v1/labels", {"answer_id": "one", "scores": {"": 3}, "rater": "Bea"}, header).status == 201
    assert {one.key_id for one in Audit(site.context.ledger).list(subject="one")} == {record.id}


def test_a_revoked_last_key_does_not_open_the_server(site: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "REMEMBERED_SECONDS", 0.0)
    record, _ = ApiKeys(site.context.ledger).create("Ada", "read")
    ApiKeys(site.context.ledger).revoke(record.id)
    assert site.get("/v1/evaluations").status == 401


def test_an_ingest_key_submits_and_reads_nothing(site: Live) -> None:
    ingest, admin = site.key("ingest"), site.key("admin")
    assert site.post("/v1/evaluations", ANSWER | {"id": "mine"}, ingest).status == 202
    assert site.post("/v1/gate/check", ANSWER, ingest).status == 200
    for path in (
        *("/v1/evaluations", "/v1/evaluations/mine", "/v1/figures", "/v1/alerts", "/v1/agreement", "/v1/traces"),
        *("/v1/chat/held/mine", "/v1/debug/latest?question=x", "/monitor", "/monitor/figures", "/monitor/answers"),
        *("/monitor/answers/mine", "/monitor/alerts", "/monitor/queue", "/monitor/golden", "/agreement", "/review"),
        *("/review/mine", "/gate", "/gate/mine", "/chat"),
    ):
        assert (path, site.get(path, ingest).status) == (path, 403)
    assert site.ask("DELETE", "/v1/evaluations/mine", None, ingest).status == 403
    assert site.post("/v1/labels", {"answer_id": "mine", "scores": {"": 3}}, ingest).status == 403
    assert site.post("/v1/chat", {"question": "?"}, ingest).status == 403
    assert site.get("/v1/evaluations/mine", admin).status == 200


def test_a_session_of_a_revoked_key_is_over(site: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "REMEMBERED_SECONDS", 0.0)
    site.key("admin")
    record, key = ApiKeys(site.context.ledger).create("Ada", "read")
    cookie, _ = signed_in(site, key)
    assert site.get("/v1/evaluations", cookie).status == 200
    ApiKeys(site.context.ledger).revoke(record.id)
    assert site.get("/v1/evaluations", cookie).status == 401


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("cli:root", "no IP address"),
        ("203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9"),
        ("2001:db8::1", "2001:db8::1"),
    ],
)
def test_who_sends_a_wrong_key_cannot_choose_its_name_in_the_audit_log(site: Live, forwarded: str, address: str) -> None:
    site.get("/v1/evaluations", {"Authorization": "Bearer areo_wrong", "X-Forwarded-For": forwarded})
    (entry,) = Audit(site.context.ledger).list()
    assert (entry.actor, entry.action) == ("unknown", "wrong_key")
    assert entry.detail.startswith(f"from {address}; ")


def test_behind_https_no_other_host_of_the_domain_can_set_the_cookie(site: Live) -> None:
    _, key = ApiKeys(site.context.ledger).create("Ada", "read")
    form, https = {"key": key, "csrf": token_of(site.get("/login")), "next": "/"}, {"X-Forwarded-Proto": "https"}
    reply = site.ask("POST", "/login", urlencode(form).encode(), FORM | https)
    set_cookie = reply.headers["set-cookie"]
    assert set_cookie.startswith("__Host-areopage_session=")
    assert {"Path=/", "Secure", "HttpOnly"} <= set(set_cookie.split("; ")) and "Domain" not in set_cookie
    cookie = {"Cookie": set_cookie.partition(";")[0]} | https
    assert site.get("/v1/evaluations", cookie).status == 200
    token = token_of(site.get("/login", cookie))
    ended = site.ask("POST", "/logout", urlencode({"csrf": token}).encode(), cookie | FORM)
    assert ended.headers["set-cookie"].startswith('__Host-areopage_session=""') and "Secure" in ended.headers["set-cookie"]
    assert site.get("/v1/evaluations", cookie).status == 401
