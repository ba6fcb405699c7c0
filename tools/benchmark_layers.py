"""Compare the speed of the layers with that of their sources.

Each pair is timed in one run, one call of each in turn, and the median of the
ratios is printed: batch 32, 512 positions, 512 columns, and for the sines one
short text as well. A ratio above 1 means that ours is faster.

A look-up and a sum are limited by memory, so for the two published classes the
ratio is about 1; checking the ids costs a few percent. The sines are computed
anew at each eager call, which must not be slower than KerasHub's formula. A
graph computes them once, when it is traced, and must be at least twice as
fast, unless the text is so short that only the call itself counts.
"""

import os
from functools import partial
from statistics import median
from time import perf_counter

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from series.commands import parser

from posenc_helpers import position_encoding
from posenc_layers import (
    PositionEmbeddingFixedWeights,
    PositionEmbeddingLayer,
    SinePositionEncoding,
)

BATCH, SEQ_LEN, D_MODEL, VOCAB = 32, 512, 512, 10_000


def published_embedding(rows, columns, fixed):
    """An Embedding as the tutorial's classes make it."""
    if not fixed:
        return keras.layers.Embedding(rows, columns)
    encoding = position_encoding(rows, columns)
    return keras.layers.Embedding(
        rows, columns, weights=[encoding], trainable=False
    )


class PublishedSum(keras.layers.Layer):
    """The tutorial's two classes: two Embedding layers, gathered, added."""

    def __init__(self, sequence_length, vocab_size, output_dim, fixed=False):
        super().__init__()
        self.words = published_embedding(vocab_size, output_dim, fixed)
        self.places = published_embedding(sequence_length, output_dim, fixed)

    def call(self, inputs):
        indices = tf.range(tf.shape(inputs)[-1])
        return self.words(inputs) + self.places(indices)


class RecomputedSines(keras.layers.Layer):
    """KerasHub's formula: all of it in float32 tensors, at each call."""

    def call(self, inputs, start_index=0):
        shape = ops.shape(inputs)
        columns = ops.arange(shape[-1])
        exponents = ops.cast(2 * (columns // 2), "float32") / shape[-1]
        frequencies = ops.power(1 / 10_000, exponents)
        positions = ops.cast(ops.arange(shape[-2]) + start_index, "float32")
        angles = positions[:, None] * frequencies[None]
        odd = ops.cast(columns % 2, "float32")
        rows = ops.sin(angles) * (1 - odd) + ops.cos(angles) * odd
        return ops.broadcast_to(rows, shape)


def seconds(function) -> float:
    start = perf_counter()
    result = function()
    elapsed = perf_counter() - start
    del result  # freeing it is not part of the call
    return elapsed


def ratio(theirs, ours, rounds: int = 40) -> float:
    """Median over rounds of the time of `theirs` over that of `ours`."""
    for function in (theirs, ours) * 3:
        function()  # the first calls build and trace
    ratios = []
    for number in range(rounds):
        order = (theirs, ours) if number % 2 else (ours, theirs)
        times = {function: seconds(function) for function in order}
        ratios.append(times[theirs] / times[ours])
    return median(ratios)


def compiled_model(layer, inputs) -> keras.Model:
    """The layer and one small trainable head, ready for a training step."""
    entry = keras.Input(inputs.shape[1:], dtype=inputs.dtype)
    hidden = layer(entry)
    if hidden.shape == entry.shape:  # an encoding alone adds nothing yet
        hidden = keras.layers.Add()([entry, hidden])
    pooled = keras.layers.GlobalAveragePooling1D()(hidden)
    model = keras.Model(entry, keras.layers.Dense(1)(pooled))
    model.compile(optimizer="sgd", loss="mse")
    return model


def print_ratios() -> None:
    """Print what is timed, and how many times faster ours is."""
    rng = np.random.default_rng(0)
    ids = tf.constant(rng.integers(0, VOCAB, (BATCH, SEQ_LEN)), tf.int32)
    floats = tf.constant(rng.normal(size=(BATCH, SEQ_LEN, D_MODEL)), "float32")
    short = tf.constant(rng.normal(size=(1, 20, 64)), "float32")
    size = (SEQ_LEN, VOCAB, D_MODEL)
    pairs = {
        "learned": (ids, PublishedSum(*size), PositionEmbeddingLayer(*size)),
        "fixed": (
            ids,
            PublishedSum(*size, fixed=True),
            PositionEmbeddingFixedWeights(*size),
        ),
        "sines": (floats, RecomputedSines(), SinePositionEncoding()),
        "short sines": (short, RecomputedSines(), SinePositionEncoding()),
    }
    for name, (inputs, *layers) in pairs.items():
        targets = np.zeros((len(inputs), 1), "float32")
        models = [compiled_model(layer, inputs) for layer in layers]
        graphs = [tf.function(layer) for layer in layers]
        timed = {
            "forward": [partial(layer, inputs) for layer in layers],
            "forward, tf.function": [
                partial(graph, inputs) for graph in graphs
            ],
            "training step": [
                partial(model.train_on_batch, inputs, targets)
                for model in models
            ],
        }
        for what, (theirs, ours) in timed.items():
            times = ratio(theirs, ours)
            print(f"{name + ', ' + what:32} {times:8.2f} times")


if __name__ == "__main__":
    parser(__doc__).parse_args()
    print_ratios()
