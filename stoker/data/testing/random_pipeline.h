// Pipelines of random operators, for tests that hold every pipeline to a promise. Included by tests
// only.
//
// To add an operator, add a line to RandomSteps, to WithTableSteps or to RandomSources: from then
// on it is in the pipelines of all those tests, before and after every other operator.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "stoker/data/nodes/flat_map.h"
#include "stoker/data/ops/balance.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/choose.h"
#include "stoker/data/ops/concatenate.h"
#include "stoker/data/ops/enumerate.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/interleave.h"
#include "stoker/data/ops/mix.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/sample.h"
#include "stoker/data/ops/shard.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/ops/window.h"
#include "stoker/data/ops/zip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/folder.h"
#include "stoker/data/sources/list.h"
#include "stoker/data/sources/range.h"
#include "stoker/data/testing/random_draws.h"
#include "stoker/data/testing/random_files.h"
#include "stoker/data/testing/random_pictures.h"
#include "stoker/data/testing/random_table_steps.h"
#include "stoker/data/testing/test_stages.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/color_jitter.h"
#include "stoker/data/transforms/cutmix.h"
#include "stoker/data/transforms/input_mask.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/data/transforms/mixup.h"
#include "stoker/data/transforms/one_hot.h"
#include "stoker/data/transforms/rand_augment.h"
#include "stoker/data/transforms/random_affine.h"
#include "stoker/data/transforms/random_erasing.h"
#include "stoker/data/transforms/random_resized_crop.h"

