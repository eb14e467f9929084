#include "stoker/train/callbacks/profile_steps.h"

#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/json_text.h"
#include "stoker/io/atomic_file.h"
#include "stoker/train/callbacks/operator_times_internal.h"
#include "stoker/train/core/callback.h"

namespace stoker {
namespace {

class ProfileStepsCallback final : public Callback {
 public:
  explicit ProfileStepsCallback(const ProfileSteps& options) : options_(options) {}

  Status OnStart(RunView& run) override {
    first_rank_ = run.rank == 0;
    return Begin(run);
  }

  Status OnBatch(RunView& run, const TensorBatch& batch) override {
    if (!Wanted(run.step + 1)) return OkStatus();
    Close(batches_ == 0 ? "wait for data" : "forward, backward, wait for data",
          {{"samples", batch.size()}});
    ++batches_;
    return OkStatus();
  }
  Status OnBackward(RunView& run) override {
    if (Wanted(run.step + 1)) Close("forward and backward");
    return OkStatus();
  }
  Status OnStep(RunView& run, const at::Tensor&) override {
    if (Wanted(run.step)) {
      Close("update");
      events_.push_back(TraceEvent(fmt::format("step {}", run.step), step_began_ns_, NowNs()));
    }
    if (Wanted(run.step) && run.step == options_.last) STOKER_RETURN_IF_ERROR(Write(run));
    return Begin(run);
  }
  Status OnEvaluate(RunView& run, const Evaluation&) override {
    if (Wanted(run.step + 1)) Close("evaluation");
    return Begin(run);
  }
  Status OnCheckpointTaken(RunView& run) override {
    if (Wanted(run.step + 1)) Close("checkpoint");
    return Begin(run);
  }
  // A run that ends before `last` leaves what there is.
  Status OnEnd(RunView& run) override { return events_.empty() ? OkStatus() : Write(run); }

 private:
  bool Wanted(int64_t step) const {
    return first_rank_ && step >= options_.first && step <= options_.last;
  }

  // What follows belongs to the next step.
  Status Begin(RunView& run) {
    batches_ = 0;
    phase_began_ns_ = step_began_ns_ = NowNs();
    const bool next = Wanted(run.step + 1);
    if (next && options_.operators && !times_) times_.emplace(options_.shapes);
    return OkStatus();
  }

  // The phase that ends now.
  void Close(std::string name, Json arguments = Json::object()) {
    const int64_t now = NowNs();
    events_.push_back(TraceEvent(std::move(name), phase_began_ns_, now, std::move(arguments)));
    phase_began_ns_ = now;
  }

  Status Write(const RunView& run) {
    if (times_) std::ranges::move(times_->Take(), std::back_inserter(events_));
    times_.reset();
    const Json trace = {{"traceEvents", std::exchange(events_, {})}, {"displayTimeUnit", "ms"}};
    const std::string name = fmt::format("trace-{}-{}.json", options_.first, options_.last);
    return WriteFileAtomically((run.run / name).string(), DumpJson(trace) + "\n");
  }

  const ProfileSteps options_;
  bool first_rank_ = true;  // which writes the file
  std::vector<Json> events_;
  std::optional<OperatorTimes> times_;
  int64_t step_began_ns_ = 0, phase_began_ns_ = 0;
  int batches_ = 0;  // of the step under way
};

}  // namespace

void ProfileSteps::Describe(OptionTable<ProfileSteps>& table) {
  table.Field("first", &ProfileSteps::first, "the first step, from 1", AtLeast(1))
      .Field("last", &ProfileSteps::last, "the last", AtLeast(1))
      .Field("operators", &ProfileSteps::operators, "whether torch's operators are recorded too")
      .Field("shapes", &ProfileSteps::shapes, "whether they come with the shapes of their inputs");
}

Result<std::shared_ptr<Callback>> ProfileSteps::Build() const {
  if (last < first) {
    return InvalidArgument("profile_steps: last ({}) comes before first ({})", last, first);
  }
  return std::make_shared<ProfileStepsCallback>(*this);
}

}  // namespace stoker
