#include "stoker/run/published_progress.h"

#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>

#include "stoker/base/json_or_null.h"
#include "stoker/io/kept_file.h"

namespace stoker {
namespace {

constexpr int64_t kSchema = 1;
constexpr uint64_t kMostBytes = uint64_t{4} << 20;

constexpr std::pair<RunActivity, std::string_view> kActivities[] = {
    {RunActivity::kStarting, "starting"},
    {RunActivity::kSteps, "steps"},
    {RunActivity::kEvaluation, "evaluation"},
    {RunActivity::kCheckpoint, "checkpoint"},
};

Json ToJson(const PublishedStage& stage) {
  return {{"name", stage.name},
          {"work", NameOf(stage.work)},
          {"elements", stage.elements},
          {"bytes", stage.bytes},
          {"busy_s", FiniteOrNull(stage.busy_s)},
          {"starved_s", FiniteOrNull(stage.starved_s)},
          {"blocked_s", FiniteOrNull(stage.blocked_s)}};
}

Json ToJson(const PublishedLimit& limit) {
  return {{"stage", limit.stage},
          {"why", limit.why},
          {"work", NameOf(limit.work)},
          {"on_servers", limit.on_servers},
          {"many_files", limit.many_files},
          {"on_consumer", limit.on_consumer},
          {"idle", limit.idle}};
}

Json ToJson(const PublishedInput& input) {
  Json stages = Json::array();
  for (const PublishedStage& stage : input.stages) stages.push_back(ToJson(stage));
  return {{"threads", input.threads},
          {"stages", std::move(stages)},
          {"limit", input.limit ? ToJson(*input.limit) : Json()}};
}

Json ToJson(const PublishedWork& work) {
  return {{"seconds", FiniteOrNull(work.seconds)},
          {"steps", work.steps},
          {"samples", work.samples},
          {"step_s", FiniteOrNull(work.step_s)},
          {"waited_s", FiniteOrNull(work.waited_s)},
          {"cpu_s", FiniteOrNull(work.cpu_s)},
          {"evaluations", work.evaluations},
          {"evaluation_s", FiniteOrNull(work.evaluation_s)},
          {"checkpoints", work.checkpoints},
          {"checkpoint_s", FiniteOrNull(work.checkpoint_s)},
          {"logging_s", FiniteOrNull(work.logging_s)},
          {"callback_s", FiniteOrNull(work.callback_s)}};
}

// Members of an object of which nothing is certain: each Get leaves `value` as it is where the
// member is missing or of another type.
class Members {
 public:
  explicit Members(const Json& json) : json_(json) {}

