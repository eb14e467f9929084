"""recipes/insteval.yaml and movie-genres.yaml on small tables of the same columns, which are made up here."""
import json
import os
import random
import unittest

from program import ProgramTest

RECIPES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recipes")
GENRES = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
TELLING = ["attack", "rabbit", "laugh", "tears", "history", "kiss", "brief"]
SHORT = ["--set", "train.device=cpu", "--set", "train.threads=1", "--set", "train.tune=off"]


class WordsRecipesTest(ProgramTest):
    def recipe(self, name):
        return [os.path.join(RECIPES, f"{name}.yaml"), "--set", "data.root=" + self.path(".")]

    def train(self, name, *more):
        out, err = self.run_stoker("check", *self.recipe(name))
        self.assertIn("nothing is wrong with it", out + err)
        self.run_stoker("train", *self.recipe(name), *SHORT, *more, "--run", "run", "--quiet")
        return self.run_json("eval", "run")

    def test_ratings_depend_on_who_rates_and_who_is_rated(self):
        rng = random.Random(3)
        students, lecturers = [rng.gauss(0, 1) for _ in range(60)], [rng.gauss(0, 1) for _ in range(20)]
        rows = []
        for _ in range(4000):
            s, d = rng.randrange(60), rng.randrange(20)
            rating = min(max(round(3 + students[s] + lecturers[d] + rng.gauss(0, 0.3)), 1), 5)
            rows.append(f"{s + 1},{1000 + d},{2 * rng.randrange(1, 5)},{rng.randrange(1, 7)},{rng.randrange(2)},{rng.randrange(1, 16)},{rating}")
        self.write("insteval.csv", "s,d,studage,lectage,service,dept,y\n" + "\n".join(rows) + "\n")
        # The strong decay is for ten times as many students; here it would hold all of them at the mean.
        found = self.train("insteval", "--set", "train.optimizer.adamw.weight_decay=0.01", "--set", "train.epochs=10")
        self.assertLess(found["metrics"]["rmse"], 0.8)  # the deviation is 1.3
        # A lecturer whom training has not seen has the vector that all such have.
        self.write("new.csv", "s,d,studage,lectage,service,dept,y\n1,9999,2,1,0,3,1\n")
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null", "--set", f"data.source.csv.files={self.path('new.csv')}")
        self.assertTrue(0 < json.loads(out)["numbers"][0] < 6)

    def test_titles_tell_of_which_genres_a_movie_is(self):
        rng = random.Random(4)
        rows = []
        for i in range(3000):
            genres = [rng.random() < 0.3 for _ in GENRES]
            words = [TELLING[g].capitalize() for g, there in enumerate(genres) if there] + [f"Word{rng.randrange(50)}"]
            rng.shuffle(words)
            title = ", ".join(words)  # with quotes, since it has commas
            rows.append(f'"{title}",{1950 + i % 50},' + ",".join(str(int(there)) for there in genres))
        self.write("movies.csv", '"title","year",' + ",".join(f'"{genre}"' for genre in GENRES) + "\n" + "\n".join(rows) + "\n")
        found = self.train("movie-genres")
        self.assertGreater(found["metrics"]["auc"], 0.95)
        learned = json.loads(self.read("run/learned.json"))["values"][0]
        self.assertEqual((learned["stage"], learned["field"]), ("words", "title"))
        self.assertTrue(set(TELLING) <= set(learned["options"]["values"]))
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null", "--set", f"data.source.csv.files={self.path('movies.csv')}",
                                 "--scores")
        self.assertEqual(len(out.splitlines()), 3000)


if __name__ == "__main__":
    unittest.main()
