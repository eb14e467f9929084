// Whether a run flushes denormals is a choice of the run: how it is made, kept and obeyed.
#include "stoker/base/denormals.h"

#include <ATen/Parallel.h>

#include "stoker/device/torch_threads.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/predict/predictor.h"

namespace stoker::denormals_test {

bool Flushes() { return FloatMode() == WithDenormalsFlushed(FloatMode(), true); }

// Looks, in every hook that stands within a step or follows one, on all of torch's threads.
class ModeWatcher final : public Callback {
 public:
  Status OnBatch(RunView&, const TensorBatch&) override { return Look(); }
  Status OnBackward(RunView&) override { return Look(); }
  Status OnStep(RunView&, const at::Tensor&) override { return Look(); }
  Status OnEvaluate(RunView&, const Evaluation&) override { return Look(); }

  int flushing() const { return flushing_; }
  int keeping() const { return keeping_; }

 private:
  Status Look() {
    OnEachTorchThread([this] { ++(Flushes() ? flushing_ : keeping_); });
    return OkStatus();
  }

  std::atomic<int> flushing_{0}, keeping_{0};
};

class DenormalsOfARun : public TrainerTest {
 protected:
  // Whether all threads flushed in each hook of a run, which `set` changes; otherwise none did.
  Result<bool> RunFlushes(std::unique_ptr<Trainer> trainer) {
    const auto watcher = std::make_shared<ModeWatcher>();
    trainer->Add("watcher", watcher);
    STOKER_RETURN_IF_ERROR(trainer->Run().status());
    EXPECT_GT(watcher->flushing() + watcher->keeping(), 0);
    EXPECT_EQ(std::min(watcher->flushing(), watcher->keeping()), 0);
    EXPECT_FALSE(Flushes()) << "the thread's own mode is not back";
    return watcher->flushing() > 0;
  }
  Result<bool> NewRunFlushes(const std::string& run, const std::vector<std::string>& set) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(auto trainer, Trainer::Create(std::move(recipe), problem_ / run));
    return RunFlushes(std::move(trainer));
  }
  Result<bool> ResumedRunFlushes(const std::string& run, const std::vector<std::string>& set) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(auto trainer, Trainer::Resume(std::move(recipe), problem_ / run));
    return RunFlushes(std::move(trainer));
  }
};

TEST_F(DenormalsOfARun, AreFlushedUnlessTheRecipeKeepsThem) {
  for (const char* threads : {"train.threads=1", "train.threads=3"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const bool usual, NewRunFlushes("usual", {threads}));
    EXPECT_TRUE(usual);
    STOKER_ASSERT_OK_AND_ASSIGN(const bool kept,
                                NewRunFlushes("kept", {threads, "train.denormals=keep"}));
    EXPECT_FALSE(kept);
    std::filesystem::remove_all(problem_ / "usual");
    std::filesystem::remove_all(problem_ / "kept");
  }
}

TEST_F(DenormalsOfARun, StayAsTheyWereChosenWhenItIsResumed) {
  for (const bool flushed : {false, true}) {
    const std::string run = flushed ? "flushed" : "kept";
    const std::vector<std::string> set = {flushed ? "train.denormals=flush"
                                                  : "train.denormals=keep"};
    STOKER_ASSERT_OK(TrainUntil(run, 3, set));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Choices> choices,
                                ReadRunChoices(Paths(run).root));
    EXPECT_EQ(choices->flush_denormals, flushed);
    STOKER_ASSERT_OK_AND_ASSIGN(const bool flushes, ResumedRunFlushes(run, set));
    EXPECT_EQ(flushes, flushed);
  }
}

// Such a run has neither the choice nor the key.
TEST_F(DenormalsOfARun, AreKeptWhereTheRunIsOfBeforeTheChoice) {
  STOKER_ASSERT_OK(TrainUntil("old", 3));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Choices> choices,
                              ReadRunChoices(Paths("old").root));
  Json json = choices->ToJson();
  json.erase("flush_denormals");
  WriteFileForTest(Paths("old").choices(), json.dump());
  std::string recipe = ReadFileForTest(Paths("old").recipe());
  const size_t key = recipe.find("  denormals: auto\n");
  ASSERT_NE(key, std::string::npos) << recipe;
  recipe.erase(key, std::string_view("  denormals: auto\n").size());
  WriteFileForTest(Paths("old").recipe(), recipe);
  STOKER_ASSERT_OK_AND_ASSIGN(const bool flushes, ResumedRunFlushes("old", {}));
  EXPECT_FALSE(flushes);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Choices> after,
                              ReadRunChoices(Paths("old").root));
  EXPECT_FALSE(after->flush_denormals);
}

TEST_F(DenormalsOfARun, AreInItsPredictionsWhatTheyWereInTraining) {
  for (const bool flushed : {false, true}) {
    const std::string run = flushed ? "flushed" : "kept";
    STOKER_ASSERT_OK(
        Train(run, {flushed ? "train.denormals=flush" : "train.denormals=keep"}).status());
    STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(Paths(run).root));
    bool flushes = !flushed;
    STOKER_ASSERT_OK(predictor->PredictRun({}, [&](const PredictedBatch&) {
      flushes = Flushes();
      return OkStatus();
    }));
    EXPECT_EQ(flushes, flushed);
    EXPECT_FALSE(Flushes());
  }
}

}  // namespace stoker::denormals_test
