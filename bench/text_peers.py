"""What bench/text compares with: text_peers.py wordpiece|sentencepiece|train FOLDER SECONDS, on 2 threads.

`train` makes the model that `sentencepiece` needs, FOLDER/sp.model, from FOLDER/text.txt.
"""
import json
import os
import pathlib
import sys
import time

THREADS = 2
AT_ONCE = 1000  # lines handed over in one call

os.environ["RAYON_NUM_THREADS"] = str(THREADS)
os.environ["TOKENIZERS_PARALLELISM"] = "true"


def wordpiece(folder):
    from tokenizers import BertWordPieceTokenizer
    model = BertWordPieceTokenizer(str(folder / "vocab.txt"))
    model.enable_padding()
    return model.encode_batch


def sentencepiece(folder):
    import sentencepiece as library
    model = library.SentencePieceProcessor(model_file=str(folder / "sp.model"))
    return lambda lines: model.encode(lines, num_threads=THREADS)


def train(folder):
    import sentencepiece as library
    library.SentencePieceTrainer.train(input=str(folder / "text.txt"), model_prefix=str(folder / "sp"), vocab_size=8000,
                                       input_sentence_size=30_000, minloglevel=2)


def lines_per_s(encode, lines, seconds):
    encode(lines[:AT_ONCE])
    done, begin = 0, time.perf_counter()
    while time.perf_counter() < begin + seconds:
        at = done % len(lines)
        done += len(encode(lines[at:at + AT_ONCE]))
    return done / (time.perf_counter() - begin)


def main():
    kind, folder, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
    if kind == "train":
        train(folder)
        print(json.dumps({"trained": True}))
        return
    encode = {"wordpiece": wordpiece, "sentencepiece": sentencepiece}[kind](folder)
    lines = (folder / "text.txt").read_text(encoding="utf-8").splitlines()
    print(json.dumps({"lines_per_s": lines_per_s(encode, lines, seconds)}))


main()
