"""Figures to play with: how they are called, their numbers, how they move.

The numbers are compared with NumPy in a browser that reaches nothing; so are
mouse and keys. JupyterLab is opened by `-m slow`, and so are pages and
JupyterLite in test_web.py.
"""

import ast
import itertools
import re
from base64 import b64decode
from io import BytesIO
from unittest.mock import patch

import handouts
import nbformat
import numpy as np
import pytest
from conftest import PATHS
from in_browser import (
    DRAGS,
    STATE,
    TALL,
    begin,
    by_finger,
    by_mouse,
    drag,
    jupyterlab,
    keys,
    play_all,
    run_all,
    stored_notebook,
    the,
    violations,
)
from matplotlib import colormaps
from PIL import Image
from two_layers import run_by_numpy

from posenc.play import PACKAGE, RANGES, play, script_of
from posenc.stored import load_weights
from posenc_helpers import (
    angular_frequencies,
    encode_positions,
    position_encoding,
    rotate,
)

MOVE = """([figure, state]) => {
    const host = document.querySelector(`posenc-play[figure=${figure}]`);
    host.stage.move(state);
    const shown = selector => [...host.shadowRoot.querySelectorAll(selector)]
        .map(node => node.textContent);
    return [shown('.says')[0], shown('svg text')]; }"""
PAINT = """([background, color]) => {
    for (const figure of document.querySelectorAll('posenc-play')) {
        Object.assign(figure.parentElement.style, {background, color});
    } }"""
# What is on the screen: a figure by its name.
VISIBLE = """() => [...document.querySelectorAll(
        '.jp-OutputArea-output img, main img, posenc-play')]
    .filter(node => node.checkVisibility())
    .map(node => node.getAttribute('figure') ?? 'picture')"""
# From the top of the pictures to the end of the numbers, sliders between.
HEIGHTS = """() => [...document.querySelectorAll('posenc-play')].map(host => {
    const box = part =>
        host.shadowRoot.querySelector(part).getBoundingClientRect();
    return box('.says').bottom - box('.pictures').top; })"""


def displayed(name: str, **settings: float) -> str:
    """The HTML that a call of `play` displays."""
    with patch("posenc.play.display") as display:
        play(name, **settings)
    return display.call_args.args[0]["text/html"]


# The call.


@pytest.mark.parametrize(
    ("name", "settings", "error", "words"),
    [
        ("clock", {}, ValueError, "no figure 'clock'.*apart, hands, inside"),
        ("pair", {"k": 3}, TypeError, "no setting 'k'; it has position, off"),
        ("hands", {"position": 64}, ValueError, "between 0 and 63, not 64"),
        ("hands", {"position": 7.5}, TypeError, "an integer, not 7.5"),
        ("hands", {"position": True}, TypeError, "an integer, not True"),
        ("apart", {"frequency": "1"}, TypeError, "a number, not '1'"),
        ("inside", {"text": 7}, TypeError, "text must be text, not 7"),
        ("inside", {"text": "A b"}, ValueError, "2 to 128 letters from a"),
        ("inside", {"text": "a"}, ValueError, "2 to 128 letters from a"),
    ],
)
def test_a_call_that_cannot_be_meant_is_an_error(name, settings, error, words):
    with pytest.raises(error, match=words):
        play(name, **settings)


# In the notebooks.

CALLS = [
    pytest.param(path, cell, id=f"{path.stem[:2]}-{cell.id}")
    for path in PATHS
    for cell in nbformat.read(path, as_version=4).cells
    if cell.cell_type == "code" and "\nplay(" in cell.source
]


@pytest.mark.parametrize(("path", "cell"), CALLS)
def test_a_figure_is_stored_below_its_picture(path, cell):
    """Store the notebook again if the element is an older one.

    The picture is drawn for the settings of the figure: each number of the
    call is in the drawing too. For a length it may be the last offset.
    """
    drawing, call = cell.source.split("\nplay(")
    name = re.match(r'"(\w+)"', call)[1]
    settings = {
        setting: ast.literal_eval(value)
        for setting, value in re.findall(r"(\w+)=([\d_.]+)", call)
    }
    still, element = cell.outputs
    assert "image/png" in still.data
    html = displayed(name, **settings)
    assert element.data["text/html"] == html.partition("<script>")[0]
    drawn = re.findall(r"(?<![\w.])[\d.]+", drawing.replace("_", ""))
    for setting, value in settings.items():
        last = value - 1 if setting in ("trained", "length") else value
        assert {f"{value}", f"{last}"} & set(drawn), setting


