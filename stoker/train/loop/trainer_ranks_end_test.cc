// Ranks of which one alone has a reason to end: all end, wherever the others are.
#include <stdexcept>

#include "stoker/cluster/ranks_testing.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_ranks_end_test {

// Does something at one of the hooks of a run.
class At : public Callback {
 public:
  At(std::string hook, int64_t step, std::function<Status(RunView&)> act)
      : hook_(std::move(hook)), step_(step), act_(std::move(act)) {}

  Status OnStart(RunView& view) override { return If("OnStart", view, view.step); }
  Status OnBatch(RunView& view, const TensorBatch&) override {
    return If("OnBatch", view, view.step + 1);
  }
  Status OnBackward(RunView& view) override { return If("OnBackward", view, view.step + 1); }
  Status OnStep(RunView& view, const at::Tensor&) override { return If("OnStep", view, view.step); }
  Status OnEvaluate(RunView& view, const Evaluation&) override {
    return If("OnEvaluate", view, view.step);
  }
  Status OnCheckpointTaken(RunView& view) override {
    return If("OnCheckpointTaken", view, view.step);
  }
  Status OnCheckpoint(RunView& view) override { return If("OnCheckpoint", view, view.checkpoint); }

 private:
  Status If(std::string_view hook, RunView& view, int64_t step) const {
    return hook == hook_ && step == step_ ? act_(view) : OkStatus();
  }

  const std::string hook_;
  const int64_t step_;
  const std::function<Status(RunView&)> act_;
};

class TrainerRanksEndTest : public TrainerTest {
 protected:
  // Two epochs of four steps, each with an evaluation, a checkpoint, and a line every other step.
  Result<std::unique_ptr<Trainer>> TrainerOf(Group& group, const std::string& run, bool sharded) {
    const std::shared_ptr<Group> borrowed(&group, [](Group*) {});
    STOKER_ASSIGN_OR_RETURN(
        Recipe recipe,
        problem_.Load({"model={convnet: {classes: 4, channels: [8]}}", "train.tune=off",
                       "train.epochs=2", "train.log_every=2", "data.train.3.batch={size: 24}",
                       fmt::format("train.distributed.shard_optimizer={}", sharded)}));
    return TrainerTest::TrainerOf(borrowed, std::move(recipe), run, /*resume=*/false);
  }
};

struct Moment {
  const char* hook;
  int64_t step;
  int64_t rank;  // that has it
};

TEST_F(TrainerRanksEndTest, AnErrorOfOneInAnyHookIsToldByAll) {
  const Moment moments[] = {{"OnStart", 0, 1},
                            {"OnBatch", 3, 1},
                            {"OnBackward", 3, 1},
                            {"OnStep", 1, 1},
                            {"OnStep", 2, 1},
                            {"OnStep", 2, 0},
                            {"OnStep", 4, 1},
                            {"OnStep", 8, 1},
                            {"OnStep", 8, 0},
                            {"OnEvaluate", 4, 1},
                            {"OnEvaluate", 8, 1},
                            {"OnEvaluate", 8, 0},
                            {"OnCheckpointTaken", 4, 0},
                            {"OnCheckpointTaken", 8, 0},
                            {"OnCheckpoint", 4, 0},
                            {"OnCheckpoint", 8, 0}};
  for (const bool sharded : {false, true}) {
    for (const Moment& moment : moments) {
      const std::string name =
          fmt::format("{}-{}-{}{}", moment.hook, moment.step, moment.rank, sharded ? "-s" : "");
      SCOPED_TRACE(name);
      AsRanks(2, [&](Group& group) {
        STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer, TrainerOf(group, name, sharded));
        const bool own = group.membership().rank == moment.rank;
        const auto fail = [&](RunView&) -> Status {
          if (moment.step % 4 == 0) return Internal("on purpose");
          throw std::runtime_error("on purpose");
        };
        if (own) trainer->Add("fails", std::make_shared<At>(moment.hook, moment.step, fail));
        const Status status = trainer->Run().status();
        if (own) group.Leave(status);  // as programs do
        EXPECT_THAT(status.message(), testing::HasSubstr("on purpose"));
        EXPECT_EQ(status.message().starts_with(fmt::format("rank {} failed: ", moment.rank)), !own)
            << status.message();
      });
    }
  }
}

TEST_F(TrainerRanksEndTest, TheWishOfOneToEndIsFollowedByAll) {
  const struct {
    Moment moment;
    int64_t ends;  // the step after which all do
  } cases[] = {{{"OnBatch", 3, 1}, 3},      {{"OnBackward", 3, 0}, 3},  {{"OnStep", 2, 1}, 2},
               {{"OnStep", 4, 0}, 4},       {{"OnStep", 8, 1}, 8},      {{"OnEvaluate", 4, 1}, 4},
               {{"OnCheckpoint", 4, 0}, 0}, {{"OnCheckpoint", 8, 0}, 8}};
  for (const auto& [moment, ends] : cases) {
    const std::string name = fmt::format("{}-{}-{}", moment.hook, moment.step, moment.rank);
    SCOPED_TRACE(name);
    const Shared<int64_t> steps[2];
    AsRanks(2, [&, &moment = moment](Group& group) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer, TrainerOf(group, name, /*sharded=*/false));
      const auto end = [](RunView& view) {
        view.end = "it is enough";
        return OkStatus();
      };
      if (group.membership().rank == moment.rank)
        trainer->Add("ends", std::make_shared<At>(moment.hook, moment.step, end));
      STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, trainer->Run());
      *steps[group.membership().rank] = summary.step;
      if (summary.step < 8) {
        EXPECT_EQ(summary.ended, "it is enough");
      }
    });
    EXPECT_EQ(*steps[0], *steps[1]);
    // 0: not known, since a checkpoint is stored while the steps go on.
    EXPECT_THAT(ends, testing::AnyOf(0, (*steps[0]).load()));
  }
}

}  // namespace stoker::trainer_ranks_end_test
