#include "stoker/train/callbacks/stop_at.h"

#include "stoker/base/log.h"
#include "stoker/train/core/callback.h"

namespace stoker {
namespace {

class StopAtCallback final : public Callback {
 public:
  explicit StopAtCallback(int64_t step) : step_(step) {}

  Status OnStart(RunView& run) override {
    if (run.rank == 0 && step_ > run.total_steps) {
      LogWarning("stop_at: step {} never comes, since the run ends after {}", step_,
                 run.total_steps);
    }
    return OkStatus();
  }

  Status OnStep(RunView& run, const at::Tensor&) override {
    if (run.step >= step_) run.end = fmt::format("stop_at: step {}", step_);
    return OkStatus();
  }

 private:
  const int64_t step_;
};

}  // namespace

void StopAt::Describe(OptionTable<StopAt>& table) {
  table.Field("step", &StopAt::step, "the last step", AtLeast(1)).Required();
}

Result<std::shared_ptr<Callback>> StopAt::Build() const {
  return std::make_shared<StopAtCallback>(step);
}

}  // namespace stoker
