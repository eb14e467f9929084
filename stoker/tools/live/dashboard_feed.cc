#include "stoker/tools/live/dashboard_feed.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// The columns of "ticks", before three for each stage: busy, starved, blocked.
constexpr const char* kColumns[] = {"t",      "rate",     "waited", "cpu",
                                    "memory", "resident", "read",   "written"};

double NumberIn(const Json& tick, const char* key) {
  const auto found = tick.find(key);
  return found != tick.end() && found->is_number() ? found->get<double>() : kUnknown;
}

Json RowsToJson(const ThinnedRows& rows) {
  Json all = Json::array();
  for (const ThinnedRows::Row& row : rows.rows()) {
    Json json = Json::array();
    for (const double value : row) json.push_back(FiniteOrNull(value));
    all.push_back(std::move(json));
  }
  return all;
}

Json PointsToJson(const NewPoints& points) {
  Json losses = Json::array(), evaluations = Json::array();
  for (const TrainPoint& point : points.losses) {
    losses.push_back({FiniteOrNull(point.step), FiniteOrNull(point.loss), FiniteOrNull(point.lr)});
  }
  for (const EvaluationPoint& point : points.evaluations) {
    evaluations.push_back(
        {FiniteOrNull(point.step), FiniteOrNull(point.loss), OrNull(point.accuracy)});
  }
  return {{"losses", std::move(losses)}, {"evaluations", std::move(evaluations)}};
}

// Per second, of a counter; unknown where it began anew.
double Rate(double before, double after, double seconds) {
  return seconds > 0 && after >= before ? (after - before) / seconds : kUnknown;
}

double SamplesOf(const LiveFacts& facts) {
  if (facts.train) return static_cast<double>(facts.train->samples);
  return facts.work ? static_cast<double>(facts.work->samples) : kUnknown;
}

double SecondsLeft(const TrainFacts& train) {
  const auto done = static_cast<double>(train.step - train.first_step);
  return train.step_seconds / done * static_cast<double>(train.total_steps - train.step);
}

void AddTraining(const TrainFacts& train, Json& tick) {
  tick["step"] = train.step;
  tick["total_steps"] = train.total_steps;
  if (train.steps_per_epoch > 0) {
    tick["epoch"] = train.step > 0 ? (train.step - 1) / train.steps_per_epoch + 1 : 0;
    tick["epochs"] = (train.total_steps + train.steps_per_epoch - 1) / train.steps_per_epoch;
  }
  if (train.step > train.first_step) {
    tick["loss"] = FiniteOrNull(train.loss);
    tick["lr"] = FiniteOrNull(train.lr);
    tick["left"] = FiniteOrNull(SecondsLeft(train));
  }
}

double Bytes(const MachineCounters& machine, int64_t DiskCounters::*counter) {
  double bytes = 0;
  for (const DiskCounters& disk : machine.disks) bytes += static_cast<double>(disk.*counter);
  return bytes;
}

// Between two readings; 0 if no time has passed.
double BusyShare(const CpuCounters& before, const CpuCounters& after) {
  const auto busy = static_cast<double>(after.busy - before.busy);
  const auto other = static_cast<double>(after.idle - before.idle + after.stolen - before.stolen);
  return busy + other > 0 ? std::clamp(busy / (busy + other), 0.0, 1.0) : 0;
}

void AddGpus(const std::vector<GpuSample>& gpus, Json& tick) {
  if (gpus.empty()) return;
  Json list = Json::array();
  for (const GpuSample& gpu : gpus) {
    list.push_back({{"name", gpu.name},
                    {"used", OrNull(gpu.used)},
                    {"memory", OrNull(gpu.memory_used_bytes)},
                    {"memory_size", OrNull(gpu.memory_bytes)},
                    {"power", OrNull(gpu.power_w)},
                    {"temperature", OrNull(gpu.temperature_c)}});
  }
  tick["gpus"] = std::move(list);
}

}  // namespace

void DashboardFeed::AddMachine(const Reading& now, Json& tick) const {
  const MachineCounters& machine = now.machine.counters;
  const MemoryUse& memory = machine.memory;
  if (memory.total_bytes && memory.available_bytes) {
    tick["memory"] = *memory.total_bytes - *memory.available_bytes;
    tick["memory_size"] = *memory.total_bytes;
  }
  if (now.machine.process.resident_bytes) tick["resident"] = *now.machine.process.resident_bytes;
  AddGpus(now.machine.gpus, tick);
  if (!before_) return;
  const MachineCounters& then = before_->machine.counters;
  const double seconds = now.seconds - before_->seconds;
  const auto disk = [&](int64_t DiskCounters::*counter) {
    return FiniteOrNull(Rate(Bytes(then, counter), Bytes(machine, counter), seconds));
  };
  tick["read"] = disk(&DiskCounters::read_bytes);
  tick["written"] = disk(&DiskCounters::written_bytes);
  if (then.cpus.size() != machine.cpus.size() || machine.cpus.empty()) return;
  Json cpus = Json::array();
  double sum = 0;
  for (size_t i = 0; i < machine.cpus.size(); ++i) {
    const double share = BusyShare(then.cpus[i], machine.cpus[i]);
    cpus.push_back(share);
    sum += share;
  }
  tick["cpu"] = sum / static_cast<double>(machine.cpus.size());
  tick["cpus"] = std::move(cpus);
}

