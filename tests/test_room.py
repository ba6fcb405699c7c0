"""A laptop serves the site to a room."""

import gzip
import threading
from urllib.request import Request, urlopen

import pytest
import serve
from posenc_series.commands import CommandError


@pytest.fixture
def room(tmp_path):
    (tmp_path / "index.html").write_text("<p>Home</p>" * 1000)
    (tmp_path / "x.whl").write_bytes(b"PK" * 1000)
    with serve.Room(tmp_path, 0) as room:
        threading.Thread(target=room.serve_forever, args=[0.01]).start()
        yield room
        room.shutdown()


def fetch(room, path: str, **headers: str):
    address = f"http://127.0.0.1:{room.server_port}/{path}"
    with urlopen(Request(address, headers=headers), timeout=10) as answer:
        return answer.headers, answer.read()


def test_pages_are_compressed_for_browsers_that_ask(room):
    headers, body = fetch(room, "", **{"Accept-Encoding": "gzip, br"})
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == b"<p>Home</p>" * 1000
    assert len(body) < 200
    for path in ("x.whl", "index.html"):
        packed = {"Accept-Encoding": "gzip"} if path == "x.whl" else {}
        headers, body = fetch(room, path, **packed)
        assert headers["Content-Encoding"] is None
        assert len(body) == int(headers["Content-Length"]) >= 2000


def test_the_page_to_project_has_the_address(room):
    _, body = fetch(room, "room.html", **{"Accept-Encoding": "gzip"})
    assert f"<b>{room.address}</b>" in gzip.decompress(body).decode()
    assert str(room.server_port) in room.address


def test_without_a_site_it_says_how_to_build_one(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "SITE", tmp_path)
    with pytest.raises(CommandError, match=r"uv run web/build\.py"):
        serve.main([])