  const Json* Find(const char* key) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  void Get(const char* key, double& value) const {
    if (const Json* const found = Find(key); found != nullptr && found->is_number())
      value = found->get<double>();
  }
  void Get(const char* key, int64_t& value) const {
    const Json* const found = Find(key);
    // A number beyond 2^63, or with a fraction, is not one of ours.
    if (found == nullptr || !found->is_number_integer()) return;
    if (found->is_number_unsigned() &&
        found->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return;
    value = found->get<int64_t>();
  }
  void Get(const char* key, bool& value) const {
    if (const Json* const found = Find(key); found != nullptr && found->is_boolean())
      value = found->get<bool>();
  }
  void Get(const char* key, std::string& value) const {
    if (const Json* const found = Find(key); found != nullptr && found->is_string())
      value = found->get<std::string>();
  }
  void Get(const char* key, StageWork& value) const {
    std::string name;
    Get(key, name);
    value = ParseStageWork(name).value_or(value);
  }

 private:
  const Json& json_;
};

PublishedStage StageFrom(const Json& json) {
  const Members members(json);
  PublishedStage stage;
  members.Get("name", stage.name);
  members.Get("work", stage.work);
  members.Get("elements", stage.elements);
  members.Get("bytes", stage.bytes);
  members.Get("busy_s", stage.busy_s);
  members.Get("starved_s", stage.starved_s);
  members.Get("blocked_s", stage.blocked_s);
  return stage;
}

std::optional<PublishedLimit> LimitFrom(const Json* json) {
  if (json == nullptr || !json->is_object()) return std::nullopt;
  const Members members(*json);
  PublishedLimit limit;
  members.Get("stage", limit.stage);
  members.Get("why", limit.why);
  members.Get("work", limit.work);
  members.Get("on_servers", limit.on_servers);
  members.Get("many_files", limit.many_files);
  members.Get("on_consumer", limit.on_consumer);
  members.Get("idle", limit.idle);
  return limit;
}

std::optional<PublishedInput> InputFrom(const Json* json) {
  constexpr size_t kMostStages = 1000;  // a recipe has a few dozen at most
  if (json == nullptr || !json->is_object()) return std::nullopt;
  const Members members(*json);
  PublishedInput input;
  members.Get("threads", input.threads);
  if (const Json* const stages = members.Find("stages"); stages != nullptr && stages->is_array()) {
    for (const Json& stage : *stages) {
      if (input.stages.size() == kMostStages) break;
      if (stage.is_object()) input.stages.push_back(StageFrom(stage));
    }
  }
  input.limit = LimitFrom(members.Find("limit"));
  return input;
}

PublishedWork WorkFrom(const Json* json) {
  PublishedWork work;
  if (json == nullptr) return work;
  const Members members(*json);
  members.Get("seconds", work.seconds);
  members.Get("steps", work.steps);
  members.Get("samples", work.samples);
  members.Get("step_s", work.step_s);
  members.Get("waited_s", work.waited_s);
  members.Get("cpu_s", work.cpu_s);
  members.Get("evaluations", work.evaluations);
  members.Get("evaluation_s", work.evaluation_s);
  members.Get("checkpoints", work.checkpoints);
  members.Get("checkpoint_s", work.checkpoint_s);
  members.Get("logging_s", work.logging_s);
  members.Get("callback_s", work.callback_s);
  return work;
}

void GetProcess(const Members& members, PublishedProgress& progress) {
  members.Get("rank", progress.rank);
  members.Get("host", progress.host);
  members.Get("pid", progress.pid);
  members.Get("device", progress.device);
  members.Get("accelerator", progress.accelerator);
  members.Get("cpus", progress.cpus);
  members.Get("compute_threads", progress.compute_threads);
  std::string activity;
  members.Get("activity", activity);
  for (const auto& [value, name] : kActivities) {
    if (name == activity) progress.activity = value;
  }
}

}  // namespace

std::string_view NameOf(RunActivity activity) {
  return kActivities[static_cast<size_t>(activity)].second;
}

Json PublishedProgress::ToJson() const {
  Json json = {{"schema", kSchema},
               {"rank", rank},
               {"host", host},
               {"pid", pid},
               {"device", device},
               {"accelerator", accelerator},
               {"cpus", cpus},
               {"compute_threads", compute_threads},
               {"activity", NameOf(activity)},
               {"step", step},
               {"total_steps", total_steps},
               {"epoch", FiniteOrNull(epoch)},
               {"samples_are", noun},
               {"train_seconds", FiniteOrNull(train_seconds)},
               {"work", stoker::ToJson(work)}};
  if (!input) return json;  // there was no step yet
  json["loss"] = FiniteOrNull(loss);
  json["lr"] = FiniteOrNull(lr);
  json["samples_per_s"] = FiniteOrNull(samples_per_s);
  json["seconds_left"] = FiniteOrNull(seconds_left);
  json["waited"] = FiniteOrNull(waited);
  json["starved"] = starved ? starved->ToJson() : Json();
  json["input"] = stoker::ToJson(*input);
  return json;
}

Result<PublishedProgress> PublishedProgress::FromJson(const Json& json) {
  const Members members(json);
  if (const Json* const step = members.Find("step"); step == nullptr || !step->is_number())
    return DataLoss("it is no progress of a run: it has no number \"step\"");
  int64_t schema = kSchema;
  members.Get("schema", schema);
  if (schema > kSchema) {
    return Unimplemented("its schema is {}, and this version of Stoker knows {}; use a newer one",
                         schema, kSchema);
  }
  PublishedProgress progress;
  GetProcess(members, progress);
  members.Get("step", progress.step);
  members.Get("total_steps", progress.total_steps);
  members.Get("epoch", progress.epoch);
  members.Get("samples_are", progress.noun);
  members.Get("train_seconds", progress.train_seconds);
  members.Get("loss", progress.loss);
  members.Get("lr", progress.lr);
  members.Get("samples_per_s", progress.samples_per_s);
  members.Get("seconds_left", progress.seconds_left);
  members.Get("waited", progress.waited);
  if (const Json* const starved = members.Find("starved"))
    progress.starved = Starvation::FromJson(*starved);
  progress.work = WorkFrom(members.Find("work"));
  progress.input = InputFrom(members.Find("input"));
  return progress;
}

Result<PublishedProgress> ReadPublishedProgress(const std::filesystem::path& run) {
  const std::string path = ProgressPath(run);
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadKeptTextFile(path, kMostBytes));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return DataLoss("{}: it is no JSON", path);
  Result<PublishedProgress> progress = PublishedProgress::FromJson(json);
  if (!progress.ok()) return progress.status().While("reading " + path);
  return progress;
}

}  // namespace stoker
