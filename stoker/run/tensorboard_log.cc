#include "stoker/run/tensorboard_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/options.h"
#include "stoker/base/remote_path.h"

namespace stoker {
namespace {

// Keys that give a line's place in the run, not figures.
constexpr std::string_view kPlaces[] = {"kind", "step", "epoch"};

HyperParameter ToHyperParameter(std::string name, const ConfigNode& value) {
  bool truth = false;
  double number = 0;
  if (!value.quoted && ReadOption(value, truth).ok()) return {std::move(name), truth};
  if (!value.quoted && ReadOption(value, number).ok()) return {std::move(name), number};
  return {std::move(name), value.scalar};
}

void Collect(const std::string& name, const ConfigNode& node, std::vector<HyperParameter>& out) {
  if (node.kind == ConfigNode::Kind::kScalar) out.push_back(ToHyperParameter(name, node));
  if (node.kind != ConfigNode::Kind::kMap) return;
  for (const ConfigNode::Entry& entry : node.entries) {
    Collect(fmt::format("{}.{}", name, entry.key), entry.value, out);
  }
}

std::vector<std::string> MetricTags(const ConfigNode& recipe, bool has_accuracy) {
  const ConfigNode* data = recipe.Find("data");
  if (data == nullptr || data->Find("eval") == nullptr) return {"train/loss"};
  if (!has_accuracy) return {"train/loss", "eval/loss"};
  return {"train/loss", "eval/accuracy", "eval/loss"};
}

}  // namespace

std::vector<HyperParameter> HyperParametersOf(const ConfigNode& recipe) {
  std::vector<HyperParameter> hparams;
  for (const char* section : {"model", "train"}) {
    if (const ConfigNode* node = recipe.Find(section)) Collect(section, *node, hparams);
  }
  return hparams;
}

Result<std::unique_ptr<TensorboardLog>> TensorboardLog::Open(const std::string& directory,
                                                             const ConfigNode& recipe,
                                                             std::optional<int64_t> done,
                                                             bool has_accuracy) {
  // What was logged at the last step done is kept.
  std::optional<int64_t> restart_at;
  if (done) restart_at = *done > 0 ? *done + 1 : 0;
  STOKER_ASSIGN_OR_RETURN(EventWriter writer, EventWriter::Create(directory, restart_at));
  std::unique_ptr<TensorboardLog> log(new TensorboardLog(std::move(writer)));
  log->last_step_ = done.value_or(0);
  const std::vector<HyperParameter> hparams = HyperParametersOf(recipe);
  Summary summary;
  summary.AddText("recipe", fmt::format("```yaml\n{}```\n", WithoutSecrets(ToYaml(recipe))))
      .AddExperiment(hparams, MetricTags(recipe, has_accuracy))
      .AddSessionStart(hparams, WallTime());
  STOKER_RETURN_IF_ERROR(log->writer_.Write(summary, log->last_step_));
  return log;
}

Status TensorboardLog::Write(const Json& line) {
  const std::string kind = line.value("kind", "train");
  last_step_ = line.value("step", last_step_);
  Summary summary;
  const auto add = [&](const std::string& tag, const Json& value) {
    if (value.is_number()) summary.AddScalar(tag, value.get<double>());
  };
  for (const auto& [key, value] : line.items()) {
    if (std::ranges::find(kPlaces, key) != std::end(kPlaces)) continue;
    const std::string tag = fmt::format("{}/{}", kind, key);
    add(tag, value);
    if (!value.is_object()) continue;
    for (const auto& [name, figure] : value.items()) add(fmt::format("{}/{}", kind, name), figure);
  }
  return summary.empty() ? OkStatus() : writer_.Write(summary, last_step_);
}

Status TensorboardLog::End(bool finished) {
  const SessionStatus status = finished ? SessionStatus::kSuccess : SessionStatus::kFailure;
  return writer_.Write(Summary().AddSessionEnd(status, WallTime()), last_step_);
}

}  // namespace stoker
