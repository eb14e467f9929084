"""What bench/table_recipes compares with: diamonds_peers.py sklearn|torch diamonds-price|diamonds-cut DIAMONDS.CSV PREDICTIONS SEED.

PREDICTIONS are what `stoker predict` printed: the `index` of each line says which rows are for evaluation. `sklearn` is
scikit-learn's HistGradientBoosting with its defaults on numbers and the places of the grades in their order; of the price itself,
which gives it a lower error than the logarithm does. `torch` is the network, preparation and schedule of the recipe, all data in
one tensor. The last line is one JSON object: rmse and mae, or accuracy, and seconds of training.
"""
import json
import sys
import time

import recipe_peers  # first, since it sets how threads wait
import numpy

GRADES = {"cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"], "color": list("DEFGHIJ"),
          "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"]}
QUANTILES = 64


def read(path, predictions):
    """{column: numbers}, and which rows are for evaluation."""
    rows, evaluated = recipe_peers.read(path, predictions)
    columns = {name: numpy.array([GRADES[name].index(row[name]) if name in GRADES else float(row[name]) for row in rows])
               for name in rows[0]}
    return columns, evaluated


def trees(task, columns, evaluated, seed):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    x = numpy.stack([values for name, values in columns.items() if name != task], axis=1)
    kind = HistGradientBoostingRegressor if task == "price" else HistGradientBoostingClassifier
    begin = time.perf_counter()
    model = kind(random_state=seed).fit(x[~evaluated], columns[task][~evaluated])
    return model.predict(x[evaluated]), time.perf_counter() - begin


def scaled(values, training):
    return (values - values[training].mean(0)) / values[training].std(0)


def features(task, columns, evaluated):
    """What the recipe's data.train makes."""
    names = ["carat", "depth", "table"] + (["price", "x", "y", "z"] if task == "cut" else [])
    parts = [scaled(numpy.stack([columns[name] for name in names], axis=1), ~evaluated)]
    if task == "price":
        places = []
        for name in "xyz":
            bounds = numpy.unique(numpy.quantile(columns[name][~evaluated], numpy.arange(1, QUANTILES) / QUANTILES))
            places.append(numpy.digitize(columns[name], bounds).astype(float))
        parts.append(scaled(numpy.stack(places, axis=1), ~evaluated))
    parts += [numpy.eye(len(GRADES[name]))[columns[name].astype(int)] for name in GRADES if name != task]
    return numpy.concatenate(parts, axis=1).astype(numpy.float32)


def torch_network(task, columns, evaluated, seed):
    import torch
    from torch import nn
    torch.manual_seed(seed)
    x = torch.from_numpy(features(task, columns, evaluated))
    if task == "price":
        logarithms = numpy.log(columns["price"])
        mean, deviation = logarithms[~evaluated].mean(), logarithms[~evaluated].std()
        y = torch.from_numpy(((logarithms - mean) / deviation).astype(numpy.float32))[:, None]
        outputs, batch, epochs, dropout, loss = 1, 512, 20, 0, nn.functional.mse_loss
    else:
        y = torch.from_numpy(columns["cut"].astype(numpy.int64))
        outputs, batch, epochs, dropout, loss = 5, 256, 30, 0.1, nn.functional.cross_entropy
    layers = [nn.Linear(x.shape[1], 256), nn.ReLU(), nn.Dropout(dropout), nn.Linear(256, 256), nn.ReLU(), nn.Dropout(dropout)]
    model = nn.Sequential(*layers, nn.Linear(256, outputs))
    seconds = recipe_peers.train(model, lambda rows: loss(model(x[rows]), y[rows]), evaluated, batch=batch, epochs=epochs, rate=0.01, decay=0.01)
    with torch.inference_mode():
        scores = model(x[torch.from_numpy(evaluated)]).double().numpy()
    return (numpy.exp(scores[:, 0] * deviation + mean) if task == "price" else scores.argmax(1)), seconds


def main():
    kind, recipe, path, predictions, seed = sys.argv[1:]
    task = recipe.removeprefix("diamonds-")
    columns, evaluated = read(path, predictions)
    answers, seconds = (trees if kind == "sklearn" else torch_network)(task, columns, evaluated, int(seed))
    right = columns[task][evaluated]
    if task == "cut":
        figures = {"accuracy": float((answers == right).mean())}
    else:
        figures = {"rmse": float(((answers - right) ** 2).mean() ** 0.5), "mae": float(abs(answers - right).mean())}
    print(json.dumps({**figures, "seconds": seconds}))


main()
