#include "stoker/tools/top/top_rates.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// Publications say the same again until the next one, and clocks of two files differ a little.
constexpr double kLeastWindow = 0.05;

double Positive(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

double Difference(int64_t before, int64_t after) {
  return Positive(static_cast<double>(after) - static_cast<double>(before));
}

int64_t CountBetween(int64_t before, int64_t after) {
  return after > before && before >= 0 ? after - before : 0;
}

double ShareOfTime(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

template <typename T, typename Key>
const T* SameIn(const std::vector<T>& all, const T& wanted, Key T::*key) {
  const auto found = std::ranges::find(all, wanted.*key, key);
  return found == all.end() ? nullptr : &*found;
}

std::vector<CpuRate> CpuRates(const MachineCounters& before, const MachineCounters& after) {
  std::vector<CpuRate> rates;
  for (const CpuCounters& now : after.cpus) {
    const CpuCounters* const then = SameIn(before.cpus, now, &CpuCounters::id);
    if (then == nullptr) continue;
    const double busy = Difference(then->busy, now.busy);
    const double stolen = Difference(then->stolen, now.stolen);
    const double all = busy + stolen + Difference(then->idle, now.idle);
    rates.push_back(
        {.id = now.id, .busy = ShareOfTime(busy, all), .stolen = ShareOfTime(stolen, all)});
  }
  return rates;
}

std::vector<DiskRate> DiskRates(const MachineCounters& before, const MachineCounters& after,
                                double seconds) {
  std::vector<DiskRate> rates;
  for (const DiskCounters& now : after.disks) {
    const DiskCounters* const then = SameIn(before.disks, now, &DiskCounters::name);
    if (then == nullptr) continue;
    rates.push_back(
        {.name = now.name,
         .busy = ShareOfTime(1e-3 * Difference(then->busy_ms, now.busy_ms), seconds),
         .read_bytes_per_s = Difference(then->read_bytes, now.read_bytes) / seconds,
         .written_bytes_per_s = Difference(then->written_bytes, now.written_bytes) / seconds});
  }
  std::ranges::stable_sort(rates, std::ranges::greater(), [](const DiskRate& rate) {
    return std::pair(rate.busy, rate.read_bytes_per_s + rate.written_bytes_per_s);
  });
  return rates;
}

std::vector<NetworkRate> NetworkRates(const MachineCounters& before, const MachineCounters& after,
                                      double seconds) {
  std::vector<NetworkRate> rates;
  for (const NetworkCounters& now : after.networks) {
    const NetworkCounters* const then = SameIn(before.networks, now, &NetworkCounters::name);
    if (then == nullptr) continue;
    rates.push_back(
        {.name = now.name,
         .received_bytes_per_s = Difference(then->received_bytes, now.received_bytes) / seconds,
         .sent_bytes_per_s = Difference(then->sent_bytes, now.sent_bytes) / seconds});
  }
  std::ranges::stable_sort(rates, std::ranges::greater(), [](const NetworkRate& rate) {
    return rate.received_bytes_per_s + rate.sent_bytes_per_s;
  });
  return rates;
}

PublishedWork WorkBetween(const PublishedWork& a, const PublishedWork& b) {
  return {.seconds = Positive(b.seconds - a.seconds),
          .steps = CountBetween(a.steps, b.steps),
          .samples = CountBetween(a.samples, b.samples),
          .step_s = Positive(b.step_s - a.step_s),
          .waited_s = Positive(b.waited_s - a.waited_s),
          .cpu_s = Positive(b.cpu_s - a.cpu_s),
          .evaluations = CountBetween(a.evaluations, b.evaluations),
          .evaluation_s = Positive(b.evaluation_s - a.evaluation_s),
          .checkpoints = CountBetween(a.checkpoints, b.checkpoints),
          .checkpoint_s = Positive(b.checkpoint_s - a.checkpoint_s),
          .logging_s = Positive(b.logging_s - a.logging_s),
          .callback_s = Positive(b.callback_s - a.callback_s)};
}

// A pipeline that was opened again counts from 0: its stages are then compared with nothing.
std::vector<PublishedStage> StagesBetween(const std::optional<PublishedInput>& before,
                                          const std::optional<PublishedInput>& after) {
  std::vector<PublishedStage> stages;
  if (!after) return stages;
  for (size_t i = 0; i < after->stages.size(); ++i) {
    const PublishedStage& now = after->stages[i];
    const bool known = before && i < before->stages.size() && before->stages[i].name == now.name &&
                       before->stages[i].elements <= now.elements;
    const PublishedStage then = known ? before->stages[i] : PublishedStage();
    stages.push_back({.name = now.name,
                      .work = now.work,
                      .elements = CountBetween(then.elements, now.elements),
                      .bytes = CountBetween(then.bytes, now.bytes),
                      .busy_s = Positive(now.busy_s - then.busy_s),
                      .starved_s = Positive(now.starved_s - then.starved_s),
                      .blocked_s = Positive(now.blocked_s - then.blocked_s)});
  }
  return stages;
}

// The newest publication that is at least a window older than the last one, of the same process;
// null: none was seen.
const PublishedProgress* BeginOfWindow(const TopHistory& history) {
  const PublishedProgress& last = *history.now().progress;
  const PublishedProgress* oldest = nullptr;
  for (auto each = history.samples.rbegin(); each != history.samples.rend(); ++each) {
    if (!each->progress) break;
    const PublishedProgress& progress = *each->progress;
    if (progress.pid != last.pid || progress.host != last.host ||
        progress.work.seconds > last.work.seconds)
      break;  // another process of the run
    oldest = &progress;
    if (last.work.seconds - progress.work.seconds >= kWindowSeconds) break;
  }
  // Without a step it says nothing that is not 0.
  return oldest != nullptr && oldest->input ? oldest : nullptr;
}

}  // namespace

double MachineRates::cpu_busy() const {
  double sum = 0;
  for (const CpuRate& cpu : cpus) sum += cpu.busy;
  return cpus.empty() ? 0 : sum / static_cast<double>(cpus.size());
}

MachineRates MachineRatesOf(const TopHistory& history) {
  if (history.samples.size() < 2) return {};
  const TopSample& before = history.samples[history.samples.size() - 2];
  const TopSample& after = history.now();
  const double seconds = after.at_s - before.at_s;
  if (!(seconds > 0)) return {};
  return {.cpus = CpuRates(before.machine, after.machine),
          .disks = DiskRates(before.machine, after.machine, seconds),
          .networks = NetworkRates(before.machine, after.machine, seconds)};
}

std::optional<RunWindow> RunWindowOf(const TopHistory& history) {
  if (!history.now().progress || !history.now().progress->input) return std::nullopt;
  const PublishedProgress& last = *history.now().progress;
  const PublishedProgress* begin = BeginOfWindow(history);
  const double since_begin = begin == nullptr ? 0 : last.work.seconds - begin->work.seconds;
  if (since_begin < kLeastWindow) begin = nullptr;
  RunWindow window;
  window.work = begin == nullptr ? last.work : WorkBetween(begin->work, last.work);
  window.stages = StagesBetween(begin == nullptr ? std::nullopt : begin->input, last.input);
  window.seconds = Positive(window.work.seconds);
  if (window.seconds < kLeastWindow) return std::nullopt;
  for (const PublishedStage& stage : window.stages) {
    window.rates.push_back({.name = stage.name,
                            .work = stage.work,
                            .busy = stage.busy_s / window.seconds,
                            .starved = stage.starved_s / window.seconds,
                            .blocked = stage.blocked_s / window.seconds,
                            .elements_per_s = static_cast<double>(stage.elements) / window.seconds,
                            .bytes_per_s = static_cast<double>(stage.bytes) / window.seconds});
  }
  return window;
}

TimeShares TimeSharesOf(const RunWindow& window) {
  const PublishedWork& work = window.work;
  const double steps = Positive(work.step_s);
  const double wait = std::min(Positive(work.waited_s), steps);
  const double known =
      steps + Positive(work.evaluation_s) + Positive(work.checkpoint_s) + Positive(work.logging_s);
  // A step that began before the window may end in it.
  const double all = std::max(window.seconds, known);
  return {.compute = ShareOfTime(steps - wait, all),
          .wait = ShareOfTime(wait, all),
          .evaluation = ShareOfTime(Positive(work.evaluation_s), all),
          .checkpoint = ShareOfTime(Positive(work.checkpoint_s), all),
          .logging = ShareOfTime(Positive(work.logging_s), all),
          .other = ShareOfTime(all - known, all)};
}

std::vector<double> ThroughputOf(const TopHistory& history, size_t most) {
  std::vector<double> rates;
  const size_t count = std::min(most, history.samples.size());
  for (size_t i = history.samples.size() - count; i < history.samples.size(); ++i) {
    const auto& progress = history.samples[i].progress;
    if (progress && progress->input) rates.push_back(Positive(progress->samples_per_s));
  }
  return rates;
}

std::optional<double> ClockDrift(const GpuSample& gpu) {
  if (!gpu.clock_mhz || gpu.most_clock_mhz.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*gpu.clock_mhz) / static_cast<double>(*gpu.most_clock_mhz) - 1;
}

}  // namespace stoker