void DashboardFeed::AddStages(const Reading& now, Json& tick) const {
  const std::vector<StageProfile>& stages = now.facts.pipeline.stages;
  if (stages.empty() || !before_) return;
  const Profile& then = before_->facts.pipeline;
  const bool same =
      std::ranges::equal(stages, then.stages, {}, &StageProfile::name, &StageProfile::name);
  // Counters are read less often than once a second if steps are long: by the time of the pipeline.
  const double seconds = now.facts.pipeline.wall_s - (same ? then.wall_s : 0);
  Json list = Json::array();
  for (size_t i = 0; i < stages.size(); ++i) {
    const StageProfile& a = same ? then.stages[i] : StageProfile();
    const StageProfile& b = stages[i];
    list.push_back({{"name", b.name},
                    {"rate", FiniteOrNull(Rate(static_cast<double>(a.elements),
                                               static_cast<double>(b.elements), seconds))},
                    {"busy", FiniteOrNull(Rate(a.busy_s, b.busy_s, seconds))},
                    {"starved", FiniteOrNull(Rate(a.starved_s, b.starved_s, seconds))},
                    {"blocked", FiniteOrNull(Rate(a.blocked_s, b.blocked_s, seconds))}});
  }
  tick["stages"] = std::move(list);
}

void DashboardFeed::Keep(const NewPoints& points, const Json& tick) {
  for (const TrainPoint& point : points.losses) losses_.Add({point.step, point.loss, point.lr});
  for (const EvaluationPoint& point : points.evaluations)
    evaluations_.Add({point.step, point.loss, point.accuracy.value_or(kUnknown)});
  ThinnedRows::Row row;
  for (const char* column : kColumns) row.push_back(NumberIn(tick, column));
  std::vector<std::string> names;
  for (const Json& stage : tick.value("stages", Json::array())) {
    names.push_back(stage["name"]);
    for (const char* kind : {"busy", "starved", "blocked"}) row.push_back(NumberIn(stage, kind));
  }
  // A doctor measures one pipeline after the other.
  if (!names.empty() && names != stages_) {
    if (!stages_.empty()) ticks_.Clear();
    stages_ = std::move(names);
  }
  ticks_.Add(row);
}

Json DashboardFeed::Tick(double seconds, const LiveFacts& facts, const NewPoints& points,
                         const MachineUsage& machine) {
  Reading now{.seconds = seconds, .facts = facts, .machine = machine};
  Json tick = PointsToJson(points);
  tick["t"] = seconds;
  tick["phase"] = facts.phase;
  tick["noun"] = facts.noun;
  tick["waits"] = facts.waits;
  tick["run"] = facts.run;
  tick["model"] = facts.model;
  tick["device"] = facts.device;
  if (facts.train) AddTraining(*facts.train, tick);
  if (facts.work && facts.work->planned >= 0) tick["planned"] = facts.work->planned;
  if (facts.work) tick["done"] = facts.work->samples;
  if (before_) {
    const double passed = seconds - before_->seconds;
    tick["rate"] = FiniteOrNull(Rate(SamplesOf(before_->facts), SamplesOf(facts), passed));
    if (facts.train && before_->facts.train) {
      const TrainFacts& a = *before_->facts.train;
      const TrainFacts& b = *facts.train;
      tick["waited"] =
          FiniteOrNull(Rate(a.waited_seconds, b.waited_seconds, b.step_seconds - a.step_seconds));
    }
  }
  AddMachine(now, tick);
  AddStages(now, tick);
  Keep(points, tick);
  before_ = std::move(now);
  last_ = tick;
  return tick;
}

Json DashboardFeed::Whole() const {
  return {{"about", about_},
          {"columns", std::vector<std::string>(std::begin(kColumns), std::end(kColumns))},
          {"stages", stages_},
          {"losses", RowsToJson(losses_)},
          {"evaluations", RowsToJson(evaluations_)},
          {"ticks", RowsToJson(ticks_)},
          {"last", last_}};
}

}  // namespace stoker
