#!/usr/bin/env python3
"""Trains on an accelerator with PyTorch alone, as its documentation advises, and prints one JSON line: the peer of bench/device.

WORK is `convnet` (the model, optimizer and schedule of recipes/fashion-mnist.yaml on Fashion-MNIST, batches of 128) or `photos`
(ResNet-18 or ResNet-50 of torchvision in bfloat16 and channels last, SGD, batches of 256; JPEGs in class folders: random-resized
crop to 224 x 224, flip, ImageNet's mean and standard deviation). HOW is
  loader     a DataLoader with workers that stay, pinned memory and copies that do not wait
  on-device  no input work at all: convnet has all data on the device, photos repeats one batch; what a perfect feed would reach
usage: device_torch.py WORK HOW [--data FOLDER] [--model resnet18] [--epochs N] [--seconds S] [--workers N]
"""
import argparse
import gzip
import json
import os
import time

import numpy
import torch
from torch import nn
from torch.nn.functional import cross_entropy


def wait():
    torch.cuda.synchronize()


def fashion(folder, name, skip):
    with gzip.open(f"{folder}/{name}") as file:
        return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8, offset=skip).copy())


class Records(torch.utils.data.Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return normalized(self.images[index]), self.labels[index]


def normalized(pixels):
    return (pixels.float() / 255 - 0.286) / 0.353


def convnet():
    def block(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(True), nn.MaxPool2d(2)]
    return nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 32), nn.Flatten(), nn.Linear(288, 10))


def train_convnet(given):
    images = fashion(given.data, "train-images-idx3-ubyte.gz", 16).view(-1, 1, 28, 28)
    labels = fashion(given.data, "train-labels-idx1-ubyte.gz", 8).long()
    batch, epochs = 128, given.epochs
    if given.how == "on-device":
        images, labels = images.cuda(), labels.cuda()

        def batches():
            for rows in torch.randperm(len(images), device="cuda").split(batch):
                if len(rows) == batch:
                    yield normalized(images[rows]), labels[rows]
    else:
        loader = torch.utils.data.DataLoader(Records(images, labels), batch, shuffle=True, drop_last=True, pin_memory=True,
                                             num_workers=given.workers, persistent_workers=True)

        def batches():
            for image, label in loader:
                yield image.cuda(non_blocking=True), label.cuda(non_blocking=True)
    model = convnet().cuda().to(memory_format=torch.channels_last)
    steps = len(images) // batch
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=steps * (epochs + 1))
    seconds = 0
    for epoch in range(epochs + 1):  # the first one warms up
        wait()
        start = time.perf_counter()
        for image, label in batches():
            optimizer.zero_grad()
            cross_entropy(model(image.contiguous(memory_format=torch.channels_last)), label).backward()
            optimizer.step()
            schedule.step()
        wait()
        seconds += time.perf_counter() - start if epoch > 0 else 0
    return steps * batch * epochs / seconds


def photo_batches(given, batch):
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2
    if given.how == "on-device":
        image = torch.randn(batch, 3, 224, 224, device="cuda").contiguous(memory_format=torch.channels_last)
        label = torch.randint(36, (batch,), device="cuda")
        while True:
            yield image, label
    transform = v2.Compose([v2.ToImage(), v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(),
                            v2.ToDtype(torch.float32, scale=True), v2.Normalize([.485, .456, .406], [.229, .224, .225])])
    loader = torch.utils.data.DataLoader(ImageFolder(given.data, transform), batch, shuffle=True, drop_last=True, pin_memory=True,
                                         num_workers=given.workers, persistent_workers=True)
    while True:
        for image, label in loader:
            yield image.cuda(non_blocking=True).contiguous(memory_format=torch.channels_last), label.cuda(non_blocking=True)


def train_photos(given):
    import torchvision
    batch, warm_up = 256, 10
    model = getattr(torchvision.models, given.model)(num_classes=36).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, fused=True)
    done = 0
    for image, label in photo_batches(given, batch):
        if done == warm_up:
            wait()
            start = time.perf_counter()
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = cross_entropy(model(image), label)
        loss.backward()
        optimizer.step()
        done += 1
        if done % 10 == 0 and done > warm_up:  # reads the loss as loops do that print it now and then
            loss.item()
            if time.perf_counter() - start > given.seconds:
                break
    wait()
    return (done - warm_up) * batch / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["convnet", "photos"])
    parser.add_argument("how", choices=["loader", "on-device"])
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    if given.work == "convnet":
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    rate = train_convnet(given) if given.work == "convnet" else train_photos(given)
    print(json.dumps({"images_per_s": rate, "torch": torch.__version__, "device": torch.cuda.get_device_name()}))


main()