# Numbers, as the figures show them.


@pytest.fixture(scope="module")
def handout(tmp_path_factory) -> str:
    """A handout's page with all figures."""
    path = tmp_path_factory.mktemp("figures") / "01_figures.ipynb"
    nbformat.write(stored_notebook(), path)
    return handouts.page([path], "student", "a4", lambda name: None)


@pytest.fixture(scope="module")
def page(browser, handout):
    """The handout, in a browser that reaches nothing; told of errors."""
    with browser.new_context(offline=True, has_touch=True) as context:
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(error))
        page.set_content(handout)
        yield page
        assert errors == []


def moved(page, name: str, **state: float) -> tuple[str, list[str]]:
    """Move a figure; what it says, and all words in its pictures."""
    return page.evaluate(MOVE, [name, state])


def numbers(text: str) -> list[float]:
    text = text.replace("\N{MINUS SIGN}", "-").replace(" ", "")
    text = text.replace("\N{NO-BREAK SPACE}", "")
    return [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text)]


def test_hands_show_the_rows_of_the_matrix(page):
    for position, row in enumerate(position_encoding(64, 16)):
        _, words = moved(page, "hands", position=position)
        values = [word for word in words if re.fullmatch(r".?\d\.\d\d", word)]
        shown = [numbers(value)[0] for value in values]
        np.testing.assert_allclose(shown, row, atol=0.00501)


def pixels(image: str) -> np.ndarray:
    """What a figure's picture shows: [height, width, 4]."""
    kind, _, data = image.partition(";base64,")
    assert kind == "data:image/bmp"
    return np.asarray(Image.open(BytesIO(b64decode(data))), int)


@pytest.mark.parametrize(("figure", "rows"), [("hands", 64), ("pair", 96)])
def test_a_heatmap_has_matplotlibs_colors(page, figure, rows):
    """Made without a canvas, which some browsers do not let a page read."""
    image = the(page, figure).locator("image").first.get_attribute("href")
    shown = pixels(image)
    wanted = colormaps["RdBu_r"]((position_encoding(rows, 16) + 1) / 2)
    assert np.abs(shown - 255 * wanted).max() <= 5


@pytest.mark.parametrize("frequency", [0.12, 1.0, 2.4])
def test_apart_shows_the_nearest_and_how_many_are_too_close(page, frequency):
    at = np.arange(100)
    signals = [
        at[:, np.newaxis] / 999,  # the longest row of 1000 positions
        np.stack([np.sin(0.001 * at), np.cos(0.001 * at)], axis=1),
        np.stack([np.sin(frequency * at), np.cos(frequency * at)], axis=1),
        position_encoding(100, 16) / np.sqrt(8),
    ]
    for position in (0, 20, 50, 99):
        far = [np.linalg.norm(s - s[position], axis=1) for s in signals]
        others = np.delete(far, position, axis=1)
        said, words = moved(
            page, "apart", position=position, frequency=frequency
        )
        _, *nearest = numbers(said)
        np.testing.assert_allclose(nearest, others.min(axis=1), atol=5.1e-3)
        verdicts = [w for w in words if "too close" in w or w == "all clear"]
        shown = [int(v.split()[0]) if "too" in v else 0 for v in verdicts]
        assert shown == (others < 0.1).sum(axis=1).tolist()
        assert (shown[:2], shown[3]) == ([99, 99], 0)  # as its note says


def test_pair_shows_dot_products(page):
    rows = position_encoding(96, 16)
    for position, offset in [(0, 0), (7, 3), (63, 32), (40, 12)]:
        said, _ = moved(page, "pair", position=position, offset=offset)
        *_, product, itself = numbers(said)
        dot = rows[position] @ rows[position + offset]
        assert product == pytest.approx(dot, abs=0.00501)
        assert itself == 8


@pytest.mark.parametrize("d_model", [4, 64, 512])
@pytest.mark.parametrize("n", [100, 10_000, 1_000_000])
def test_alike_shows_dot_products(page, d_model, n):
    rows = position_encoding(128, d_model, max_wavelength=n)
    said, _ = moved(page, "alike", d_model=d_model, max_wavelength=n)
    wanted = rows[[20, 21, 30]] @ rows[20]
    np.testing.assert_allclose(numbers(said), wanted, atol=0.00501)


