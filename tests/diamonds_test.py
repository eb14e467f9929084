"""recipes/diamonds-price.yaml and diamonds-cut.yaml on a small table of the same columns, which is made up here."""
import json
import os
import random
import unittest

from program import ProgramTest

RECIPES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recipes")
COLUMNS = ["carat", "cut", "color", "clarity", "depth", "table", "price", "x", "y", "z"]
CUTS = ["Fair", "Good", "Very Good", "Premium", "Ideal"]
CLARITIES = ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"]
TEXTS = ["cut", "color", "clarity"]
SHORT = ["--set", "train.device=cpu", "--set", "train.threads=1", "--set", "train.tune=off", "--set", "train.epochs=2"]
ROWS = 1500


class DiamondsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        self.rows = [self.diamond(rng) for _ in range(ROWS)]
        self.table("diamonds.csv", COLUMNS, self.rows)

    @staticmethod
    def diamond(rng):
        carat = rng.uniform(0.2, 2.5)
        cut, clarity = rng.randrange(5), rng.randrange(8)
        side = 6.4 * carat ** (1 / 3)
        price = round(4000 * carat ** 1.7 * (1 + 0.1 * clarity) * rng.uniform(0.9, 1.1))
        return {"carat": f"{carat:.2f}", "cut": CUTS[cut], "color": rng.choice("DEFGHIJ"), "clarity": CLARITIES[clarity],
                "depth": f"{66 - cut + rng.random():.1f}", "table": str(rng.randrange(53, 63)), "price": str(price),
                "x": f"{side:.2f}", "y": f"{side + 0.02:.2f}", "z": f"{0.62 * side:.2f}"}

    def table(self, name, columns, rows):
        self.write(name, "\n".join([",".join(columns), *(",".join(row[column] for column in columns) for row in rows)]) + "\n")

    def recipe(self, target):
        return [os.path.join(RECIPES, f"diamonds-{target}.yaml"), "--set", "data.root=" + self.path(".")]

    def train(self, target):
        out, err = self.run_stoker("check", *self.recipe(target))
        self.assertIn("nothing is wrong with it", out + err)
        self.run_stoker("train", *self.recipe(target), *SHORT, "--run", "run", "--quiet")
        return self.run_json("eval", "run")

    def predictions_without(self, target):
        """Of five rows that lack the target, as the recipe's first lines say it is done."""
        columns = [column for column in COLUMNS if column != target]
        self.table("new.csv", columns, self.rows[:5])
        fields = ", ".join(f"{column}: {'text' if column in TEXTS else 'float32'}" for column in columns)
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null", "--set",
                                 f"data.source=[csv: {{files: {self.path('new.csv')}, fields: {{{fields}}}}}]")
        return [json.loads(line) for line in out.splitlines()]

    def test_prices_are_learned_measured_and_predicted_in_dollars(self):
        evaluation = self.train("price")
        self.assertNotIn("accuracy", evaluation)
        self.assertEqual(evaluation["samples"], ROWS // 5)
        self.assertLess(0, evaluation["metrics"]["mae"])
        self.assertLess(evaluation["metrics"]["mae"], evaluation["metrics"]["rmse"])
        prices = [line["numbers"][0] for line in self.predictions_without("price")]
        self.assertEqual(len(prices), 5)
        for price in prices:
            self.assertTrue(100 < price < 1e6, prices)

    def test_cuts_are_learned_measured_and_predicted_by_name(self):
        evaluation = self.train("cut")
        self.assertTrue(0 <= evaluation["accuracy"] <= 1)
        self.assertEqual(sorted(evaluation["classes"]), sorted(CUTS))
        lines = self.predictions_without("cut")
        self.assertEqual(len(lines), 5)
        self.assertLessEqual({line["class"] for line in lines}, set(CUTS))


if __name__ == "__main__":
    unittest.main()
