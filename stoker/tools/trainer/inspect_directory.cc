#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "stoker/base/printable.h"
#include "stoker/base/short_text.h"
#include "stoker/data/runtime/starvation.h"
#include "stoker/run/checkpoint.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/run_summary.h"
#include "stoker/run/weights_file.h"
#include "stoker/tools/inspect/run_state.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/metrics_text.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

Status CannotLook(const fs::path& path, const std::error_code& error) {
  return FailedPrecondition("{}: {}; check the path, its links and who may read it", path.string(),
                            error.message());
}

// Whether there is something of that name; an error where that cannot be told.
Result<bool> Exists(const fs::path& path) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (error) return CannotLook(path, error);
  return exists;
}

// What a file that could not be read is called: damaged only where its bytes prove it.
const char* UnreadWord(const Status& status) {
  return status.code() == StatusCode::kDataLoss ? "DAMAGED" : "NOT READ";
}

struct CheckpointReport {
  std::string text;
  Json json;
  Status status;
};

CheckpointReport ReportCheckpoint(const CheckpointStore& store, int64_t step) {
  const Result<Checkpoint> loaded = store.Load(step);
  CheckpointReport report;
  report.status = loaded.status();
  report.json = {{"format", "checkpoint"},
                 {"step", step},
                 {"path", store.PathOf(step)},
                 {"whole", loaded.ok()}};
  if (!loaded.ok()) {
    report.json["error"] = loaded.status().message();
    report.text = fmt::format("  checkpoint of step {}: {}: {}\n", step,
                              UnreadWord(loaded.status()), loaded.status().message());
    return report;
  }
  uint64_t bytes = 0;
  for (const NamedArray& tensor : loaded->tensors) bytes += tensor.array.num_bytes();
  report.json["tensors"] = loaded->tensors.size();
  report.json["bytes"] = bytes;
  report.text = fmt::format("  checkpoint of step {}: whole, {}, {}\n", step,
                            CountText(std::ssize(loaded->tensors), "tensor"), ByteText(bytes));
  return report;
}

double NumberIn(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

//   recipe  of the run, which names classes and targets
std::string SummaryText(const Json& summary, const ConfigNode& recipe) {
  std::vector<std::vector<std::string>> rows = {
      {"steps", fmt::format("{} of {}", WithThousands(NumberIn(summary, "step")),
                            WithThousands(NumberIn(summary, "total_steps")))},
      {NounIn(summary) + "s per second",
       fmt::format("{} ({} of training)", WithThousands(NumberIn(summary, "images_per_s")),
                   DurationText(NumberIn(summary, "train_seconds")))}};
  const auto evaluation = summary.find("last_evaluation");
  if (evaluation != summary.end() && evaluation->is_object()) {
    const std::string samples = WithThousands(NumberIn(*evaluation, "samples"));
    const double loss = NumberIn(*evaluation, "loss");
    // Where targets are numbers there is no accuracy.
    rows.push_back(
        evaluation->contains("accuracy")
            ? std::vector<std::string>{"test accuracy",
                                       fmt::format("{:.4f} of {} samples, loss {:.4f}; best {:.4f}",
                                                   NumberIn(*evaluation, "accuracy"), samples, loss,
                                                   NumberIn(summary, "best_accuracy"))}
            : std::vector<std::string>{
                  "test loss", fmt::format("{:.4f} of {} samples; best {:.4f}", loss, samples,
                                           NumberIn(summary, "best_loss"))});
    std::ranges::move(
        MetricRows(evaluation->value("metrics", Json()), ClassNamesIn(recipe), TargetsIn(recipe)),
        std::back_inserter(rows));
  }
  std::string text = TableText(rows, 2);
  if (const auto starved = Starvation::FromJson(summary.value("starved", Json())))
    text += fmt::format("  {}\n  try: {}\n", starved->Sentence(), starved->advice);
  return text;
}

// The first numbers or words of a list, and how many there are.
std::string ListText(const Json& list) {
  constexpr size_t kShown = 4;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(kShown, list.size()); ++i) {
    shown.push_back(list[i].is_string() ? Printable(ShortText(list[i].get<std::string>(), 30))
                                        : fmt::format("{:.6g}", list[i].get<double>()));
  }
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     list.size() > kShown ? fmt::format(", ... ({} in all)", list.size()) : "");
}