def hands_at_0(choice: int, frequencies: np.ndarray) -> np.ndarray:
    """Angles [query or key, pair] of the figure rotary at position 0."""
    if choice == 1:  # random, by the generator that the script has
        drawn = [18]
        for _ in range(64):
            drawn.append(48_271 * drawn[-1] % (2**31 - 1))
        return 2 * np.pi / (2**31 - 1) * np.reshape(drawn[1:], (2, 32))
    angles = np.full((2, 32), 0.8)
    if choice == 2:
        angles[1] += 40 * frequencies
    return angles


def rotary_frequencies(rotary_dim: int, base: float) -> np.ndarray:
    """Of the 32 pairs of the figure, of which some do not rotate."""
    rotating = angular_frequencies(rotary_dim, base)
    return np.pad(rotating, (0, 32 - len(rotating)))


@pytest.mark.parametrize("choice", range(3))
@pytest.mark.parametrize("rotary_dim", [16, 64])
@pytest.mark.parametrize("n", [100, 10_000])
def test_rotary_shows_scores_of_rotated_vectors(page, rotary_dim, n, choice):
    frequencies = rotary_frequencies(rotary_dim, n)
    hands = hands_at_0(choice, frequencies)
    vectors = np.stack([np.cos(hands), np.sin(hands)], axis=-1)
    vectors = vectors.reshape(2, 64)
    for query, key, pair in [(0, 0, 0), (3, 40, 2), (40, 3, 9), (63, 62, 1)]:
        state = {"query": query, "key": key, "pair": pair}
        state |= {"rotary_dim": rotary_dim, "base": n, "vectors": choice}
        said, _ = moved(page, "rotary", **state)
        assert ("before the query" in said) == (key < query)
        first, second = rotate(vectors, [query, key], frequencies=frequencies)
        products = (first * second).reshape(32, 2).sum(axis=1)
        *_, one, mean = numbers(said)
        assert one == pytest.approx(products[pair], abs=0.00501)
        assert mean == pytest.approx(products.mean(), abs=0.00501)


REMEDIES = ["none", "interpolation", "NTK-aware", "by parts"]


@pytest.mark.parametrize("remedy", REMEDIES)
def test_unseen_names_the_pairs_with_new_angles(page, remedy):
    trained = 20
    the(page, "unseen").get_by_role("radio", name=remedy).check()
    for length, n in itertools.product([16, 40, 160], [1, 1000, 10_000]):
        w = angular_frequencies(8, n)
        s = max(1, length / trained)
        full = trained * w >= 2 * np.pi
        ntk = angular_frequencies(8, n * s ** (8 / 6))
        slowed = [w, w / s, ntk, np.where(full, w, w / s)]
        after = slowed[REMEDIES.index(remedy)]
        new = ~full & (length * after > trained * w + 1e-9)
        state = {"trained": trained, "length": length, "base": n}
        said, _ = moved(page, "unseen", **state)
        pairs, fastest, step = said.split(". ", 2)
        assert numbers(pairs) == np.flatnonzero(new).tolist()
        assert numbers(fastest) == np.flatnonzero(~full)[:1].tolist()
        assert numbers(step)[-1] == pytest.approx(after[0], abs=0.00501)


def scores_of_patches(encoding, shape, query, below, base):
    """The scores of one patch for all others, by rotated vectors."""
    row, column = np.indices(shape).reshape(2, -1)
    if encoding == 0:  # trained at a width of 8, so that below is 8 ahead
        places = [np.arange(len(row))]
        waves = angular_frequencies(32, base)[:, np.newaxis]
        ahead = [8]
    else:
        places, ahead = [row, column], [1, 0]
        waves = np.kron(np.eye(2), angular_frequencies(16, base)).T
    if encoding == 3:
        speed = angular_frequencies(32, base)[:, np.newaxis]
        direction = 0.618 * np.pi * np.arange(16)
        waves = speed * np.stack([np.sin(direction), np.cos(direction)], 1)
    angles = np.stack(places, axis=1) @ waves.T
    asked = angles[query] + below * (waves @ ahead)
    return (np.exp(1j * angles) @ np.exp(-1j * asked)).real / 16


