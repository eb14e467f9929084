// Runs whose files hold a batch that cannot be trained or evaluated on: a label that no class has,
// or a NaN. Wherever it stands, the steps before it are stored, and the run goes on from there.
#include <cmath>
#include <optional>

#include "stoker/device/device_prefetcher.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::bad_batch_test {

// Of data.train, in an epoch. DevicePrefetcher takes a position every so many batches.
constexpr int64_t kBatch = 6, kBatches = DevicePrefetcher::kBatchesBetweenPositions;
constexpr int64_t kEvalBatch = 8, kEvalBatches = 3;

enum class Wrong { kLabel, kValue };

// Where the wrong sample is.
struct Place {
  std::string split;   // "train" or "eval"
  int64_t batch = 0;   // of an epoch
  int64_t epochs = 2;  // of the run
  Wrong wrong = Wrong::kLabel;

  std::string ToString() const {
    return fmt::format("a wrong {} in batch {} of data.{}, {} epochs",
                       wrong == Wrong::kLabel ? "label" : "value", batch, split, epochs);
  }
};

std::vector<Place> Places() {
  std::vector<Place> places;
  for (const Wrong wrong : {Wrong::kLabel, Wrong::kValue}) {
    for (const int64_t batch : {int64_t{0}, int64_t{1}, kBatches / 2, kBatches - 1}) {
      places.push_back({"train", batch, 2, wrong});
    }
    places.push_back({"train", kBatches - 1, 1, wrong});  // the last batch of the run
    places.push_back({"eval", 0, 2, wrong});
    places.push_back({"eval", kEvalBatches / 2, 2, wrong});
    places.push_back({"eval", kEvalBatches - 1, 1, wrong});
  }
  return places;
}

// Accumulated batches, and batches ahead of the step.
class BadBatchTest : public TrainerTest, public testing::WithParamInterface<std::tuple<int, int>> {
 protected:
  int64_t accumulate() const { return std::get<0>(GetParam()); }