// What its stages have learned from the training data.
void AddLearned(const RunPaths& paths, Inspection& out) {
  const Result<std::shared_ptr<const Learned>> learned = ReadRunLearned(paths.root);
  if (!learned.ok()) {
    if (out.damage.ok()) out.damage = learned.status();
    out.json["learned_error"] = learned.status().message();
    out.text += fmt::format("  learned: {}: {}\n", UnreadWord(learned.status()),
                            learned.status().message());
    return;
  }
  if (*learned == nullptr) return;
  out.json["learned"] = (*learned)->ToJson();
  out.text += fmt::format("  learned from {} samples, whole ({})\n",
                          WithThousands(NumberIn((*learned)->from, "samples")),
                          (*learned)->Checksum().substr(0, 19));
  for (const LearnedValue& value : (*learned)->values) {
    for (const auto& [option, list] : value.options.items())
      out.text += fmt::format("    {}: {} {}\n", Printable(value.Name()), option, ListText(list));
  }
}

Result<Inspection> InspectRun(const RunPaths& paths) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ReadRunRecipe(paths.root));
  STOKER_ASSIGN_OR_RETURN(const std::optional<Json> summary, ReadRunSummary(paths.root));
  STOKER_ASSIGN_OR_RETURN(const bool finished, Exists(paths.weights()));
  Inspection out;
  out.json = {{"directory", paths.root.string()},
              {"format", "run"},
              {"finished", finished},
              {"checkpoints", Json::array()}};
  const RunState state = StateOfRun(paths, finished);
  out.json.update(state.json);
  out.text =
      fmt::format("{}: run, {}\n{}", Printable(paths.root.string()), state.headline, state.text);
  if (const Status weights = finished ? ReadWeights(paths.weights()).status() : OkStatus();
      !weights.ok()) {
    out.damage = weights;
    out.json["weights_error"] = weights.message();
    out.text += fmt::format("  weights: {}: {}\n", UnreadWord(weights), weights.message());
  }
  AddLearned(paths, out);
  if (summary) {
    out.json["summary"] = *summary;
    out.text += SummaryText(*summary, recipe);
  }
  const CheckpointStore store(paths.checkpoints(), 1);
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, store.Steps());
  for (const int64_t step : steps) {
    CheckpointReport report = ReportCheckpoint(store, step);
    if (!report.status.ok()) {
      // A run that trains removes old ones, each by one rename, while they are read here.
      STOKER_ASSIGN_OR_RETURN(const bool still_there, Exists(store.PathOf(step)));
      if (!still_there) continue;
    }
    if (out.damage.ok()) out.damage = report.status;
    out.text += report.text;
    out.json["checkpoints"].push_back(std::move(report.json));
  }
  return out;
}

Result<Inspection> InspectCheckpoint(const fs::path& path) {
  const CheckpointStore store(path.parent_path().string(), 1);
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, store.Steps());
  for (const int64_t step : steps) {
    if (fs::path(store.PathOf(step)).filename() != path.filename()) continue;
    CheckpointReport report = ReportCheckpoint(store, step);
    STOKER_RETURN_IF_ERROR(report.status);
    return Inspection{.text = path.string() + ":\n" + report.text, .json = std::move(report.json)};
  }
  return FailedPrecondition(
      "{}: this holds a manifest but is not called as a checkpoint is, step-00000000; give it back "
      "the name it had",
      path.string());
}

}  // namespace

Result<Inspection> InspectDirectory(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(fs::path(path) / "", error);
  if (error) return CannotLook(path, error);
  // Without a trailing slash, so that it has a name and a parent.
  const fs::path directory = absolute.lexically_normal().parent_path();
  STOKER_ASSIGN_OR_RETURN(const bool is_run, Exists(RunPaths{directory}.recipe()));
  if (is_run) return InspectRun(RunPaths{directory});
  STOKER_ASSIGN_OR_RETURN(const bool is_checkpoint, Exists(directory / "manifest.json"));
  if (is_checkpoint) return InspectCheckpoint(directory);
  return NotFound(
      "{}: neither a run (it has no recipe.yaml) nor a checkpoint (it has no manifest.json); name "
      "the directory that `stoker train` printed, or a file",
      directory.string());
}

}  // namespace stoker
