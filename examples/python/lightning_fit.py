"""Lightning: a Loader is what `fit` takes, and its position is in Lightning's checkpoints, so a resumed epoch goes on where it stood.

Run: lightning_fit.py --steps 300 --folder run; then lightning_fit.py --steps 600 --folder run --resume
"""

import argparse
import pathlib

import lightning
import torch

import fashion
import stoker as sk


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = fashion.model()

    def training_step(self, batch, number):
        return torch.nn.functional.cross_entropy(self.model(batch["image"]), batch["label"])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--folder", type=pathlib.Path, default="run")
    parser.add_argument("--resume", action="store_true", help="continue from the checkpoint in the folder")
    given = parser.parse_args()
    saves = lightning.pytorch.callbacks.ModelCheckpoint(given.folder, filename="last", every_n_train_steps=100, enable_version_counter=False)
    trainer = lightning.Trainer(max_steps=given.steps, max_epochs=-1, callbacks=[saves], logger=False, accelerator="auto",
                                default_root_dir=given.folder, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Classifier(), sk.Loader(fashion.batches(), seed=1), ckpt_path=given.folder / "last.ckpt" if given.resume else None)
    print(f"{trainer.global_step} steps, epoch {trainer.current_epoch}")


if __name__ == "__main__":
    main()
