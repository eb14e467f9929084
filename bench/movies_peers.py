"""What bench/table_recipes compares with: movies_peers.py sklearn|torch movie-genres MOVIES.CSV PREDICTIONS SEED.

PREDICTIONS are what `stoker predict` printed: the `index` of each line says which rows are for evaluation. `sklearn` is a logistic
regression for each genre over one column for each word that is there twice, with its defaults; it depends on no seed. `torch` is
the network and the schedule of the recipe, all titles in one tensor. The last line is one JSON object: auc and pr_auc, the means
over the genres, and seconds of training.
"""
import collections
import json
import re
import sys
import time

import recipe_peers  # first, since it sets how threads wait
import numpy

GENRES = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
BATCH, EPOCHS, RATE, DECAY = 256, 6, 0.01, 0.3


def read(path, predictions):
    rows, evaluated = recipe_peers.read(path, predictions)
    words = [re.findall(r"\w+", row["title"].lower(), re.ASCII) for row in rows]
    return words, numpy.array([[float(row[genre]) for genre in GENRES] for row in rows], numpy.float32), evaluated


def areas(scores, right):
    """The means over the genres of the areas under the ROC curve and the curve of precision by recall (average precision)."""
    both = []
    for score, truth in zip(scores.T, right.T):
        order = numpy.argsort(-score, kind="stable")
        score, truth = score[order], truth[order]
        last = numpy.append(numpy.flatnonzero(numpy.diff(score)), len(score) - 1)  # equal scores are one step
        found, taken = numpy.cumsum(truth)[last], last + 1.0
        recall, miss = found / found[-1], (taken - found) / (taken - found)[-1]
        auc = numpy.sum(numpy.diff(miss, prepend=0) * (recall + numpy.append(0, recall[:-1])) / 2)
        both.append((auc, numpy.sum(numpy.diff(recall, prepend=0) * found / taken)))
    return [float(mean) for mean in numpy.mean(both, axis=0)]


def regression(words, genres, evaluated, _):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    texts = numpy.array([" ".join(title) for title in words])
    begin = time.perf_counter()
    vectors = CountVectorizer(token_pattern=r"\S+", min_df=2, binary=True)
    model = OneVsRestClassifier(LogisticRegression(max_iter=200)).fit(vectors.fit_transform(texts[~evaluated]), genres[~evaluated])
    return model.predict_proba(vectors.transform(texts[evaluated])), time.perf_counter() - begin


def network(words, genres, evaluated, seed):
    import torch
    from torch import nn
    torch.manual_seed(seed)
    counts = collections.Counter(word for title, held_out in zip(words, evaluated) if not held_out for word in title)
    known = {word: i for i, (word, count) in enumerate(counts.most_common(), 2) if count > 1}
    longest = max(map(len, words))
    x = torch.tensor([[known.get(word, 1) for word in title] + [0] * (longest - len(title)) for title in words])
    lengths = torch.tensor([max(len(title), 1) for title in words])
    y = torch.from_numpy(genres)

    class Titles(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(15000, 64)
            self.recurrent = nn.GRU(64, 64, batch_first=True)
            self.head = nn.Linear(64, len(GENRES))
            self.dropout = nn.Dropout(0.5)

        def forward(self, rows):
            vectors = self.dropout(self.embedding(x[rows]))
            packed = nn.utils.rnn.pack_padded_sequence(vectors, lengths[rows], batch_first=True, enforce_sorted=False)
            return self.head(self.dropout(self.recurrent(packed)[1][0]))

    model = Titles()
    loss = nn.functional.binary_cross_entropy_with_logits
    seconds = recipe_peers.train(model, lambda rows: loss(model(rows), y[rows]), evaluated, batch=BATCH, epochs=EPOCHS, rate=RATE,
                                 decay=DECAY)
    with torch.inference_mode():
        return model(torch.from_numpy(numpy.flatnonzero(evaluated))).double().numpy(), seconds


def main():
    kind, _, path, predictions, seed = sys.argv[1:]
    words, genres, evaluated = read(path, predictions)
    scores, seconds = (regression if kind == "sklearn" else network)(words, genres, evaluated, int(seed))
    auc, pr_auc = areas(scores, genres[evaluated])
    print(json.dumps({"auc": auc, "pr_auc": pr_auc, "seconds": seconds}))


main()
