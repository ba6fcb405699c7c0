"""The numbers that the five source tutorials print, and who gives them.

`published_values.json` was copied from their pages, so that no number in it
comes from the code that it tests.
"""

import json

import numpy as np
import pytest
from conftest import ROOT, LazyModule, cells_of, run_up_to

from posenc_helpers import position_encoding

keras, layers = LazyModule("keras"), LazyModule("posenc.layers")
PUBLISHED = json.loads((ROOT / "tests/published_values.json").read_text())
TABLE, LAYER = PUBLISHED["hand_table"], PUBLISHED["layer_20x200"]
TWO, SUMS = PUBLISHED["two_sentences"], PUBLISHED["fixed_weights_output"]
PRINTED = np.ix_(LAYER["rows"], LAYER["columns"])
FORMS = ["by_hands", "by_loop", "by_parity", "vectorized", "by_exp_log"]


@pytest.fixture(scope="module")
def forms() -> dict:
    names = run_up_to("02_encoding_matrix", "nav-end")
    names["helper"] = lambda rows, width, base=10_000: position_encoding(
        rows, width, max_wavelength=base
    )
    return names


@pytest.mark.parametrize("form", [*FORMS, "helper"])
def test_each_form_of_the_matrix(forms, form):
    off = np.abs(forms[form](4, 4, 100) - TABLE["matrix"])
    assert off.max() < TABLE["print_rounding"]
    off = np.abs(forms[form](20, 200)[PRINTED] - LAYER["values"])
    assert off.max() < LAYER["print_rounding"]


def test_the_layer_of_sines():
    encoding = layers.SinePositionEncoding()(np.zeros((1, 20, 200), "float32"))
    assert encoding.shape == (1, 20, 200)
    off = np.abs(np.array(encoding)[0][PRINTED] - LAYER["values"])
    assert off.max() < LAYER["print_rounding"]


def test_two_sentences_become_ids_and_their_sums():
    vectorize = keras.layers.TextVectorization(10, output_sequence_length=5)
    vectorize.adapt(TWO["sentences"])
    assert vectorize.get_vocabulary() == TWO["vocabulary"]
    ids = vectorize(TWO["sentences"])
    assert np.array(ids).tolist() == TWO["ids"]
    sums = np.array(layers.PositionEmbeddingFixedWeights(5, 10, 6)(ids))
    np.testing.assert_allclose(sums, SUMS["values"], rtol=0, atol=3e-7)


@pytest.mark.parametrize("phrase", ["technical", "wise"])
def test_the_phrases_of_notebook_05(phrase):
    code = "".join(cell.source for cell in cells_of("05_phrase_demo"))
    code = " ".join(code.replace('"', " ").split())
    assert PUBLISHED["phrases"][phrase] in code
