// Runs whose data do not come: a server that falls silent, a file that is gone.
#include <chrono>
#include <functional>
#include <thread>

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/options/registry.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_data_test {

constexpr int64_t kSamples = 96, kBatch = 16;

// From sample number `from` on (of all epochs) `happens` says whether one is there; errors too.
struct Trouble {
  int64_t from = std::numeric_limits<int64_t>::max();
  std::function<Result<bool>()> happens;
};

// Of all epochs.
int64_t NumberOf(const Element& element) {
  return static_cast<int64_t>(element.key.epoch) * kSamples + element.key.index;
}

// Batches of the quadrants without an end.
//   bad_batch  the number of one that has a label which no class has; -1: none has
Dataset Quadrants(const Trouble& trouble, int64_t bad_batch = -1) {
  const Array bytes = QuadrantImages(kSamples);
  Array images = Array::Allocate(DType::kFloat32, {kSamples, 1, 8, 8});
  for (size_t i = 0; i < bytes.values<uint8_t>().size(); ++i) {
    images.values<float>()[i] = static_cast<float>(bytes.values<uint8_t>()[i]) / 128 - 1;
  }
  return *(FromArrays({{"image", images}, {"label", QuadrantLabels(kSamples)}}) | Repeat{} |
           Map{.function = [bad_batch](Element& element, Rng&, Scratch&) -> Status {
             if (NumberOf(element) == bad_batch * kBatch) {
               element.arrays[1] = Array::Allocate(DType::kUInt8, {});
               element.arrays[1].values<uint8_t>()[0] = 77;
             }
             return OkStatus();
           }} |
           Filter{.predicate = [trouble](const Element& element) -> Result<bool> {
             if (NumberOf(element) < trouble.from) return true;
             return trouble.happens();
           }} |
           Batch{.size = kBatch, .drop_remainder = true});
}

// Batches ahead of the step, and a model with something that forward passes change: random draws or
// the buffers of batch norm.
using Setting = std::tuple<int, const char*>;

// Says to other threads how many steps are done.
class StepCounter final : public Watcher {
 public:
  void OnStep(const StepEvent& event) override {
    Watcher::OnStep(event);
    done = event.step;
  }
  std::atomic<int64_t> done{0};
};

class DataTroubleTest : public TrainerTest, public testing::WithParamInterface<Setting> {
 protected:
  Result<Recipe> Load(const Trouble& trouble, int64_t bad_batch = -1) const {
    STOKER_ASSIGN_OR_RETURN(
        Recipe recipe,
        problem_.Load({fmt::format("model={}", std::get<1>(GetParam())), "train.max_steps=9",
                       "train.eval_every_steps=4", "train.tune=off", "train.sanity=false",
                       "train.lint=false", "train.accumulate=2",
                       fmt::format("train.device_prefetch={}", std::get<0>(GetParam()))}));
    recipe.data.train = Quadrants(trouble, bad_batch);
    return recipe;
  }
  Result<TrainSummary> Begin(const std::string& run, const Trouble& trouble,
                             Watcher* watcher = nullptr) const {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, Load(trouble));
    return Begin(run, std::move(recipe), watcher);
  }
  Result<TrainSummary> Begin(const std::string& run, Recipe recipe, Watcher* watcher) const {
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(std::move(recipe), problem_ / run));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }
  Result<TrainSummary> GoOn(const std::string& run) const {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, Load({}));
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Resume(std::move(recipe), problem_ / run));
    return trainer->Run();
  }
  void ExpectGoesOnToTheBytesOf(const std::string& whole, const std::string& run) const {
    STOKER_ASSERT_OK(GoOn(run));
    EXPECT_EQ(WeightsOf(run), WeightsOf(whole));
    EXPECT_EQ(MetricsOf(run), MetricsOf(whole));
  }
};