namespace stoker {

// An image made from each number of a range, which becomes its label.
inline Map ImageOfNumber() {
  return {.function =
              [](Element& element, Rng&, Scratch& scratch) {
                Array image = scratch.NewArray(DType::kUInt8, {1, 4, 4});
                const int64_t number = element.arrays[0].values<int64_t>()[0];
                for (size_t p = 0; p < 16; ++p)
                  image.values<uint8_t>()[p] =
                      static_cast<uint8_t>(number * 5 + static_cast<int64_t>(p));
                element.arrays.insert(element.arrays.begin(), std::move(image));
                return OkStatus();
              },
          .output = {{{"image", DType::kUInt8, {1, 4, 4}}, {"label", DType::kInt64, {}}}},
          .random = false};
}

// Adds a class number of 0..4 as a field of that name.
inline Map AddClass(const Spec& spec, const std::string& name) {
  Spec output = spec;
  output.fields.push_back({name, DType::kInt64, {}});
  return {.function =
              [](Element& element, Rng&, Scratch& scratch) {
                Array number = scratch.NewArray(DType::kInt64, {});
                number.values<int64_t>()[0] = element.key.index % 5;
                element.arrays.push_back(std::move(number));
                return OkStatus();
              },
          .output = std::move(output),
          .random = false};
}

// One source, of at most 60 elements {image: uint8[1, 4, 4], label: int64[]}, or with masks of
// int64[1, 4, 4] in the place of labels.
struct RandomSource {
  std::string_view name;
  int weight;  // how often, against the other sources
  std::function<Result<Dataset>(Draws& draws)> make;
};

inline const std::vector<RandomSource>& RandomSources() {
  static const std::vector<RandomSource> sources = {
      {"by position", 2, [](Draws& draws) { return NumberedImages(draws.Below(60)); }},
      {"in order", 1, [](Draws& draws) { return StreamedImages(draws.Below(60)); }},
      {"range", 1,
       [](Draws& draws) {
         const int64_t start = draws.Below(9), step = 1 + draws.Below(3);
         return Source(Range{.stop = start + draws.Below(60) * step,
                             .start = start,
                             .step = step,
                             .field = "label"}) |
                ImageOfNumber();
       }},
      {"files of records", 8,
       [](Draws& draws) {
         const auto which = static_cast<size_t>(draws.Below(std::ssize(FileSources())));
         return FileSources()[which](draws);
       }},
      {"folder", 1,
       [](Draws& draws) {
         return SmallGreyPictures(Source(Folder{.path = RandomPictures::Get().folder()}), draws);
       }},
      {"list", 1,
       [](Draws& draws) {
         return SmallGreyPictures(Source(List{.path = RandomPictures::Get().list()}), draws);
       }},
      {"pairs", 1,
       [](Draws& draws) {
         return SmallGreyPictures(
                    Source(List{.path = RandomPictures::Get().pairs(), .pairs = true}), draws,
                    {"mask"}) |
                Cast{.field = "mask", .dtype = "int64"};
       }},
  };
  return sources;
}

// Over 60 lines: a table of independent rows.
inline const std::vector<RandomStep>& RandomSteps() {
  using In = Result<Dataset>;
  static const std::vector<RandomStep> steps = WithTableSteps({
      {"shuffle",
       [](In input, Draws& draws) {
         Shuffle shuffle{.reshuffle = draws.Coin()};
         if (draws.Coin()) shuffle.seed = draws.Below(1000);
         if (!input->node().random_access()) {
           shuffle.buffer = 1 + draws.Below(12);
         } else if (draws.Coin()) {
           shuffle.window = 8;
           shuffle.page = 3;
         }
         return std::move(input) | shuffle;
       }},
      {"shard",
       [](In input, Draws& draws) {
         const int64_t count = 1 + draws.Below(3);
         return std::move(input) | Shard{.count = count, .index = draws.Below(count)};
       }},
      {"sample",
       [](In input, Draws& draws) {
         const Cardinality n = input->cardinality();
         if (!input->node().random_access() || !n.known() || n.value() == 0) return input;
         Sample sample{.count = draws.Below(n.value() + 1), .replacement = draws.Coin()};
         if (draws.Coin()) sample.seed = draws.Below(1000);
         if (input->node().fixed_order() && draws.Coin()) {
           for (int64_t i = 0; i < n.value(); ++i)
             sample.weights.push_back(1 + static_cast<double>(i % 3));
         }
         return std::move(input) | sample;
       }},
      {"balance",
       [](In input, Draws& draws) {
         const Field& label = input->spec().fields[1];
         if (!input->node().random_access() || !input->node().fixed_order() ||
             !input->cardinality().known() || !label.shape.empty())
           return input;
         Balance balance{.field = label.name};
         if (draws.Coin()) balance.seed = draws.Below(1000);
         if (draws.Coin() && input->cardinality() != Cardinality::Of(0))
           balance.count = draws.Below(60);
         return std::move(input) | balance;
       }},
      {"take",
       [](In input, Draws& draws) {
         if (input->cardinality().known() && draws.Below(4) == 0)
           return std::move(input) | Take{.count = 0.8};
         return std::move(input) | Take{.count = draws.Below(50)};
       }},
      {"skip",
       [](In input, Draws& draws) {
         if (input->cardinality().known() && draws.Below(4) == 0)
           return std::move(input) | Skip{.count = 0.2};
         return std::move(input) | Skip{.count = draws.Below(8)};
       }},
      {"repeat",
       [](In input, Draws& draws) {
         return std::move(input) | Repeat{.count = 1 + draws.Below(3)};
       }},
      {"map", [](In input, Draws&) { return std::move(input) | AddNoise(); }},
      {"ignore_errors",
       [](In input, Draws& draws) {
         // Of fewer elements all might fail, so that there is none to replace them with.
         const bool may_replace = input->node().random_access() && input->cardinality().known() &&
                                  input->cardinality().value() > 20;
         const char* policy = draws.Coin() && may_replace ? "replace" : "skip";
         return std::move(input) | FailSome() | IgnoreErrors{.policy = policy, .share = 1};
       }},
      {"cache",
       [](In input, Draws&) {
         In cached = In(*input) | Cache{};
         return cached.ok() ? cached : input;  // it must not follow a stage that draws at random
       }},
      {"prefetch", [](In input, Draws&) { return std::move(input) | Prefetch{}; }},
      {"filter",
       [](In input, Draws& draws) {
         const int64_t rest = draws.Below(3);
         return std::move(input) | Filter{.predicate = [rest](const Element& element) {
                  const auto labels = element.arrays[1].values<int64_t>();
                  return labels.empty() || labels[0] % 3 != rest;
                }};
       }},
      {"flat_map",
       [](In input, Draws&) {
         return std::move(input) |
                FlatMap{.function = [](const Element& element, Rng& rng, Scratch&) {
                  return std::vector<Element>(rng.Below(3), element);
                }};
       }},
      {"enumerate",
       [](In input, Draws&) {
         const std::string name = fmt::format("number{}", input->spec().fields.size());
         return std::move(input) | Enumerate{.field = name};
       }},
      {"input_mask",
       [](In input, Draws&) {
         const std::string field = input->spec().fields[0].name;
         if (input->spec().IndexOf("", field + "_mask").ok()) return input;
         return std::move(input) | InputMask{.field = field, .probability = 0.5, .value = 7};
       }},
      {"changes of images",
       [](In input, Draws& draws) {
         const Field field = input->spec().fields[0];
         if (field.shape.size() != 3 || field.shape[0] != 1) return input;
         switch (draws.Below(5)) {
           case 0:
             return std::move(input) |
                    RandomResizedCrop{.size = 4, .scale = {0.3, 1}, .field = field.name};
           case 1:
             return std::move(input) |
                    ColorJitter{.brightness = 0.5, .contrast = 0.5, .field = field.name};
           case 2: return std::move(input) | RandomAffine{.degrees = {90}, .field = field.name};
           case 3: return std::move(input) | RandomErasing{.value = {3}, .field = field.name};
           default: return std::move(input) | RandAugment{.field = field.name};
         }
       }},
      {"layout",
       [](In input, Draws&) {
         const Field field = input->spec().fields[0];
         if (field.shape.size() != 3) return input;
         return std::move(input) | Layout{.field = field.name};
       }},
      {"window",
       [](In input, Draws& draws) {
         if (!input->spec().ElementBytes()) return input;  // shapes that differ do not stack
         return std::move(input) | Window{.size = 1 + draws.Below(3),
                                          .shift = 1 + draws.Below(3),
                                          .stride = 1 + draws.Below(2),
                                          .drop_remainder = draws.Coin()};
       }},
      {"unbatch",
       [](In input, Draws& draws) {
         for (const Field& field : input->spec().fields) {
           if (!field.shape.empty()) continue;
           // A number cannot be taken apart; a batch of them can.
           if (!input->spec().ElementBytes()) return input;
           return input | Batch{.size = 1 + draws.Below(3)} | Unbatch{};
         }
         Result<Dataset> split = input | Unbatch{};
         return split.ok() ? split : input;  // fields of different numbers of parts
       }},
      {"padded_batch",
       [](In input, Draws& draws) {
         return std::move(input) |
                PaddedBatch{.size = 1 + draws.Below(4), .drop_remainder = draws.Coin()};
       }},
      {"bucket_by_length",
       [](In input, Draws& draws) {
         return std::move(input) |
                BucketByLength{.boundaries = {0, 2},
                               .sizes = {1 + draws.Below(4)},
                               .drop_remainder = draws.Coin(),
                               .length = [](const Element& e) { return e.key.index % 4; }};
       }},
      {"batch",
       [](In input, Draws& draws) {
         Batch batch{.size = 1 + draws.Below(9), .drop_remainder = draws.Coin()};
         batch.ragged = !input->spec().ElementBytes();
         In batches = In(*input) | batch;
         return batches.ok() ? batches : input;  // only the first extent may differ
       }},
      {"mix_batch",
       [](In input, Draws& draws) {
         const Field& image = input->spec().fields[0];
         if (!input->spec().ElementBytes() || image.shape.empty()) return input;
         const std::string label = fmt::format("class{}", input->spec().fields.size());
         const Map classes = AddClass(input->spec(), label);
         In batches = std::move(input) | classes | OneHot{.classes = 5, .field = label} |
                      Batch{.size = 1 + draws.Below(5), .drop_remainder = draws.Coin()};
         const bool per_sample = draws.Coin();
         const double probability = draws.Coin() ? 1 : 0.5;
         if (image.shape.size() == 3 && draws.Coin()) {
           return std::move(batches) | Cutmix{.per_sample = per_sample,
                                              .probability = probability,
                                              .field = image.name,
                                              .label = label};
         }
         return std::move(batches) | Mixup{.per_sample = per_sample,
                                           .probability = probability,
                                           .field = image.name,
                                           .label = label};
       }},
      {"zip",
       [](In input, Draws& draws) {
         const int64_t n = draws.Below(60);
         In second = draws.Coin() ? NumberedImages(n) : StreamedImages(n);
         if (second->node().random_access() && n > 0 && draws.Coin()) {
           // What it learns of its input holds although it is not the first in the pass.
           second = std::move(second) | Shuffle{.seed = 3, .reshuffle = false} | Balance{};
         } else if (draws.Coin()) {
           second = std::move(second) | Shuffle{.seed = 3, .buffer = 4};
         }
         if (draws.Below(4) == 0) second = In(*input) | DoNothing();  // two passes over one source
         const std::string prefix = fmt::format("{}_", input->spec().fields.size());
         return Source(Zip{.inputs = {input, second}, .prefix = {"", prefix}});
       }},
      {"concatenate",
       [](In input, Draws&) {
         return Source(Concatenate{.inputs = {input, input}});
       }},
      {"mix",
       [](In input, Draws& draws) {
         return Source(Mix{.inputs = {input, input | Skip{.count = draws.Below(5)}},
                           .weights = {1.0, 1.0 + static_cast<double>(draws.Below(3))},
                           .stop = draws.Coin() ? "all_exhausted" : "first_exhausted"});
       }},
      {"interleave",
       [](In input, Draws& draws) {
         return Source(Interleave{.inputs = {input, input | Skip{.count = draws.Below(5)}, input},
                                  .cycle_length = 1 + draws.Below(3),
                                  .block_length = 1 + draws.Below(3),
                                  .parallel = draws.Coin()});
       }},
      {"choose",
       [](In input, Draws& draws) {
         return Source(Choose{.inputs = {input | Take{.count = draws.Below(30)}, input},
                              .pattern = {1, draws.Below(2), 0},
                              .stop = draws.Coin() ? "all_exhausted" : "first_exhausted"});
       }},
  });
  return steps;
}

// Returns a random source and up to six random operators, the same for the same seed.
inline Result<Dataset> RandomPipeline(uint32_t seed) {
  Draws draws(seed);
  int64_t weights = 0;
  for (const RandomSource& source : RandomSources()) weights += source.weight;
  int64_t left = draws.Below(weights);
  Result<Dataset> dataset = InvalidArgument("there are no sources");
  for (const RandomSource& source : RandomSources()) {
    if (left >= 0 && left < source.weight) dataset = source.make(draws);
    left -= source.weight;
  }
  for (int64_t stages = 1 + draws.Below(6); stages > 0 && dataset.ok(); --stages) {
    const auto step = static_cast<size_t>(draws.Below(std::ssize(RandomSteps())));
    dataset = RandomSteps()[step].add(*dataset, draws);
  }
  return dataset;
}

}  // namespace stoker