  BadBatchTest() {
    WriteFileForTest(problem_ / "files.yaml", OnTestDevice(R"(
data:
  root: .
  classes: [northwest, northeast, southwest, southeast]
  train:
    - idx: {images: train-images, labels: train-labels}
    - batch: {size: 6}
  eval:
    - idx: {images: eval-images, labels: eval-labels}
    - batch: {size: 8}
model: {mlp: {classes: 4, hidden: [8], dropout: 0.25}}
train: {device: cpu, threads: 1, log_every: 2, tune: off, sanity: false, lint: false}
)"));
    WriteFiles({});
  }

  // The quadrants as floats, all as they should be or with one wrong sample.
  void WriteFiles(const std::optional<Place>& place) const {
    WriteSplit("train", kBatches * kBatch, kBatch, place);
    WriteSplit("eval", kEvalBatches * kEvalBatch, kEvalBatch, place);
  }
  void WriteSplit(const std::string& split, int64_t samples, int64_t batch,
                  const std::optional<Place>& place) const {
    const Array bytes = QuadrantImages(samples);
    Array images = Array::Allocate(DType::kFloat32, {samples, 1, 8, 8});
    for (size_t i = 0; i < bytes.values<uint8_t>().size(); ++i) {
      images.values<float>()[i] = static_cast<float>(bytes.values<uint8_t>()[i]) / 128 - 1;
    }
    Array labels = QuadrantLabels(samples);
    if (place && place->split == split) {
      const auto wrong = static_cast<size_t>(place->batch * batch + batch - 1);
      if (place->wrong == Wrong::kLabel) labels.values<uint8_t>()[wrong] = 77;
      if (place->wrong == Wrong::kValue) images.values<float>()[wrong * 64 + 9] = NAN;
    }
    STOKER_ASSERT_OK(WriteIdx(problem_ / (split + "-images"), images));
    STOKER_ASSERT_OK(WriteIdx(problem_ / (split + "-labels"), labels));
  }

  Result<Recipe> LoadFor(int64_t epochs, const std::string& on_nonfinite) const {
    return LoadRecipe(problem_ / "files.yaml",
                      {fmt::format("train.accumulate={}", accumulate()),
                       fmt::format("train.device_prefetch={}", std::get<1>(GetParam())),
                       fmt::format("train.epochs={}", epochs),
                       fmt::format("train.on_nonfinite={}", on_nonfinite)});
  }
  Status Begin(const std::string& run, int64_t epochs, const std::string& on_nonfinite) const {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadFor(epochs, on_nonfinite));
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(std::move(recipe), problem_ / run));
    return trainer->Run().status();
  }
  // Other files, and what is done about a NaN, are changes that have to be allowed.
  Status GoOn(const std::string& run, int64_t epochs, const std::string& on_nonfinite,
              Watcher& watcher) const {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadFor(epochs, on_nonfinite));
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Resume(std::move(recipe), problem_ / run,
                                                                {.allow_changes = true}));
    return trainer->Run(&watcher, nullptr).status();
  }

  int64_t StepsOf(int64_t epochs) const { return epochs * kBatches / accumulate(); }
  // The steps done before the place is met.
  int64_t StepsBefore(const Place& place) const {
    return place.split == "eval" ? StepsOf(1) : place.batch / accumulate();
  }
  Result<int64_t> NewestOf(const std::string& run) const {
    STOKER_ASSIGN_OR_RETURN(const CheckpointStore::Newest newest,
                            CheckpointStore(Paths(run).checkpoints(), 1).LoadNewest());
    return newest.step;
  }

  // Begins a run that ends at `place`, and expects that the steps before it are stored.
  void ExpectEndsAndStores(const std::string& run, const Place& place) const {
    WriteFiles(place);
    const int64_t before = StepsBefore(place);
    EXPECT_THAT(Begin(run, place.epochs, "stop"),
                place.wrong == Wrong::kLabel
                    ? FailsWith(CodeOfAWrongClass(), "has class number 77")
                    : FailsWith(StatusCode::kFailedPrecondition, "is nan"));
    if (before > 0) {
      STOKER_ASSERT_OK_AND_ASSIGN(const int64_t newest, NewestOf(run));
      EXPECT_EQ(newest, before);
    } else {
      EXPECT_THAT(NewestOf(run).status(), FailsWith(StatusCode::kNotFound, ""));
    }
  }
  void ExpectGoesOnAs(const std::string& whole, const std::string& run, const Place& place,
                      const std::string& on_nonfinite) const {
    Watcher watcher;
    STOKER_ASSERT_OK(GoOn(run, place.epochs, on_nonfinite, watcher));
    EXPECT_EQ(watcher.steps, StepsOf(place.epochs) - StepsBefore(place));
    EXPECT_EQ(WeightsOf(run), WeightsOf(whole));
    EXPECT_EQ(MetricsOf(run), MetricsOf(whole));
  }
};

TEST_P(BadBatchTest, WhereverItIsTheRunGoesOnFromItsLastWholeStepOnceTheFilesAreCorrected) {
  for (const int64_t epochs : {1, 2}) {
    STOKER_ASSERT_OK(Begin(fmt::format("whole{}", epochs), epochs, "stop"));
  }
  int runs = 0;
  for (const Place& place : Places()) {
    // Losses are read late on an accelerator.
    if (!TestsOnTheCpu() && place.wrong == Wrong::kValue && place.split == "train") continue;
    SCOPED_TRACE(place.ToString());
    const std::string run = fmt::format("run{}", ++runs);
    ExpectEndsAndStores(run, place);
    WriteFiles({});
    ExpectGoesOnAs(fmt::format("whole{}", place.epochs), run, place, "stop");
  }
}

TEST_P(BadBatchTest, WhereverANaNIsTheRunGoesOnAsOneThatSkippedItFromTheStart) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  int runs = 0;
  for (const Place& place : Places()) {
    if (place.wrong != Wrong::kValue || place.split != "train") continue;
    SCOPED_TRACE(place.ToString());
    const std::string run = fmt::format("run{}", ++runs), whole = "whole-" + run;
    ExpectEndsAndStores(run, place);
    STOKER_ASSERT_OK(Begin(whole, place.epochs, "skip"));
    ExpectGoesOnAs(whole, run, place, "skip");
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, BadBatchTest,
                         testing::Values(std::tuple(1, 3), std::tuple(2, 0), std::tuple(2, 3)));

}  // namespace stoker::bad_batch_test