TEST_P(DataTroubleTest, StoppedWhileABatchDoesNotComeItStoresItsLastWholeStep) {
  STOKER_ASSERT_OK(Begin("whole", {}));
  for (const int64_t batches : {0, 1, 6, 9, 17}) {
    SCOPED_TRACE(batches);
    const std::string run = fmt::format("stopped{}", batches);
    StepCounter watcher;
    // Some time after the last step that has its batches somebody loses patience.
    std::atomic<int64_t> asked{0};
    const Trouble silence{.from = batches * kBatch, .happens = [&]() -> Result<bool> {
                            if (watcher.done < batches / 2) return false;
                            std::this_thread::sleep_for(std::chrono::milliseconds(2));
                            if (++asked == 50) watcher.stop = true;
                            return false;
                          }};
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary stopped, Begin(run, silence, &watcher));
    EXPECT_TRUE(stopped.interrupted);
    EXPECT_EQ(stopped.step, batches / 2);
    EXPECT_EQ(watcher.checkpoints.back(), batches / 2);
    ExpectGoesOnToTheBytesOf("whole", run);
  }
}

TEST_P(DataTroubleTest, WhereABatchCannotBeMadeTheLastWholeStepIsStoredBeforeTheErrorIsTold) {
  STOKER_ASSERT_OK(Begin("whole", {}));
  for (const int64_t batches : {6, 9, 17}) {
    SCOPED_TRACE(batches);
    const std::string run = fmt::format("failed{}", batches);
    const Trouble gone{.from = batches * kBatch,
                       .happens = []() -> Result<bool> { return NotFound("the file is gone"); }};
    EXPECT_THAT(Begin(run, gone),
                FailsWith(StatusCode::kNotFound,
                          fmt::format("the file is gone. The {} steps done are stored in {}; "
                                      "--resume goes on from there",
                                      batches / 2, CheckpointOf(run, batches / 2))));
    ExpectGoesOnToTheBytesOf("whole", run);
  }
}

// The model has seen it by the time it is found: also what batch norm and dropout keep is undone.
TEST_P(DataTroubleTest, ALabelThatNoClassHasLosesNoStep) {
  STOKER_ASSERT_OK(Begin("whole", {}));
  for (const int64_t batches : {6, 9, 17}) {
    SCOPED_TRACE(batches);
    STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, Load({}, batches));
    const std::string run = fmt::format("failed{}", batches);
    const Status status = Begin(run, std::move(recipe), nullptr).status();
    EXPECT_THAT(status, FailsWith(CodeOfAWrongClass(), "has class number 77"));
    EXPECT_THAT(status.message(),
                testing::HasSubstr(fmt::format("The {} steps done are stored in", batches / 2)));
    ExpectGoesOnToTheBytesOf("whole", run);
  }
}

TEST_P(DataTroubleTest, BeforeTheFirstStepThereIsNothingToStore) {
  const Trouble gone{.from = 0, .happens = []() -> Result<bool> { return NotFound("gone"); }};
  const Status status = Begin("run", gone).status();
  EXPECT_THAT(status, FailsWith(StatusCode::kNotFound, "gone"));
  EXPECT_THAT(status.message(), testing::Not(testing::HasSubstr("stored")));
}

// The end of data.eval cannot be read, but the steps before are whole.
TEST_P(DataTroubleTest, WhereAnEvaluationHasNoDataTheStepsDoneAreStored) {
  STOKER_ASSERT_OK(Begin("whole", {}));
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, Load({}));
  recipe.data.eval = *(Result<Dataset>(*recipe.data.eval) |
                       Map{.function = [](Element& element, Rng&, Scratch&) -> Status {
                         return element.key.index < 2 ? OkStatus() : NotFound("the end is gone");
                       }});
  EXPECT_THAT(Begin("run", std::move(recipe), nullptr),
              FailsWith(StatusCode::kNotFound, "The 4 steps done are stored in"));
  ExpectGoesOnToTheBytesOf("whole", "run");
}

std::string NameOfSetting(const testing::TestParamInfo<Setting>& of) {
  const auto& [ahead, model] = of.param;
  return fmt::format("{}With{}BatchesAhead",
                     std::string_view(model).starts_with("{mlp") ? "Mlp" : "Convnet", ahead);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, DataTroubleTest,
    testing::Combine(testing::Values(0, 3),
                     testing::Values("{mlp: {classes: 4, hidden: [16], dropout: 0.25}}",
                                     "{convnet: {classes: 4, channels: [8, 8]}}")),
    NameOfSetting);

}  // namespace stoker::trainer_data_test
