#include "stoker/train/callbacks/export.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/json_file.h"
#include "stoker/base/json_or_null.h"
#include "stoker/base/log.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/kept_file.h"
#include "stoker/run/monitor.h"
#include "stoker/run/retried_write.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/step_directories.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/step/learner_weights.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What a run has beside its weights that predictions depend on.
Status CopyFiles(const RunPaths& from, const RunPaths& to) {
  for (const auto& [source, copy] :
       {std::pair(from.recipe(), to.recipe()), std::pair(from.learned(), to.learned()),
        std::pair(from.choices(), to.choices()), std::pair(from.data(), to.data())}) {
    const Result<std::string> text = ReadKeptTextFile(source);
    if (text.status().code() == StatusCode::kNotFound) continue;  // it has none of that kind
    STOKER_RETURN_IF_ERROR(text.status());
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(copy, *text));
  }
  return OkStatus();
}

class ExportCallback final : public Callback {
 public:
  explicit ExportCallback(const Export& options) : options_(options) {}

  Status OnStart(RunView& run) override {
    folder_ = run.run / "exports" / name();
    if (!run.exports.insert(folder_).second) {
      return InvalidArgument(
          "two callbacks `export` write to exports/{}, where each would remove what the other "
          "keeps; give one of them another `name`",
          name());
    }
    if (options_.best.empty()) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(monitor_,
                            Monitor::Create(options_.best, options_.best_mode, run.measured));
    return OkStatus();
  }

  Status OnEvaluate(RunView& run, const Evaluation& evaluation) override {
    if (!IsDue(evaluation) || run.rank > 0) return OkStatus();
    STOKER_RETURN_IF_ERROR(CreateDirectories(folder_.string()));
    STOKER_RETURN_IF_ERROR(
        WriteWithRetries("the export", [&] { return Write(run, evaluation, PathOf(run.step)); }));
    // The new one is safe whatever happens to the old ones.
    if (const Status tidied = RemoveOld(run.step); !tidied.ok())
      LogWarning("old exports stay: {}", tidied.message());
    return OkStatus();
  }

  Status OnEnd(RunView& run) override {
    const bool interrupted = run.step < run.total_steps && run.end.empty();
    if (run.rank > 0 || interrupted) return OkStatus();
    const Result<std::vector<int64_t>> steps = StepsIn(folder_);
    if (steps.ok() && steps->empty()) {
      LogWarning("export: nothing was exported to {}: the run had no evaluation{}",
                 folder_.string(), monitor_ ? " with a " + options_.best : "");
    }
    return OkStatus();
  }

  Result<Json> Save() const override {
    return Json{
        {"figure", options_.best}, {"mode", options_.best_mode}, {"best", FiniteOrNull(best_)}};
  }
  // Values of different figures cannot be compared.
  Status Restore(const Json& state) override {
    if (!state.is_object()) return OkStatus();
    const Json best = state.value("best", Json());
    if (!best.is_null() && !best.is_number()) return DataLoss("'best' is no number");
    const bool same = state.value("figure", Json()) == Json(options_.best) &&
                      state.value("mode", Json()) == Json(options_.best_mode);
    best_ = same && best.is_number() ? best.get<double>() : kNone;
    return OkStatus();
  }

 private:
  std::string name() const {
    if (!options_.name.empty()) return options_.name;
    return options_.best.empty() ? "latest" : "best";
  }

  std::string PathOf(int64_t step) const { return (folder_ / StepDirectoryName(step)).string(); }

  // Also notes the best so far.
  bool IsDue(const Evaluation& evaluation) {
    if (!monitor_) return true;
    const double value = monitor_->ValueIn(evaluation);
    if (!monitor_->IsBetter(value, best_)) return false;
    best_ = value;
    return true;
  }

  static Status Write(RunView& run, const Evaluation& evaluation, const std::string& path) {
    STOKER_ASSIGN_OR_RETURN(AtomicDirectory made, AtomicDirectory::CreateInPlaceOf(path));
    const RunPaths paths{made.path()};
    Status filled = WriteWeightsOf(run.learner, paths.weights(), run.origin);
    if (filled.ok()) filled = CopyFiles(RunPaths{run.run}, paths);
    const Json figures{{"step", run.step}, {"evaluation", evaluation.ToJson()}};
    if (filled.ok()) filled = WriteFileAtomically(paths.evaluation(), JsonFileText(figures));
    return filled.ok() ? made.Commit() : made.WithFinalName(filled);
  }

  // Keeps the newest up to `written`. Later ones are of steps that are made again.
  Status RemoveOld(int64_t written) const {
    STOKER_ASSIGN_OR_RETURN(std::vector<int64_t> steps, StepsIn(folder_));
    std::ranges::reverse(steps);
    int64_t kept = 0;
    for (const int64_t step : steps) {
      if (step <= written && kept++ < options_.keep) continue;
      STOKER_RETURN_IF_ERROR(RemoveAtomically(PathOf(step)));
    }
    return RemoveStaleTemporaries(folder_.string()).status();
  }

  const Export options_;
  fs::path folder_;
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
             OneOf{{"auto", "min", "max"}})
      .Field("name", &Export::name,
             "the directory below exports; without it latest, or best where there is `best`");
}

Result<std::shared_ptr<Callback>> Export::Build() const {
  if (name == "." || name == ".." || name.find_first_of(std::string_view("/\0", 2)) != name.npos)
    return InvalidArgument("export: the name '{}' is that of no directory; give a word", name);
  return std::make_shared<ExportCallback>(*this);
}

}  // namespace stoker
