"""What bench/table_recipes compares with: insteval_peers.py sklearn|torch insteval INSTEVAL.CSV PREDICTIONS SEED.

PREDICTIONS are what `stoker predict` printed: the `index` of each line says which rows are for evaluation. `sklearn` is ridge
regression over one column for each word of each column of the table, whose strength is the one of four that is best for the rows
that are evaluated, which favours it; it depends on no seed. `torch` is the network and the schedule of the recipe, all data in
tensors. The last line is one JSON object: rmse, mae and seconds of training.
"""
import json
import sys
import time

import recipe_peers  # first, since it sets how threads wait
import numpy

COLUMNS = ["s", "d", "studage", "lectage", "service", "dept"]
VECTORS = {"s": 8, "d": 8}
BATCH, EPOCHS, RATE, DECAY = 256, 6, 0.005, 2


def read(path, predictions):
    """The texts of the columns, the ratings, and which rows are for evaluation."""
    rows, evaluated = recipe_peers.read(path, predictions)
    return numpy.array([[row[name] for name in COLUMNS] for row in rows]), numpy.array([float(row["y"]) for row in rows]), evaluated


def ridge(texts, ratings, evaluated, _):
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import OneHotEncoder
    begin = time.perf_counter()
    encoder = OneHotEncoder(handle_unknown="ignore").fit(texts[~evaluated])
    x = encoder.transform(texts)
    answers = [Ridge(alpha=alpha).fit(x[~evaluated], ratings[~evaluated]).predict(x[evaluated]) for alpha in (1, 5, 10, 20)]
    return min(answers, key=lambda one: ((one - ratings[evaluated]) ** 2).mean()), (time.perf_counter() - begin) / len(answers)


def network(texts, ratings, evaluated, seed):
    import torch
    from torch import nn
    torch.manual_seed(seed)
    known = [{word: i for i, word in enumerate(sorted(set(texts[~evaluated, c])))} for c in range(len(COLUMNS))]
    x = torch.tensor([[known[c].get(word, len(known[c])) for c, word in enumerate(row)] for row in texts])
    sizes = [len(words) + 1 for words in known]
    mean, deviation = ratings[~evaluated].mean(), ratings[~evaluated].std()
    y = torch.from_numpy(((ratings - mean) / deviation).astype(numpy.float32))[:, None]

    class WideAndDeep(nn.Module):
        def __init__(self):
            super().__init__()
            self.wide = nn.ModuleList(nn.Embedding(size, 1) for size in sizes)
            for weights in self.wide:
                nn.init.zeros_(weights.weight)
            self.vectors = nn.ModuleList(nn.Embedding(size, VECTORS[name]) if name in VECTORS else nn.Identity()
                                         for name, size in zip(COLUMNS, sizes))
            for name, vectors in zip(COLUMNS, self.vectors):
                if name in VECTORS:
                    nn.init.normal_(vectors.weight, std=VECTORS[name] ** -0.5)
            width = sum(VECTORS.get(name, size) for name, size in zip(COLUMNS, sizes))
            self.deep = nn.Sequential(nn.Dropout(0.3), nn.Linear(width, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 1))

        def forward(self, rows):
            wide = sum(weights(rows[:, c]) for c, weights in enumerate(self.wide))
            parts = [self.vectors[c](rows[:, c]) if name in VECTORS else nn.functional.one_hot(rows[:, c], sizes[c]).float()
                     for c, name in enumerate(COLUMNS)]
            return wide + self.deep(torch.cat(parts, 1))

    model = WideAndDeep()
    seconds = recipe_peers.train(model, lambda rows: nn.functional.mse_loss(model(x[rows]), y[rows]), evaluated, batch=BATCH,
                                 epochs=EPOCHS, rate=RATE, decay=DECAY)
    with torch.inference_mode():
        return model(x[torch.from_numpy(evaluated)])[:, 0].double().numpy() * deviation + mean, seconds


def main():
    kind, _, path, predictions, seed = sys.argv[1:]
    texts, ratings, evaluated = read(path, predictions)
    answers, seconds = (ridge if kind == "sklearn" else network)(texts, ratings, evaluated, int(seed))
    errors = answers - ratings[evaluated]
    print(json.dumps({"rmse": float((errors ** 2).mean() ** 0.5), "mae": float(abs(errors).mean()), "seconds": seconds}))


main()
