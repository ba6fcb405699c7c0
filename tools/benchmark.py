"""Compare the speed of the table and of the layers with that of others.

Each ratio is measured in one run: both sides take turns, and the median over
all rounds is printed. A ratio above 1 means that ours is faster. One that is
below what must be, as said here, ends the command with an error.

encoding: what `posenc.fast_table` is worth for a large and a small table,
beside the plain table of `posenc_helpers`, the formula of a TensorFlow
tutorial and of KerasHub, and `numpy.full`, which only writes. In the large
table, it must be at least five times as fast as the plain one.

layers: batch 32, 512 positions, 512 columns. A look-up and a sum are limited
by memory, so that a published class is about as fast as ours; checking the ids
costs a few percent. The sines are computed anew at each eager call, which must
be about as fast as KerasHub's formula. A graph computes them once, when it is
traced, and must be at least twice as fast.
"""

import os
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from posenc_series.commands import CommandError, parser, run

from posenc.fast_table import fast_position_encoding
from posenc.layers import PositionEmbeddingLayer, SinePositionEncoding
from posenc_helpers import position_encoding


def ratio(theirs: Callable, ours: Callable, rounds: int = 40) -> float:
    """Median over rounds of the time of `theirs` over that of `ours`."""
    for function in (theirs, ours) * 3:
        function()  # the first calls build and trace
    ratios = []
    for number in range(rounds):
        times = {}
        for function in (theirs, ours)[:: 1 if number % 2 else -1]:
            start = perf_counter()
            result = function()
            times[function] = perf_counter() - start
            del result  # freeing it is not part of the call
        ratios.append(times[theirs] / times[ours])
    return median(ratios)


def report(what: str, times: float, least: float = 0) -> None:
    """Print a ratio.

    Raises:
        CommandError: If it is smaller than it must be.
    """
    print(f"{what:33} {times:8.2f} times", flush=True)
    if times < least:
        raise CommandError(f"{what}: must be {least} times as fast at least")


# The table.


def plain_table(seq_len, d_model):
    return position_encoding(seq_len, d_model, dtype=np.float32)


def tensorflow_tutorial(seq_len, d_model):
    columns = np.arange(d_model)[np.newaxis]
    rates = 1 / np.power(10_000, 2 * (columns // 2) / np.float32(d_model))
    angles = np.arange(seq_len)[:, np.newaxis] * rates
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return tf.cast(angles[np.newaxis], tf.float32)


def keras_hub(seq_len, d_model):
    """All of it in float32 tensors."""
    columns = ops.arange(d_model)
    exponents = ops.cast(2 * (columns // 2), "float32") / d_model
    frequencies = ops.power(1 / 10_000, exponents)
    angles = ops.cast(ops.arange(seq_len), "float32")[:, None] * frequencies
    odd = ops.cast(columns % 2, "float32")
    return ops.sin(angles) * (1 - odd) + ops.cos(angles) * odd


def numpy_full(seq_len, d_model):
    return np.full((seq_len, d_model), 0.5, np.float32)


def compare_encoding() -> None:
    for shape, rounds in (((32_768, 1_024), 7), ((100, 512), 300)):
        ours = partial(fast_position_encoding, *shape, dtype=np.float32)
        print("{} x {}, float32".format(*shape))
        for build in (plain_table, tensorflow_tutorial, keras_hub, numpy_full):
            times = ratio(partial(build, *shape), ours, rounds)
            is_promised = build is plain_table and shape[0] > 10_000
            report(f"  {build.__name__}", times, 5 if is_promised else 0)


# The layers.

PROMISED = {"sines, forward": 0.9, "sines, forward, tf.function": 2}


class PublishedSum(keras.layers.Layer):
    """The tutorial's learned class: two Embedding layers, gathered, added."""

    def __init__(self, sequence_length, vocab_size, output_dim):
        super().__init__()
        self.words = keras.layers.Embedding(vocab_size, output_dim)
        self.places = keras.layers.Embedding(sequence_length, output_dim)

    def call(self, inputs):
        indices = tf.range(tf.shape(inputs)[-1])
        return self.words(inputs) + self.places(indices)


class RecomputedSines(keras.layers.Layer):
    """KerasHub's formula, at each call."""

    def call(self, inputs):
        shape = ops.shape(inputs)
        return ops.broadcast_to(keras_hub(shape[1], shape[2]), shape)


def compare_layers() -> None:
    rng = np.random.default_rng(0)
    size = (512, 10_000, 512)  # positions, words, columns
    ids = tf.constant(rng.integers(0, size[1], (32, 512)), tf.int32)
    floats = tf.constant(rng.normal(size=(32, 512, 512)), tf.float32)
    cases = {
        "learned": (ids, PublishedSum(*size), PositionEmbeddingLayer(*size)),
        "sines": (floats, RecomputedSines(), SinePositionEncoding()),
    }
    for case, (inputs, *layers) in cases.items():
        graphs = [tf.function(each) for each in layers]
        for kind, pair in (("", layers), (", tf.function", graphs)):
            name = f"{case}, forward{kind}"
            times = ratio(*(partial(each, inputs) for each in pair))
            report(name, times, PROMISED.get(name, 0))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("what", choices=("encoding", "layers"))
    if arguments.parse_args().what == "encoding":
        compare_encoding()
    else:
        compare_layers()


if __name__ == "__main__":
    run(main)
