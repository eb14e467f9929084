// What the tests of ignore_errors share. Only tests include it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"

namespace stoker {

inline int64_t LabelOf(const Element& element) { return element.arrays[1].values<int64_t>()[0]; }

// Every tenth fails, the first time with label 3.
inline Map FailEveryTenth() {
  return {.function = [](Element& element, Rng&, Scratch&) {
    const int64_t label = LabelOf(element);
    if (label % 10 == 3)
      return DataLoss("images.bin: byte {}: element {} is bad", 16 * label, label);
    return OkStatus();
  }};
}

// What a pass gave, and the error that ended it.
struct Outcome {
  std::vector<Element> elements;
  Status error;
  Profile profile;

  std::string Text() const { return Fingerprint(elements) + error.ToString(); }
};

inline Outcome Finish(const Dataset& dataset, const Runtime& runtime, const Json* state = nullptr) {
  Outcome outcome;
  Result<std::unique_ptr<Iterator>> iterator = dataset.Open(runtime, {.seed = 5});
  if (!iterator.ok()) return {.error = iterator.status()};
  if (state != nullptr) {
    EXPECT_THAT((*iterator)->Restore(*state), IsOk());
  }
  while (true) {
    Result<std::optional<Element>> element = (*iterator)->Next();
    outcome.error = element.status();
    if (!element.ok() || !*element) break;
    outcome.elements.push_back(**std::move(element));
  }
  outcome.profile = (*iterator)->GetProfile();
  return outcome;
}

inline const StageProfile& Stage(const Profile& profile, std::string_view name) {
  for (const StageProfile& stage : profile.stages)
    if (stage.name == name) return stage;
  ADD_FAILURE() << "no stage " << name;
  return profile.stages.front();
}

// Labels 0..n-1 without those that fail.
inline std::vector<int64_t> GoodLabels(int64_t n) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i)
    if (i % 10 != 3) labels.push_back(i);
  return labels;
}

// Pipelines that lose some, by position and in order, in every place of the chain.
inline std::vector<Result<Dataset>> LosingPipelines(const IgnoreErrors& skip,
                                                    const IgnoreErrors& replace) {
  return {
      NumberedImages(95) | Shuffle{} | FailEveryTenth() | skip | Batch{.size = 4} | Prefetch{},
      StreamedImages(95) | FailEveryTenth() | skip | Batch{.size = 4} | Prefetch{},
      StreamedImages(95) | FailEveryTenth() | Prefetch{} | skip | Repeat{.count = 2},
      NumberedImages(95) | FailEveryTenth() | replace | Shuffle{} | Batch{.size = 4} | Prefetch{},
      NumberedImages(95) | FailEveryTenth() | replace | Repeat{.count = 3} | Batch{.size = 7},
      NumberedImages(95) | FailEveryTenth() | replace,
  };
}

}  // namespace stoker
