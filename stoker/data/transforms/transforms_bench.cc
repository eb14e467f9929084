// Rows per second of the augmentation of small images, many at a time and one by one.
#include <benchmark/benchmark.h>

#include <cstring>

#include "stoker/data/core/transform.h"
#include "stoker/data/nodes/from_generator.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_flip.h"

namespace stoker {
namespace {

constexpr int64_t kRows = 128;  // 28x28 bytes each

Dataset NoImages() {
  return FromGenerator({{{"image", DType::kUInt8, {1, 28, 28}}}}, [](uint64_t) {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  });
}

Rows Images() {
  Array images = Array::Allocate(DType::kUInt8, {kRows, 1, 28, 28});
  const auto pixels = images.values<uint8_t>();
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<uint8_t>(uint32_t(i) * 2654435761u >> 24);
  Rows rows{.keys = {}, .columns = {std::move(images)}};
  for (int64_t i = 0; i < kRows; ++i) rows.keys.push_back({.epoch = 0, .index = i});
  return rows;
}

// A chain of transforms, source first.
struct Chain {
  std::vector<const Transform*> transforms;
  std::vector<RngFactory> rngs;

  explicit Chain(const Dataset& dataset) {
    for (const DatasetNode* node = &dataset.node(); node->element_wise() != nullptr;
         node = &node->input().node()) {
      transforms.insert(transforms.begin(), node->element_wise());
      rngs.push_back({.seed = 1, .stage = transforms.size()});
    }
  }

  Status ApplyRows(Rows& rows, Scratch& scratch) const {
    for (size_t t = 0; t < transforms.size(); ++t)
      STOKER_RETURN_IF_ERROR(transforms[t]->ApplyRows(rows, rngs[t], scratch));
    return OkStatus();
  }

  Status ApplyOneByOne(Rows& rows, Scratch& scratch) const {
    std::vector<Element> elements;
    for (int64_t i = 0; i < rows.size(); ++i) {
      elements.push_back(rows.RowElement(i));
      for (size_t t = 0; t < transforms.size(); ++t) {
        Rng rng = rngs[t].For(elements.back().key);
        STOKER_RETURN_IF_ERROR(transforms[t]->Apply(elements.back(), rng, scratch));
      }
    }
    STOKER_ASSIGN_OR_RETURN(rows, StackElements({}, elements, scratch));
    return OkStatus();
  }
};

using Way = Status (Chain::*)(Rows&, Scratch&) const;

void Run(benchmark::State& state, const Result<Dataset>& dataset, Way way) {
  const Chain chain(*dataset);
  BufferPool pool(nullptr, 64 << 20);
  Scratch scratch(pool);
  const Rows input = Images();
  Rows rows;
  for (auto _ : state) {
    rows = input;
    if (!(chain.*way)(rows, scratch).ok()) state.SkipWithError("failed");
    benchmark::DoNotOptimize(rows.columns[0].data());
    benchmark::ClobberMemory();
  }
  Rows want = input;
  if (!chain.ApplyOneByOne(want, scratch).ok() || !SameBytes(rows.columns[0], want.columns[0]))
    state.SkipWithError("wrong answer");
  state.SetItemsProcessed(state.iterations() * kRows);
}

Result<Dataset> Normalized() {
  return Result<Dataset>(NoImages()) | Normalize{.mean = {0.286}, .std = {0.353}};
}
Result<Dataset> Augmented() {
  return Result<Dataset>(NoImages()) | RandomCrop{} | RandomFlip{} |
         Normalize{.mean = {0.286}, .std = {0.353}};
}

BENCHMARK_CAPTURE(Run, normalize_rows, Normalized(), &Chain::ApplyRows);
BENCHMARK_CAPTURE(Run, normalize_one_by_one, Normalized(), &Chain::ApplyOneByOne);
BENCHMARK_CAPTURE(Run, crop_flip_normalize_rows, Augmented(), &Chain::ApplyRows);
BENCHMARK_CAPTURE(Run, crop_flip_normalize_one_by_one, Augmented(), &Chain::ApplyOneByOne);

}  // namespace
}  // namespace stoker
