// Reads Fashion-MNIST in a new order, normalised and in batches, and measures how fast that goes.
#include <fmt/core.h>

#include "stoker/data/data.h"

using namespace stoker;

Status Run(const std::filesystem::path& root) {
  STOKER_ASSIGN_OR_RETURN(const Dataset train,
                          Source(Idx{.images = root / "train-images-idx3-ubyte.gz",
                                     .labels = root / "train-labels-idx1-ubyte.gz"}) |
                              Shuffle{} | Normalize{.mean = {0.286}, .std = {0.353}} |
                              Batch{.size = 128} | Prefetch{});
  fmt::print("{}", train.ToString());

  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> batches,
                          train.Open(Runtime::Threaded(), {.seed = 1, .epoch = 0}));
  int64_t images = 0;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> batch, batches->Next());
    if (!batch) break;
    images += batch->arrays[0].shape()[0];  // float32 [128, 1, 28, 28]; the last one has 96
  }
  fmt::print("{} images\n{}", images, batches->GetProfile().ToText());
  return OkStatus();
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist");
  if (!status.ok()) fmt::print(stderr, "error: {}\n", status.message());
  return status.ok() ? 0 : 1;
}
