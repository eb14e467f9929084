#include "stoker/train/callbacks/export.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/json_file.h"
#include "stoker/base/json_or_null.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/kept_file.h"
#include "stoker/run/monitor.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/step_directories.h"
#include "stoker/run/weights_file.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What a run has beside its weights that predictions depend on.
Status CopyFiles(const RunPaths& from, const RunPaths& to) {
  for (const auto& [source, copy] :
       {std::pair(from.recipe(), to.recipe()), std::pair(from.learned(), to.learned()),
        std::pair(from.choices(), to.choices())}) {
    const Result<std::string> text = ReadKeptTextFile(source);
    if (text.status().code() == StatusCode::kNotFound) continue;  // nothing was learned
    STOKER_RETURN_IF_ERROR(text.status());
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(copy, *text));
  }
  return OkStatus();
}

Status WriteModel(RunView& run, const std::string& path) {
  const WeightAverage::Use average = run.learner.UseAverage();
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> arrays, ToNamedArrays(StateOf(run.model)));
  return WriteWeights(path,
                      {.arrays = std::move(arrays), .sample = run.sample, .target = run.target});
}

class ExportCallback final : public Callback {
 public:
  explicit ExportCallback(const Export& options) : options_(options) {}

  Status OnStart(RunView& run) override {
    if (options_.best.empty()) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(monitor_,
                            Monitor::Create(options_.best, options_.best_mode, run.measured));
    return OkStatus();
  }

  Status OnEvaluate(RunView& run, const Evaluation& evaluation) override {
    if (!IsDue(evaluation) || run.rank > 0) return OkStatus();
    const fs::path folder = run.run / "exports" / (monitor_ ? "best" : "latest");
    STOKER_RETURN_IF_ERROR(CreateDirectories(folder.string()));
    STOKER_RETURN_IF_ERROR(Write(run, evaluation, PathIn(folder, run.step)));
    return RemoveOld(folder, run.step);
  }

  Result<Json> Save() const override { return Json{{"best", FiniteOrNull(best_)}}; }
  Status Restore(const Json& state) override {
    const Json best = state.is_object() ? state.value("best", Json()) : Json();
    if (!best.is_null() && !best.is_number()) return DataLoss("'best' is no number");
    best_ = best.is_number() ? best.get<double>() : kNone;
    return OkStatus();
  }

 private:
  static std::string PathIn(const fs::path& folder, int64_t step) {
    return (folder / StepDirectoryName(step)).string();
  }

  // Also notes the best so far.
  bool IsDue(const Evaluation& evaluation) {
    if (!monitor_) return true;
    const double value = monitor_->ValueIn(evaluation);
    if (!monitor_->IsBetter(value, best_)) return false;
    best_ = value;
    return true;
  }

  static Status Write(RunView& run, const Evaluation& evaluation, const std::string& path) {
    std::error_code error;
    if (fs::exists(path, error)) STOKER_RETURN_IF_ERROR(RemoveAtomically(path));
    STOKER_ASSIGN_OR_RETURN(AtomicDirectory made, AtomicDirectory::Create(path));
    const RunPaths paths{made.path()};
    Status filled = WriteModel(run, paths.weights());
    if (filled.ok()) filled = CopyFiles(RunPaths{run.run}, paths);
    const Json figures{{"step", run.step}, {"evaluation", evaluation.ToJson()}};
    if (filled.ok())
      filled = WriteFileAtomically(made.path() + "/evaluation.json", JsonFileText(figures));
    return filled.ok() ? made.Commit() : made.WithFinalName(filled);
  }

  // Keeps the newest up to `written`. Later ones are of steps that are made again.
  Status RemoveOld(const fs::path& folder, int64_t written) const {
    STOKER_ASSIGN_OR_RETURN(std::vector<int64_t> steps, StepsIn(folder));
    std::ranges::reverse(steps);
    int64_t kept = 0;
    for (const int64_t step : steps) {
      if (step <= written && kept++ < options_.keep) continue;
      STOKER_RETURN_IF_ERROR(RemoveAtomically(PathIn(folder, step)));
    }
    return RemoveStaleTemporaries(folder.string()).status();
  }

  const Export options_;
  std::optional<Monitor> monitor_;  // none: the latest
  double best_ = kNone;
};

}  // namespace

void Export::Describe(OptionTable<Export>& table) {
  table.Field("keep", &Export::keep, "how many stay, the newest", AtLeast(1))
      .Field("best", &Export::best,
             "a figure of evaluations: loss, accuracy or one of train.metrics; only evaluations "
             "that are better by it than all before are exported. Without it all are")
      .Field("best_mode", &Export::best_mode,
             "whether lower or higher is better; auto: the way that the figure gets better",
             OneOf{{"auto", "min", "max"}});
}

Result<std::shared_ptr<Callback>> Export::Build() const {
  return std::make_shared<ExportCallback>(*this);
}

}  // namespace stoker
