"""The libraries that people train with, the real packages: examples/python, and what must hold beyond them.

`./dev friends` installs them and runs this; without them it is skipped.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import stoker as sk
from support import HANGS, TestCase, needs

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
FASHION = pathlib.Path(os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist"))
sys.path.insert(0, str(EXAMPLES))


class Numbers:
    """A dataset in Python: rows of 16 KiB and more, so that batches lie in shared memory."""

    def __len__(self):
        return 200

    def __getitem__(self, number):
        import torch

        return torch.full((5000,), float(number))


def comes_from_our_queues(tensor):
    """Whether the tensor lies in a block of ours, which is leased for as long."""
    from stoker.dataloader.shared_blocks import Reader

    import torch

    places = []
    for lease in list(Reader._leases.values()):
        exporter = lease()
        if exporter is not None:
            places.append(torch.frombuffer(exporter, dtype=torch.uint8).data_ptr())
    return tensor.data_ptr() in places


class Friends(TestCase):
    def run_example(self, *words, launcher=()):
        """What the example prints. A folder of the test's own is the working directory."""
        environment = dict(os.environ, RAY_AUTH_MODE="disabled", HF_HUB_OFFLINE="1", HF_HOME=str(self.folder / "hf"),
                           TOKENIZERS_PARALLELISM="false", CUDA_VISIBLE_DEVICES="")
        command = [sys.executable, *launcher, str(EXAMPLES / words[0]), *map(str, words[1:])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


@unittest.skipUnless(FASHION.is_dir(), "Fashion-MNIST is not installed")
class OfFashion(Friends):
    @needs("torch")
    def test_torchrun_gives_each_sample_to_one_rank(self):
        out = self.run_example("distributed.py", "--epochs", 2, "--checkpoint", self.folder / "saved.pt",
                               launcher=["-m", "torch.distributed.run", "--nproc-per-node", "2"])
        # 468 batches of 128, 234 for each rank.
        self.assertIn("epoch 0: 59904 samples on 2 ranks", out)
        self.assertIn("epoch 1: 59904 samples on 2 ranks", out)
        self.assertTrue((self.folder / "saved.pt").exists())

    @needs("lightning")
    def test_lightning_fits_and_resumes(self):
        self.assertIn("600 steps", self.run_example("lightning_fit.py", "--steps", 600, "--folder", self.folder))
        self.assertIn("900 steps", self.run_example("lightning_fit.py", "--steps", 900, "--folder", self.folder, "--resume"))

    @needs("jax")
    def test_jax_learns(self):
        self.assertLess(float(self.run_example("jax_loop.py").rsplit(" ", 1)[1]), 1)

    @needs("keras")
    def test_keras_learns(self):
        self.assertGreater(float(self.run_example("keras_fit.py").rsplit(" ", 1)[1]), 0.7)

    @needs("ray")
    def test_ray_makes_each_sample_once(self):
        out = self.run_example("ray_data.py", "--cpus", 2)
        # Each of two tasks leaves out at most a batch that is not full.
        self.assertRegex(out, "59904 samples")

    @needs("ray")
    def test_the_trainers_of_ray_get_the_samples_that_its_tasks_make(self):
        out = self.run_example("ray_train.py", "--cpus", 3, "--folder", self.folder / "run")
        self.assertRegex(out, "59904 samples by the first of 1")


STOKER = os.environ.get("STOKER") or shutil.which("stoker") or str(EXAMPLES.parents[1] / "build/release/bin/stoker")


class OfTheirOwn(Friends):
    @needs("ray")
    @unittest.skipUnless(os.access(STOKER, os.X_OK), "the program stoker is not built (./dev build)")
    def test_tasks_of_ray_pack_parts_to_the_bytes_of_one_process(self):
        for name in ("packed", "one"):
            (self.folder / name).mkdir()
        recipe = self.folder / "numbers.yaml"
        recipe.write_text("data: {train: [range: 1003, shuffle]}\n")
        out = self.run_example("ray_pack.py", recipe, "packed/x.stoker", "--shards", 16, "--parts", 5, "--cpus", 2, "--stoker", STOKER)
        self.assertIn("1003 elements in 16 shards, made in 5 parts", out)
        # The record names the recipe as it was given: the example gives whole paths.
        subprocess.run([STOKER, "pack", str(recipe.resolve()), "one/x.stoker", "--shards", "16"], cwd=self.folder, check=True, capture_output=True)
        packed, one = ({file.name: file.read_bytes() for file in (self.folder / name).iterdir()} for name in ("packed", "one"))
        self.assertEqual(len(packed), 17, "the shards and the record")
        self.assertEqual(packed, one)

    @needs("accelerate")
    def test_the_accelerate_example_runs(self):
        self.assertIn("epoch 0: loss", self.run_example("accelerate_loop.py"))

    @needs("transformers")
    def test_the_trainer_example_runs(self):
        self.assertIn("50 steps", self.run_example("transformers_trainer.py"))

    @needs("datasets")
    def test_a_directory_of_datasets_is_a_source_with_and_without_its_package(self):
        out = self.run_example("datasets_source.py", "--folder", self.folder / "squares")
        self.assertEqual(out.count(f"sum of squares {sum(i * i for i in range(1000))}"), 2)


@needs("accelerate")
class Accelerate(TestCase):
    def test_batches_come_from_our_queues_after_prepare(self):
        from accelerate import Accelerator

        loader = Accelerator(cpu=True).prepare(sk.DataLoader(Numbers(), 10, num_workers=2))
        self.assertIsNot(type(loader), sk.DataLoader)
        seen = 0
        for batch in loader:
            self.assertTrue(comes_from_our_queues(batch))
            seen += len(batch)
        self.assertEqual(seen, 200)


@needs("lightning")
class Lightning(TestCase):
    class Records:
        """Makes a module that writes down the first number of each batch."""

        def __new__(cls, seen, of_ours=None):
            import lightning
            import torch

            class Module(lightning.LightningModule):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(1, 1)

                def training_step(self, batch, number):
                    values = batch["index"] if isinstance(batch, dict) else batch[:, 0]
                    seen.append(int(values.flatten()[0]))
                    if of_ours is not None:
                        of_ours.append(comes_from_our_queues(batch))
                    return self.layer(values.float().reshape(-1, 1)).mean()

                def configure_optimizers(self):
                    return torch.optim.SGD(self.parameters(), lr=1e-9)

            return Module()

    def trainer(self, steps, **options):
        import lightning

        return lightning.Trainer(max_steps=steps, max_epochs=-1, accelerator="cpu", logger=False, enable_progress_bar=False,
                                 enable_model_summary=False, default_root_dir=self.folder, **options)

    def test_batches_come_from_our_queues_in_fit(self):
        seen, ours = [], []
        loader = sk.DataLoader(Numbers(), 10, num_workers=1, persistent_workers=True)
        self.trainer(20, enable_checkpointing=False).fit(self.Records(seen, ours), loader)
        self.assertEqual(seen, list(range(0, 200, 10)))
        self.assertTrue(all(ours))

    def test_a_resumed_epoch_continues_with_the_batch_that_follows(self):
        from lightning.pytorch.callbacks import ModelCheckpoint

        def loader():
            return sk.Loader(sk.range(1000) | sk.shuffle() | sk.batch(10), seed=1, to="torch")

        whole, first, rest = [], [], []
        self.trainer(250, enable_checkpointing=False).fit(self.Records(whole), loader())
        saves = ModelCheckpoint(self.folder, filename="last", every_n_train_steps=130, enable_version_counter=False)
        self.trainer(140, callbacks=[saves]).fit(self.Records(first), loader())
        self.trainer(250, enable_checkpointing=False).fit(self.Records(rest), loader(), ckpt_path=self.folder / "last.ckpt")
        self.assertEqual(first, whole[:140])
        self.assertEqual(rest, whole[130:])


@needs("transformers")
class Transformers(TestCase):
    def test_batches_come_from_our_queues_in_its_trainer(self):
        import torch
        import transformers

        ours = []

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(5000, 1)

            def forward(self, x):
                ours.append(comes_from_our_queues(x))
                return {"loss": self.layer(x).mean()}

        class Samples(Numbers):
            def __getitem__(self, number):
                return {"x": super().__getitem__(number)}

        class Trainer(transformers.Trainer):
            def get_train_dataloader(self):
                return self.accelerator.prepare(sk.DataLoader(self.train_dataset, self.args.train_batch_size, num_workers=1))

        with tempfile.TemporaryDirectory() as folder:
            options = transformers.TrainingArguments(output_dir=folder, max_steps=5, per_device_train_batch_size=10, report_to=[],
                                                     save_strategy="no", disable_tqdm=True, use_cpu=True)
            Trainer(Model(), options, train_dataset=Samples()).train()
        self.assertEqual(ours, [True] * 5)


@needs("ray")
class Ray(TestCase):
    def test_deals_an_epoch_out_without_loss_and_refuses_what_cannot_be_sent(self):
        out = self.run_python("""
            import ray
            import stoker as sk
            ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
            ray.data.DataContext.get_current().enable_progress_bars = False
            samples = sk.ray.read(sk.range(1003) | sk.shuffle() | sk.batch(10), tasks=3)
            print(sorted(row["index"] for row in samples.iter_rows()) == list(range(1003)))
            try:
                sk.ray.read(sk.range(5) | sk.map(lambda element: element) | sk.batch(2))
            except sk.ConfigError as error:
                print("cannot be pickled" in str(error))
        """, env=dict(os.environ, RAY_AUTH_MODE="disabled"))
        self.assertEqual(out.split(), ["True", "True"])

    def test_gives_the_epoch_that_is_asked_for_again_and_again(self):
        out = self.run_python("""
            import ray
            import stoker as sk
            ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
            ray.data.DataContext.get_current().enable_progress_bars = False
            pipeline = sk.range(400) | sk.shuffle() | sk.take(100) | sk.batch(10)  # other numbers in each epoch
            def of_loader(epoch):
                loader = sk.Loader(pipeline, seed=5, to="numpy")
                loader.set_epoch(epoch)
                return sorted(number for batch in loader for number in batch["index"].tolist())
            of_ray = [sk.ray.read(pipeline, seed=5, epoch=epoch, tasks=2) for epoch in range(3)]
            def numbers(samples):
                return sorted(int(row["index"]) for row in samples.iter_rows())
            print([numbers(samples) for samples in of_ray] == [of_loader(epoch) for epoch in range(3)])
            print(of_loader(0) != of_loader(1), numbers(of_ray[1]) == numbers(of_ray[1]))
            for epoch in (-1, 1.5):
                try:
                    sk.ray.read(pipeline, epoch=epoch)
                except (sk.ConfigError, TypeError) as error:
                    print("epoch is" in str(error))
        """, env=dict(os.environ, RAY_AUTH_MODE="disabled"))
        self.assertEqual(out.split(), ["True"] * 5)


@needs("nbclient")
class Jupyter(TestCase):
    def test_a_notebook_shows_batches_and_profiles(self):
        import nbclient
        import nbformat

        cells = ["import stoker as sk", f"sk.show(next(iter(sk.Loader(sk.idx(images='{self.pictures()[0]}') | sk.batch(6), to='numpy'))))",
                 "loader = sk.Loader(sk.range(100) | sk.batch(10), to='numpy')\nfor batch in loader: pass\nloader.profile()",
                 "loader.explain()"]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nbclient.NotebookClient(book, timeout=HANGS, kernel_name="python3").execute()
        kinds = [set(output.get("data", {})) for cell in book.cells for output in cell.outputs]
        self.assertIn("image/png", kinds[0])
        self.assertIn("text/html", kinds[1])
        self.assertIn("text/html", kinds[2])


if __name__ == "__main__":
    unittest.main()