@pytest.mark.parametrize("encoding", range(4))
def test_patches_shows_scores_of_rotated_vectors(page, encoding):
    cases = [(16, 16, 6, 9, 100), (7, 12, 6, 0, 10), (12, 8, 3, 7, 10_000)]
    for (height, width, row, column, base), below in itertools.product(
        cases, (0, 1)
    ):
        query = row * width + column
        scores = scores_of_patches(
            encoding, (height, width), query, below, base
        )
        state = {"encoding": encoding, "below": below, "base": base}
        state |= {"height": height, "width": width}
        said, _ = moved(page, "patches", row=row, column=column, **state)
        highest, y, x, *nearby = numbers(said)
        assert highest == pytest.approx(scores.max(), abs=0.00501)
        best = scores[int(y) * width + int(x)]
        assert best == pytest.approx(scores.max(), abs=1e-6)
        wanted = [
            scores[(row + down) * width + column + right]
            for down, right in [(0, 1), (1, 0), (1, 1)]
            if row + down < height and column + right < width
        ]
        np.testing.assert_allclose(nearby, wanted, atol=0.00501)


@pytest.mark.parametrize("base", [2, 10, 100, 10_000])
def test_the_notes_of_patches_are_true(base):
    """Two encodings make one picture; numbers look below at one width."""
    shape, query = (12, 8), 43
    row, column = np.indices(shape).reshape(2, -1)
    halves = [encode_positions(each, 16, base) for each in (row, column)]
    rows = np.concatenate(halves, axis=1)
    axial = scores_of_patches(2, shape, query, 0, base)
    np.testing.assert_allclose(rows @ rows[query] / 16, axial, atol=1e-12)
    for width, encoding in itertools.product((5, 8, 13), range(4)):
        query = 2 * width + 1
        scores = scores_of_patches(encoding, (6, width), query, 1, base)
        is_below = scores.argmax() == query + width
        assert is_below == (encoding > 0 or width == 8)


@pytest.mark.parametrize("base", [3, 10, 100])
@pytest.mark.parametrize("width", [5, 8, 13, 16])
def test_patches_looks_right_and_below(page, width, base):
    """Numbers at one width, mixed RoPE at all, and the others at neither."""
    state = {"below": 2, "base": base, "width": width, "height": 12}
    state |= {"row": 4, "column": 2}
    for encoding in range(4):
        said, _ = moved(page, "patches", encoding=encoding, **state)
        weights = numbers(said)
        wanted = [0.25] * 4 if encoding in (1, 2) else [0.5, 0.5, 0, 0]
        if encoding or width == 8:
            assert weights == pytest.approx(wanted, abs=0.085)
        else:
            assert weights[1] < 0.05


RUN = """([letters, state]) => {
    const { ratings, maps } = posencFigures.inside.compute(letters, state);
    return [Array.from(ratings), maps.map(map => Array.from(map))]; }"""


IMAGES = """([letters, state]) =>
    posencFigures.inside.compute(letters, state).images"""


def bits(number: int, count: int) -> np.ndarray:
    """The switches of each layer, as the figure packs them in a number."""
    return np.array([number >> place & 1 for place in range(2 * count)])


@pytest.mark.parametrize("length", [2, 32, 128])
@pytest.mark.parametrize(
    ("heads", "pairs", "positions"),
    [(255, 65535, 3), (251, 65535, 3), (255, 65532, 3), (14, 4242, 2)],
)
def test_inside_runs_the_stored_model(page, length, heads, pairs, positions):
    letters = np.random.default_rng(length).integers(26, size=length)
    state = {"heads": heads, "pairs": pairs, "positions": positions}
    made = page.evaluate(RUN, [letters.tolist(), state])
    turns = bits(pairs, 8).reshape(2, 8) * bits(positions, 1)[:, np.newaxis]
    ratings, maps = run_by_numpy(
        load_weights("inside"),
        letters,
        frequencies=turns * angular_frequencies(16),
        heads=bits(heads, 4).reshape(2, 4),
    )
    np.testing.assert_allclose(made[0], ratings.ravel(), atol=1e-3)
    np.testing.assert_allclose(np.ravel(made[1]), maps.ravel(), atol=1e-3)


def test_inside_draws_maps_in_matplotlibs_colors(page):
    """And leaves clear what is ahead of a letter."""
    letters = np.random.default_rng(5).integers(26, size=32).tolist()
    state = {"heads": 255, "pairs": 65535, "positions": 3}
    _, maps = page.evaluate(RUN, [letters, state])
    images = page.evaluate(IMAGES, [letters, state])
    for image, weights in zip(images, maps, strict=True):
        shown, weights = pixels(image), np.reshape(weights, (32, 32))
        seen = np.tri(32, dtype=bool)
        wanted = 255 * colormaps["viridis"](weights)
        # Nine colors stand for the map of 256.
        assert np.abs(shown - wanted)[seen].max() <= 20
        assert (shown[~seen, 3] == 0).all()


