"""JAX: batches are jax.Array, which share the engine's memory on the CPU; jax.distributed's processes get a share each."""

import argparse

import jax
import jax.numpy as jnp

import fashion
import stoker as sk

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=300)
given = parser.parse_args()


def loss_of(weights, image, label):
    scores = jax.nn.log_softmax(image.reshape(len(image), -1) @ weights)
    return -jnp.take_along_axis(scores, label[:, None], axis=1).mean()


@jax.jit
def step(weights, image, label):
    loss, gradient = jax.value_and_grad(loss_of)(weights, image, label)
    return weights - 0.05 * gradient, loss


weights = jnp.zeros((784, 10))
for number, batch in enumerate(sk.Loader(fashion.batches() | sk.repeat(), seed=1, to="jax"), start=1):
    weights, loss = step(weights, batch["image"], batch["label"])
    if number == given.steps:
        break
print(f"{number} steps, loss {loss:.3f}")
