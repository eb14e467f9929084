"""Keras: `fit` takes pairs of inputs and targets, whatever its backend (KERAS_BACKEND)."""

import argparse
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras

import fashion
import stoker as sk

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=300, help="of each epoch")
parser.add_argument("--epochs", type=int, default=1)
given = parser.parse_args()

loader = sk.Loader(fashion.batches() | sk.repeat(), seed=1, to="numpy")
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(((batch["image"], batch["label"]) for batch in loader), steps_per_epoch=given.steps, epochs=given.epochs, verbose=0)
print(f"{given.epochs * given.steps} steps, accuracy {history.history['accuracy'][-1]:.3f}")
