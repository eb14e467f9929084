// What the machine does not give a program: CPUs for its threads, memory.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/doctor/process_finding_internal.h"

namespace stoker {
namespace {

// A thread that wants a CPU less than this does not count among those that compute.
constexpr double kWants = 0.01;
// So many times as many threads as CPUs, which wait so much of their time, are too many. On a
// machine that others use, waiting alone says nothing.
constexpr double kTooMany = 2, kQueued = 0.35;
// And all together they want so many times the CPUs that there are. The pool of JAX and a loop in
// Python beside it want 1.5 times two CPUs, and gain a tenth at most from fewer threads.
constexpr double kWantedTimes = 1.6;
// What waiting for a CPU costs beyond the CPUs that there are, such as caches and barriers.
constexpr double kCostOfQueues = 0.6;

constexpr double kLeastThrottled = 0.2;
constexpr double kLeastPressure = 0.1;
constexpr double kLeastSwap = 1 << 20;  // bytes a second
constexpr double kManyMajorFaults = 100;
// Pages that are given back and taken anew: so much of the time, and so many bytes a second, of
// pages whose faults are counted by process, and of huge pages, which the kernel counts for the
// machine.
constexpr double kSystemShare = 0.4, kMuchNewMemory = 80e6, kPage = 4096;

struct Wanting {
  int64_t threads = 0;
  double cpu = 0, queued = 0;

  void Add(const ThreadTimes& times) {
    if (times.cpu + times.queued < kWants) return;
    ++threads;
    cpu += times.cpu;
    queued += times.queued;
  }
  double queued_share() const { return queued / std::max(cpu + queued, 1e-9); }
};

bool TooMany(const Wanting& wanting, int64_t cpus) {
  return static_cast<double>(wanting.threads) >= kTooMany * static_cast<double>(cpus) &&
         wanting.queued_share() >= kQueued &&
         wanting.cpu + wanting.queued > kWantedTimes * static_cast<double>(cpus);
}

Finding OfTooMany(const Wanting& wanting, int64_t cpus, std::string_view what, std::string words) {
  Finding finding{.verdict = Verdict::kThreads,
                  .lost = kCostOfQueues * wanting.queued_share(),
                  .total = 1,
                  .why = fmt::format("{} {} want {} CPUs, and wait {} of that time for one",
                                     wanting.threads, what, cpus, Percent(wanting.queued_share()))};
  finding.prescriptions.push_back(Predicted(std::nullopt, std::move(words), GainOf(1, finding.lost),
                                            "as many threads as CPUs do not wait for each other"));
  return finding;
}

}  // namespace

bool HasThreadsOfItsOwn(const ProcessProfile& profile) {
  return profile.python && profile.python->working_threads >= 2;
}

std::optional<Finding> FindInThreads(const ProcessProfile& profile) {
  const ProcessTimes* const main = profile.main();
  if (main == nullptr) return std::nullopt;
  Wanting threads;
  threads.Add(main->first);
  for (const ThreadTimes& each : main->others) threads.Add(each);
  // What waits for the interpreter lock wakes up again and again, and waits for a CPU then.
  if (TooMany(threads, profile.cpus) && !HasThreadsOfItsOwn(profile)) {
    return OfTooMany(threads, profile.cpus, "threads of the process",
                     WordsForThreads(profile.framework, profile.cpus));
  }
  Wanting workers;
  for (const ProcessTimes* each : profile.workers()) workers.Add(each->first);
  if (TooMany(workers, profile.cpus)) {
    return OfTooMany(workers, profile.cpus, "workers",
                     WordsForWorkers(profile.framework, profile.cpus));
  }
  return std::nullopt;
}

std::optional<Finding> FindInQuota(const ProcessProfile& profile) {
  const double share = profile.machine.throttled_share;
  if (!(share >= kLeastThrottled)) return std::nullopt;
  Finding finding{.verdict = Verdict::kThreads,
                  .lost = 0.5 * share,
                  .total = 1,
                  .why = fmt::format("the control group's quota of CPU stopped it in {} of the "
                                     "periods",
                                     Percent(share))};
  finding.prescriptions.push_back(Predicted(
      std::nullopt, WordsForThreads(profile.framework, profile.cpus), GainOf(1, 0.3 * share),
      "threads beyond the quota use it up early, and then all of them stand"));
  finding.prescriptions.push_back(Predicted(std::nullopt, "allow the container more CPUs",
                                            GainOf(1, 0.5 * share), "the quota is used up"));
  return finding;
}

std::optional<Finding> FindInMemory(const ProcessProfile& profile) {
  const ProcessTimes* const main = profile.main();
  if (main == nullptr) return std::nullopt;
  const double pressure = profile.machine.memory_pressure.value_or(0);
  const bool swaps = profile.machine.swapped_bytes_per_s >= kLeastSwap;
  const bool faults = main->major_faults_per_s >= kManyMajorFaults;
  Finding finding{.verdict = Verdict::kMemory, .total = 1};
  if (pressure >= kLeastPressure || swaps || (faults && main->first.disk >= kLeastLoss)) {
    finding.lost = std::min(0.95, std::max({pressure, main->first.disk, swaps ? 0.2 : 0.0}));
    finding.why = fmt::format(
        "memory is short: tasks waited {} of the time for it, {:.1f} MB a second were swapped, and "
        "{:.0f} pages a second came back from a disk",
        Percent(pressure), 1e-6 * profile.machine.swapped_bytes_per_s, main->major_faults_per_s);
    finding.prescriptions.push_back(
        Predicted(std::nullopt, "keep fewer samples in memory, or give the program more of it",
                  GainOf(1, 0.8 * finding.lost), "what is read again and again does not fit"));
    return finding;
  }
  const double renewed =
      main->minor_faults_per_s * kPage + std::max(0.0, profile.machine.huge_page_bytes_per_s);
  if (main->system_share >= kSystemShare && renewed >= kMuchNewMemory) {
    finding.lost = std::min(0.9, main->system_share * std::min(1.0, main->cpus));
    finding.why = fmt::format(
        "{} of its CPU time goes into the kernel, which gives it {:.0f} MB of new pages a second",
        Percent(main->system_share), 1e-6 * renewed);
    finding.prescriptions.push_back(Predicted(
        std::nullopt, "make large arrays once and use them again (out=, in-place operations)",
        GainOf(1, 0.7 * finding.lost), "memory is given back and taken anew all the time"));
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> FindIdle(const ProcessProfile& profile) {
  const ProcessTimes* const main = profile.main();
  constexpr double kHardly = 0.05;
  if (main == nullptr || profile.cpus_used() >= kHardly) return std::nullopt;
  if (profile.cuda && profile.cuda->busy >= kHardly) return std::nullopt;  // the GPU computes
  const ThreadTimes& first = main->first;
  const std::pair<double, std::string_view> waits[] = {{first.sleep, "sleeps"},
                                                       {first.lock, "waits for a lock"},
                                                       {first.poll, "waits for others"},
                                                       {first.network, "waits for a server"},
                                                       {first.read, "reads a pipe"},
                                                       {first.disk, "waits for a disk"},
                                                       {first.child, "waits for a process to end"},
                                                       {first.other, "waits"}};
  const auto& most = *std::ranges::max_element(waits);
  return Finding{.verdict = Verdict::kUnknown,
                 .lost = 1 - profile.cpus_used(),
                 .total = 1,
                 .why = fmt::format("the program hardly computes; its first thread {} {} of the "
                                    "time",
                                    most.second, Percent(most.first))};
}

}  // namespace stoker