def test_inside_counts_what_is_right(page):
    text, length, head, period = "quizward", 64, 2, 8
    letters = np.resize([ord(letter) - ord("a") for letter in text], length)
    for heads in (255, 251):
        ratings, maps = run_by_numpy(
            load_weights("inside"),
            letters,
            frequencies=np.tile(angular_frequencies(16), (2, 1)),
            heads=bits(heads, 4).reshape(2, 4),
        )
        right = ratings.argmax(axis=1)[period:-1] == letters[period + 1 :]
        before = np.diag(maps[head], -1).mean()
        answer = np.diag(maps[head], 1 - period)[1:].mean()
        said, _ = moved(
            page, "inside", text=text, length=length, head=head, heads=heads
        )
        *counts, one_back, on_answer = numbers(said)
        assert counts == [right.sum(), right.size]
        assert one_back == pytest.approx(before, abs=0.00501)
        assert on_answer == pytest.approx(answer, abs=0.00501)
    starts = {name: start for name, (start, *_) in RANGES["inside"].items()}
    moved(page, "inside", **starts)


def test_the_notes_are_true_at_every_setting():
    """Of the figures apart, hands and rotary."""
    for frequency in np.arange(0.05, 3.1, 0.001):
        tips_apart = np.abs(2 * np.sin(frequency * np.arange(1, 100) / 2))
        assert tips_apart.min() < 0.1
    third = position_encoding(64, 16)[:, 4]
    assert (third[1:32] > 0).all()
    assert (third[32:63] < 0).all()
    offsets = np.arange(-63, 64)
    for width, exponent in itertools.product(range(16, 65, 16), range(17)):
        frequencies = rotary_frequencies(width, 10 ** (2 + exponent / 4))
        scores = []
        for choice in range(3):
            query, key = hands_at_0(choice, frequencies)
            angles = key - query - np.outer(offsets, frequencies)
            scores.append(np.cos(angles).mean(axis=1))
        equal, random, made = scores
        assert np.max(np.abs(random)) < 0.5
        highest = [offsets[np.argmax(each)] for each in (equal, made)]
        assert highest == [0, 40]


# How they are moved.


@pytest.mark.parametrize("name", RANGES)
def test_script_and_python_know_the_same_settings(browser, handout, name):
    """What is left out begins as it should, and keys reach both ends."""
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.set_content(handout)
        figure = the(page, name)
        settings = RANGES[name]
        starts = {setting: settings[setting][0] for setting in settings}
        assert figure.evaluate(STATE) == starts
        for slider in figure.get_by_role("slider").all():
            setting = slider.get_attribute("name")
            _, low, high = settings[setting]
            for key, end in [("Home", low), ("End", high)]:
                slider.press(key)
                now = figure.evaluate(STATE)[setting]
                assert now == pytest.approx(end)
        keys(figure)


def test_it_begins_as_it_is_called(browser):
    page = browser.new_page()
    page.set_content(displayed("unseen", trained=30, remedy=3))
    state = the(page, "unseen").evaluate(STATE)
    assert (state["trained"], state["remedy"]) == (30, 3)
    assert page.get_by_role("radio", name="by parts").is_checked()
    page.close()


# How much of the handle's tab is the handle's, and not a knob's.
HELD = """figure => {
    const root = figure.shadowRoot;
    const tab = [...root.querySelectorAll('[data-drag=bar] .tab')].at(-1);
    tab.scrollIntoView({block: 'center'});
    const box = tab.getBoundingClientRect();
    let [held, all] = [0, 0];
    for (let x = box.left + 1; x < box.right; x += 2) {
        for (let y = box.top + 1; y < box.bottom; y += 2) {
            const there = root.elementFromPoint(x, y);
            held += Boolean(there?.closest('[data-drag=bar]'));
            all += 1;
        }
    }
    return held / all; }"""


