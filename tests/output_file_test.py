"""The files that a command writes where the user says: never one that it reads, or one that a run keeps."""
import os
import stat
import unittest

from program import RECIPE, ProgramTest, png

TEXTS = "data:\n  train:\n    - lines: texts.txt\n    - words: {vocabulary: words.txt}\n    - batch: 1\n"
PICTURES = "data:\n  train: [folder: pictures, decode, resize: 8, batch: 2]\n"
CHECKPOINT = "run/checkpoints/step-00000008"


class OutputFileTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for name in ("metrics.jsonl", "lock", "weights.safetensors", "checkpoints/step-00000008/tensors.safetensors"):
            self.write(f"run/{name}", f"this is {name}")
        self.write("run/recipe.yaml", RECIPE.replace("root: data", f"root: {self.path('data')}"))
        self.write("texts.yaml", TEXTS)
        self.write("texts.txt", "one two two\n")
        self.write("pictures.yaml", PICTURES)
        for name in ("a/1", "a/2", "b/1", "b/2"):
            self.write(f"pictures/{name}.png", png(bytes(64), 8, 8))

    def all_files(self):
        """What every file holds."""
        return {os.path.join(folder, name): self.read(os.path.join(folder, name))
                for folder, _, names in os.walk(self.folder) for name in names}

    def assert_refused(self, arguments, *says):
        before = self.all_files()
        self.assert_fails(arguments, 2, *says, "give ")
        self.assertEqual(self.all_files(), before)

    def test_no_command_writes_over_its_recipe_or_what_its_pipelines_read(self):
        os.symlink("data/eval-images.gz", self.path("link.jsonl"))
        os.link(self.path("pictures/b/2.png"), self.path("other.png"))
        for arguments, *says in [
                (["predict", "run", "--to", "data/eval-images.gz"], "--to", "data/eval-images.gz", "reads"),
                (["predict", "run", "--to", "data/train-images"], "data/train-images", "reads"),
                (["predict", "run", "--to", "link.jsonl"], "link.jsonl", "reads"),
                (["inspect", "pictures.yaml", "--grid", "pictures.yaml"], "--grid pictures.yaml", "reads this file, as FILE"),
                (["inspect", "pictures.yaml", "--grid", "pictures/a/1.png"], "the pipeline reads pictures/a/1.png"),
                (["lr-find", "pictures.yaml", "--to", "other.png"], "the pipeline reads other.png"),
                (["batch-find", "pictures.yaml", "--to", "pictures/a/2.png"], "the pipeline reads pictures/a/2.png"),
                (["schedule", "pictures.yaml", "--to", "fine.svg", "--to", "other.png"], "the pipeline reads other.png"),
                (["vocabulary", "texts.yaml", "--to", "texts.txt"], "the pipeline reads texts.txt"),
                (["vocabulary", "texts.yaml", "--to", "./texts.yaml"], "reads this file, as RECIPE"),
                (["export", "run/weights.safetensors", "--to", "run/weights.safetensors"], "the final weights of the run"),
                (["export", "other.pt", "--to", "other.pt"], "reads this file, as FROM")]:
            with self.subTest(arguments=arguments):
                if "other.pt" in arguments:
                    self.write("other.pt", "weights")
                self.assert_refused(arguments, *says)

    def test_no_command_takes_the_place_of_a_device_or_a_pipe(self):
        os.mkfifo(self.path("pipe"))
        os.symlink("/dev/null", self.path("link.svg"))
        for arguments in (["predict", "run", "--to", "pipe"], ["predict", "run", "--to", "/dev/stdout"],
                          ["schedule", "pictures.yaml", "--to", "link.svg"], ["plot", "run", "--to", "link.svg"],
                          ["lr-find", "pictures.yaml", "--to", "link.svg"], ["vocabulary", "texts.yaml", "--to", "/dev/full"],
                          ["inspect", "pictures.yaml", "--grid", "/dev/null"], ["export", "run", "--to", "/dev/null"]):
            with self.subTest(arguments=arguments):
                self.assert_fails(arguments, 2, f"{arguments[-2]} {arguments[-1]}: is a device or a pipe", "give the name of a file")
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assertEqual([os.path.islink(path) for path in (self.path("link.svg"), "/dev/stdout")], [True, True])

    def test_no_command_writes_a_file_that_a_run_keeps_there_already_or_not(self):
        os.symlink("run", self.path("way"))
        os.symlink(f"{CHECKPOINT}/tensors.safetensors", self.path("link.safetensors"))
        for name, is_what in [("recipe.yaml", "the recipe of the run"), ("metrics.jsonl", "the metrics of the run"),
                              ("weights.safetensors", "the final weights of the run"), ("choices.json", "the tuner"),
                              ("log", "the log of the run"), ("lock", "the lock of the run"), ("summary.json", "the summary"),
                              ("report.html", "the report"), ("profile.json", "the profile"),
                              ("progress.json", "the progress"), ("allowed.json", "changes"), ("data.json", "the marks of the data files"),
                              ("events.out.tfevents.1", "TensorBoard"), ("trace-1-2.json", "trace"),
                              ("checkpoints", "the folder of checkpoints"),
                              ("checkpoints/step-00000008/state.json", "in the checkpoints of the run")]:
            with self.subTest(name=name):
                self.assert_refused(["predict", "run", "--to", f"run/{name}"], f"--to run/{name}", is_what)
                self.assert_refused(["completion", "bash", "--to", f"way/{name}"], f"--to way/{name}", is_what)
        for to in (f"{CHECKPOINT}/tensors.safetensors", "link.safetensors", "run/checkpoints/new/weights.safetensors"):
            with self.subTest(to=to):
                self.assert_refused(["export", "run", "--to", to], f"--to {to}", "in the checkpoints of the run")
        self.assert_refused(["pack", "data/eval-images.gz", "run/weights.safetensors", "--overwrite"], "DEST", "the final weights")

    def test_what_belongs_to_nothing_is_replaced(self):
        self.write("project/recipe.yaml", PICTURES.replace("folder: pictures", f"folder: {self.path('pictures')}"))
        for grid in ("project/summary.json", "run/grid.png", "pictures/a/new.png"):
            for _ in range(2 if grid != "pictures/a/new.png" else 1):  # there it is one more picture then
                self.run_stoker("inspect", "project/recipe.yaml", "--grid", grid)
            self.assertTrue(self.read(grid).startswith(b"\x89PNG"))
        for _ in range(2):
            self.run_stoker("vocabulary", "texts.yaml", "--to", "words.txt")
            self.run_stoker("completion", "bash", "--to", "bash")
        self.assertEqual(self.read("words.txt"), b"two\none\n")


if __name__ == "__main__":
    unittest.main()
