"""The Hugging Face Trainer, whose loaders are made by a method that is overridden in three lines."""

import argparse
import tempfile

import torch
import transformers

import fashion
import stoker as sk


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = fashion.model()

    def forward(self, image, labels):
        scores = self.model(image)
        return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}


class Noise(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, number):
        return {"image": torch.full((1, 28, 28), number / 4096), "labels": number % 10}


class Trainer(transformers.Trainer):
    def get_train_dataloader(self):
        loader = sk.DataLoader(self.train_dataset, self.args.train_batch_size, shuffle=True, num_workers=2, persistent_workers=True)
        return self.accelerator.prepare(loader)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(output_dir=folder, max_steps=given.steps, per_device_train_batch_size=64, report_to=[],
                                                 save_strategy="no", disable_tqdm=True)
        done = Trainer(Classifier(), options, train_dataset=Noise()).train()
    print(f"{done.global_step} steps, loss {done.training_loss:.3f}")


if __name__ == "__main__":
    main()