@pytest.mark.parametrize("width", [320, 360, 390, 430, 1280])
def test_query_and_key_can_be_moved_together(page, width):
    """By finger, however close they are, and by Shift with an arrow key."""
    page.set_viewport_size({"width": width, "height": 900})
    figure = the(page, "rotary")
    for query, key in [(20, 32), (20, 21), (0, 0), (63, 62)]:
        moved(page, "rotary", query=query, key=key)
        assert figure.evaluate(HELD) == 1
    moved(page, "rotary", query=20, key=62)
    slider = figure.get_by_role("slider", name="Position of the query")
    states = []
    for pressed in ("Shift+ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        slider.press(pressed)
        now = figure.evaluate(STATE)
        states.append((now["query"], now["key"]))
    assert states == [(21, 63), (21, 63), (20, 63)]


def test_the_script_of_a_figure_is_small():
    """It has what the figure needs, and one model's weights if it runs it."""
    sizes = {name: len(script_of([name])) for name in RANGES}
    assert sizes.pop("inside") < 100_000
    assert max(sizes.values()) < 40_000


@pytest.mark.parametrize("name", RANGES)
def test_parts_import_what_there_is(browser, name):
    """A browser says which name is missing where, as our joining does not."""
    page = browser.new_page()
    page.route("**/*", serve_part)
    page.goto("http://127.0.0.1/")
    page.evaluate(f"import('/play/figures/{name}.js')")
    assert page.evaluate("Object.keys(posencFigures)") == [name]
    page.close()


def serve_part(route) -> None:
    path = PACKAGE / route.request.url.partition("127.0.0.1/")[2]
    if path.suffix:
        route.fulfill(path=path)
    else:
        route.fulfill(body="A page.", content_type="text/html")


# As JupyterLab does: first the element, then its script.
SHOW = """html => {
    const [element, script] = html.split('<script>');
    document.body.insertAdjacentHTML('beforeend', element);
    const run = document.createElement('script');
    run.textContent = script.replace('</' + 'script>', '');
    document.body.append(run); }"""


def test_figures_bring_their_scripts_one_after_the_other(browser):
    """Each its own, and the same one again where a cell is run again."""
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    for name in ("pair", "alike", "inside", "pair"):
        page.evaluate(SHOW, displayed(name, position=9))
    figures = page.locator("posenc-play").all()
    states = [figure.evaluate(STATE)["position"] for figure in figures]
    assert states == [9] * 4
    for figure in figures:
        keys(figure)
    assert errors == []
    page.close()


IN_A_SHADOW = """html => {
    const [element, script] = html.split('<script>');
    const root = document.body.attachShadow({mode: 'open'});
    root.innerHTML = element;
    const run = document.createElement('script');
    run.textContent = script.replace('</' + 'script>', '');
    document.head.append(run);
    return root.querySelector('posenc-play').stage.state; }"""


def test_it_plays_in_a_shadow_root(browser):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    state = page.evaluate(IN_A_SHADOW, displayed("hands", position=9))
    page.wait_for_timeout(200)  # until it has been drawn
    assert (state, errors) == ({"position": 9}, [])
    page.close()


def test_a_slider_has_a_name_and_says_its_value(page):
    moved(page, "unseen", base=1e6)
    slider = the(page, "unseen").get_by_role("slider", name="Base", exact=True)
    said = slider.get_attribute("aria-valuetext")
    assert said.replace("\N{NO-BREAK SPACE}", " ") == "1 000 000"


@pytest.mark.parametrize("name", RANGES)
def test_the_mouse_drags_the_picture(page, name):
    page.set_viewport_size({"width": 1280, "height": 900})
    for grip, by, wanted in DRAGS[name]:
        done = drag(the(page, name), grip, by, by_mouse)
        assert done == pytest.approx(wanted, abs=1)


def test_a_fast_hand_is_turned(page):
    """A quarter of a turn of the second hand is five positions."""
    x, y = begin(the(page, "hands"), "1")
    page.mouse.move(x + 20, y)
    page.mouse.down()
    page.mouse.move(x + 14, y - 14)
    page.mouse.move(x, y - 20)
    page.mouse.up()
    assert the(page, "hands").evaluate(STATE)["position"] == 7 + 5


# In the place of the picture.


def test_what_to_notice_comes_after_the_first_move(browser, handout):
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.set_content(handout)
        figure = the(page, "alike")
        assert not figure.locator(".note").is_visible()
        figure.get_by_role("slider").first.press("ArrowLeft")
        assert figure.locator(".note").is_visible()
        figure.get_by_role("status").filter(has_text="The dot").wait_for()


def test_a_figure_is_on_the_screen_and_a_picture_on_paper(page):
    assert page.evaluate(VISIBLE) == list(RANGES)
    page.emulate_media(media="print")
    assert page.evaluate(VISIBLE) == ["picture"] * len(RANGES)
    page.emulate_media(media="screen")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_is_accessible_and_fits(page, width, dark):
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate(PAINT, ["#111", "#eee"] if dark else ["#fff", "#111"])
    themes = "document.querySelectorAll('posenc-play[dark]').length"
    page.wait_for_function(f"{themes} === {len(RANGES) * dark}")
    assert violations(page) == []
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    # On a phone, with what its browser leaves of those 844 pixels.
    assert max(page.evaluate(HEIGHTS)) < 664


# Slow: in JupyterLab, by touch.


def choose_theme(page, name: str) -> None:
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel:text-is('Theme')").hover()
    page.locator(f".lm-Menu-itemLabel:text-is('{name}')").click()


@pytest.mark.slow
@pytest.mark.parametrize("windowing", ["none", "defer", "full"])
def test_it_plays_in_jupyterlab(browser, tmp_path, windowing):
    with jupyterlab(browser, tmp_path, windowing) as open_notebook:
        plays_in_jupyterlab(open_notebook(stored_notebook(), "figures"))


def plays_in_jupyterlab(page) -> None:
    page.set_viewport_size(TALL)
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    # Nobody has run it yet, so it is not trusted: the pictures stand.
    page.locator("img").nth(len(RANGES) - 1).wait_for()
    assert page.evaluate(VISIBLE) == ["picture"] * len(RANGES)
    assert page.get_by_text("It moves.").first.is_visible()
    run_all(page)
    for theme, is_dark in [("JupyterLab Dark", 1), ("JupyterLab Light", 0)]:
        choose_theme(page, theme)
        dark = "document.querySelectorAll('posenc-play[dark]').length"
        page.wait_for_function(f"{dark} === {len(RANGES) * is_dark}")
        assert page.evaluate(VISIBLE) == list(RANGES)
        assert violations(page, "posenc-play") == []
        for name in RANGES:
            play_all(the(page, name))

    # Keys are the figure's: `b` would insert a cell, arrows choose another.
    slider = the(page, "hands").get_by_role("slider")
    slider.press("Home")  # which may bring cells onto the screen
    cells = page.locator(".jp-Cell").count()
    for key in ("ArrowRight", "b", "ArrowUp"):
        slider.press(key)
    assert slider.input_value() == "2"
    assert page.locator(".jp-Cell").count() == cells

    page.locator(".jp-InputPrompt").last.click()
    page.keyboard.press("Control+S")
    page.locator(".jp-mod-dirty").wait_for(state="detached")
    page.reload()
    for name in RANGES:
        play_all(the(page, name))
    assert page.evaluate(VISIBLE) == list(RANGES)
    assert errors == []
    page.close()


@pytest.mark.slow
def test_a_finger_on_a_grip_drags_and_elsewhere_scrolls(browser, handout):
    with browser.new_context(
        offline=True,
        has_touch=True,
        is_mobile=True,
        viewport={"width": 390, "height": 844},
    ) as context:
        page = context.new_page()
        page.set_content(handout)
        for name in RANGES:
            play_all(the(page, name))
        figure = the(page, "hands")
        start = begin(figure, "row")
        before = page.evaluate("scrollY")
        by_finger(page, start, (0, 60))
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") == before
        dragged = figure.evaluate(STATE)
        assert dragged["position"] > 7
        by_finger(page, (start[0] + 150, start[1]), (0, -200))
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") > before + 100
        assert figure.evaluate(STATE) == dragged
        figure.locator("image").tap(position={"x": 100, "y": 202})
        assert figure.evaluate(STATE)["position"] == 50


@pytest.mark.slow
def test_motion_is_slow_where_less_of_it_is_wanted(browser, handout):
    steps = {}
    for wish in ("no-preference", "reduce"):
        with browser.new_context(reduced_motion=wish) as context:
            page = context.new_page()
            page.set_content(handout)
            the(page, "hands").get_by_role("button").click()
            page.wait_for_timeout(2200)
            steps[wish] = the(page, "hands").evaluate(STATE)["position"] - 7
    assert 1 <= steps["reduce"] <= 2 < 5 <= steps["no-preference"]
