// What the first thread of a program waits for.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/doctor/process_finding_internal.h"

namespace stoker {
namespace {

// A main thread that waits less than this for others is kept busy by them.
constexpr double kLeastWait = 0.2;
// One worker is to blame if it works so much of the time while the others work so little.
constexpr double kBusyWorker = 0.7, kIdleWorkers = 0.4;
// The threads of one interpreter compute one at a time: together so many CPUs.
constexpr double kLeastOfOneCpu = 0.7, kMostOfOneCpu = 1.25;
constexpr double kWantsTheLock = 0.15, kComputes = 0.05;

Finding Found(Verdict verdict, double lost, std::string why) {
  return {.verdict = verdict, .lost = lost, .total = 1, .why = std::move(why)};
}

// The mean of what workers do while they do not wait for something to do.
ThreadTimes MeanOf(const std::vector<const ProcessTimes*>& workers) {
  ThreadTimes mean;
  const auto count = static_cast<double>(workers.size());
  for (const ProcessTimes* each : workers) {
    mean.cpu += (each->first.cpu + each->first.queued) / count;
    mean.disk += each->first.disk / count;
    mean.lock += each->first.lock / count;
    mean.network += each->first.network / count;
    mean.sleep += each->first.sleep / count;
  }
  return mean;
}

double WorkOf(const ThreadTimes& times) {
  return times.cpu + times.queued + times.disk + times.network + times.sleep;
}

// The place of the only worker that works most of the time; -1: there is none.
int64_t OneSlow(const std::vector<const ProcessTimes*>& workers) {
  if (workers.size() < 2) return -1;
  const auto slow = std::ranges::max_element(
      workers, {}, [](const ProcessTimes* each) { return WorkOf(each->first); });
  double others = 0;
  for (const ProcessTimes* each : workers) others += WorkOf(each->first);
  others = (others - WorkOf((*slow)->first)) / static_cast<double>(workers.size() - 1);
  if (WorkOf((*slow)->first) < kBusyWorker || others > kIdleWorkers) return -1;
  return slow - workers.begin();
}

// More workers help while they find CPUs.
void PrescribeWorkers(const ProcessProfile& profile, int64_t workers, Finding& finding) {
  const double free = static_cast<double>(profile.cpus) - profile.cpus_used();
  const auto wanted = workers + static_cast<int64_t>(free);
  if (wanted <= workers) return;
  const double part = 1 - static_cast<double>(workers) / static_cast<double>(wanted);
  Prescribe(finding, WordsForWorkers(profile.framework, wanted), part,
            fmt::format("{:.1f} of {} CPUs are free", free, profile.cpus));
}

// What /proc cannot tell: lines that take a lock, decoders, the line that is to blame.
Verdict WorkVerdict(const ProcessProfile& profile) {
  const bool decodes = profile.python && profile.python->decode_share >= 0.5;
  return decodes ? Verdict::kDecode : Verdict::kAugmentation;
}

std::string At(const ProcessProfile& profile, const Blame& (*of)(const PythonView&)) {
  return profile.python ? At(of(*profile.python)) : "";
}
const Blame& WorkOfView(const PythonView& view) { return view.work; }
const Blame& LockOfView(const PythonView& view) { return view.lock; }

bool ReadsFiles(const ProcessProfile& profile) {
  return profile.python && profile.python->read_share >= 0.5;
}
bool TakesLocks(const ProcessProfile& profile) {
  return profile.python && profile.python->lock_share >= 0.4;
}

Finding OfLock(const ProcessProfile& profile, double lost) {
  Finding finding =
      Found(Verdict::kLock, lost,
            fmt::format("those that work for the first thread wait {} of their time for a lock{}",
                        Percent(profile.python->lock_share), At(profile, LockOfView)));
  finding.stage = profile.python->lock.place;
  Prescribe(finding, "hold the lock for less, or give each worker what it needs for itself", 0.7,
            "workers that share a lock work one at a time");
  return finding;
}

// What the lines of workers say, where stacks were recorded.
std::optional<Finding> InLinesOfWorkers(const ProcessProfile& profile, double wait,
                                        std::string_view begin) {
  if (TakesLocks(profile)) return OfLock(profile, wait);
  if (ReadsFiles(profile)) {
    Finding finding =
        Found(Verdict::kStorage, wait,
              fmt::format("{}, which read files {} of theirs{}", begin,
                          Percent(profile.python->read_share), At(profile, WorkOfView)));
    finding.stage = profile.python->work.place;
    Prescribe(finding, "keep samples in few large files, or in memory (`stoker pack` makes such)",
              0.8, "each worker waits for its reads one after the other");
    return finding;
  }
  return std::nullopt;
}

Finding OfWorkers(const ProcessProfile& profile, double wait) {
  const std::vector<const ProcessTimes*> workers = profile.workers();
  const auto count = static_cast<int64_t>(workers.size());
  const std::string begin = fmt::format("the first thread waits {} of the time for {} worker{}",
                                        Percent(wait), count, count == 1 ? "" : "s");
  if (const int64_t slow = OneSlow(workers); slow >= 0) {
    const ProcessTimes& worker = *workers[static_cast<size_t>(slow)];
    Finding finding = Found(
        Verdict::kSlowElement, wait,
        fmt::format("{}, of which one (pid {}) works {} of the time and the others wait for it",
                    begin, worker.pid, Percent(WorkOf(worker.first))));
    Prescribe(finding, "deal the expensive samples out evenly, or prepare them beforehand", 0.9,
              "batches are taken in order, so all wait for the slowest worker");
    return finding;
  }
  const ThreadTimes mean = MeanOf(workers);
  if (auto finding = InLinesOfWorkers(profile, wait, begin)) return *std::move(finding);
  const double most = std::max({mean.cpu, mean.disk, mean.lock, mean.network, mean.sleep});
  if (most < 0.1) {
    return Found(Verdict::kUnknown, wait,
                 begin + ", and the workers wait too: what they wait for cannot be seen in /proc");
  }
  if (most == mean.disk) {
    Finding finding =
        Found(Verdict::kStorage, wait,
              fmt::format("{}, which wait {} of theirs for a disk", begin, Percent(mean.disk)));
    Prescribe(finding, "keep samples in few large files, or in memory (`stoker pack` makes such)",
              0.8, "each worker waits for its reads one after the other");
    Prescribe(finding, WordsForWorkers(profile.framework, 2 * count), 0.5,
              "more reads are then under way at the same time");
    return finding;
  }
  if (most == mean.lock) {
    Finding finding = Found(Verdict::kLock, wait,
                            fmt::format("{}, which wait {} of theirs for a lock, and compute {}",
                                        begin, Percent(mean.lock), Percent(mean.cpu)));
    Prescribe(finding, "hold the lock of the workers for less, or give each worker its own", 0.7,
              "workers that share a lock work one at a time");
    return finding;
  }
  if (most == mean.network) {
    Finding finding = Found(
        Verdict::kNetwork, wait,
        fmt::format("{}, which wait {} of theirs for a server", begin, Percent(mean.network)));
    Prescribe(finding, WordsForWorkers(profile.framework, 4 * count), 0.6,
              "more requests are then under way at the same time");
    return finding;
  }
  Finding finding = Found(
      WorkVerdict(profile), wait,
      most == mean.sleep ? fmt::format("{}, which sleep {} of theirs", begin, Percent(mean.sleep))
                         : fmt::format("{}, which compute {} of theirs", begin, Percent(mean.cpu)));
  finding.why += At(profile, WorkOfView);
  if (profile.python) finding.stage = profile.python->work.place;
  PrescribeWorkers(profile, count, finding);
  Prescribe(finding, "make the transforms of samples cheaper, or their results beforehand", 0.8,
            "the workers do not keep up with the training");
  return finding;
}

// The share of the time in which the first thread waits for batches or threads, by its stacks; 0:
// there are none.
double Waits(const ProcessProfile& profile) {
  if (!profile.python || !profile.python->trains) return 0;
  return profile.python->of(PythonPart::kThreads).share + profile.python->waits_for_workers;
}

// Threads of one process that take turns, because of Python's interpreter lock.
bool TakeTurns(const ProcessProfile& profile, const ProcessTimes& main) {
  // Threads of libraries, such as that of the backward pass, take turns without it.
  if (profile.python && profile.python->working_threads == 0) return false;
  // On a busy machine threads that wait for the interpreter lock are seen to wait for a CPU, as
  // they wake up to ask for it, and so is the one that has it. Decoders and reads do without it.
  const bool queues = HasThreadsOfItsOwn(profile) && profile.python->decode_share < 0.5 &&
                      profile.python->read_share < 0.5;
  int64_t computing = 0, wanting = 0;
  double sum = 0, wanted = 0;
  std::vector<ThreadTimes> threads = main.others;
  threads.push_back(main.first);
  for (const ThreadTimes& each : threads) {
    const double queued = queues ? each.queued : 0;
    sum += each.cpu;
    wanted += each.cpu + queued;
    if (each.cpu + queued < kComputes) continue;
    ++computing;
    if (each.lock + queued >= kWantsTheLock) ++wanting;
  }
  return computing >= 2 && 2 * wanting > computing && wanted >= kLeastOfOneCpu &&
         sum <= kMostOfOneCpu && profile.cpus >= 2;
}

// tf.data makes samples in threads of its own, below Python, whose names and stacks say nothing:
// but where a map is not parallel, and CPUs have nothing to do, the first thread waits for that
// map.
std::optional<Finding> OfSerialMap(const ProcessProfile& profile, const ProcessTimes& main) {
  const double used = profile.cpus_used() / static_cast<double>(profile.cpus);
  const double idle = 1 - used;
  if (profile.loader.serial_map.empty() || idle < kLeastWait || main.first.waits() < 0.5)
    return std::nullopt;
  Finding finding = Found(Verdict::kThreads, idle,
                          fmt::format("the first thread waits {} of the time, {} of the CPUs have "
                                      "nothing to do, and `map` makes one sample after the other",
                                      Percent(main.first.waits()), Percent(idle)));
  finding.stage = profile.loader.serial_map;
  Prescribe(finding,
            fmt::format("{}: {}", finding.stage, WordsForWorkers(profile.framework, profile.cpus)),
            1, "samples are then made on all CPUs, and while steps compute");
  return finding;
}

std::optional<Finding> OfThreads(const ProcessProfile& profile, const ProcessTimes& main) {
  if (auto finding = OfSerialMap(profile, main)) return finding;
  double wait = main.first.lock, disk = 0, work = main.first.cpu;
  int64_t locked = main.first.lock >= 0.5 ? 1 : 0;
  for (const ThreadTimes& each : main.others) {
    disk += each.disk;
    work += each.cpu + each.queued + each.network + each.sleep;
    if (each.lock >= 0.5) ++locked;
  }
  if (TakesLocks(profile) && std::max(wait, Waits(profile)) >= kLeastWait)
    return OfLock(profile, std::max(wait, Waits(profile)));
  if (TakeTurns(profile, main)) {
    const double cpus = static_cast<double>(profile.cpus);
    Finding finding = Found(Verdict::kPython, 1 - 1 / std::min(cpus, 4.0),
                            fmt::format("several threads of the process compute, but together "
                                        "only {:.1f} of {} CPUs: they take turns",
                                        main.cpus, profile.cpus));
    finding.why += At(profile, WorkOfView);
    if (profile.python) finding.stage = profile.python->work.place;
    Prescribe(finding,
              "processes instead of threads: " + WordsForWorkers(profile.framework, profile.cpus),
              0.8, "one thread of a Python process computes at a time");
    return finding;
  }
  if (wait < kLeastWait) return std::nullopt;
  if (disk >= 0.3) {
    Finding finding = Found(Verdict::kStorage, wait,
                            fmt::format("the first thread waits {} of the time for others, which "
                                        "wait for a disk",
                                        Percent(wait)));
    Prescribe(finding, "keep samples in few large files, or in memory (`stoker pack` makes such)",
              0.8, "reads wait for the disk one after the other");
    return finding;
  }
  if (wait >= 0.5 && locked >= 2 && work < 0.3) {
    Finding finding = Found(Verdict::kLock, wait,
                            fmt::format("{} threads wait for locks most of the time, and all "
                                        "together use {:.1f} CPUs",
                                        locked, main.cpus));
    Prescribe(finding, "hold the lock for less", 0.7, "threads that share a lock take turns");
    return finding;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> FindInWaits(const ProcessProfile& profile) {
  const ProcessTimes* const main = profile.main();
  if (main == nullptr) return std::nullopt;
  const ThreadTimes& first = main->first;
  if (first.disk >= kLeastLoss && first.disk >= first.waits()) {
    Finding finding =
        Found(Verdict::kStorage, first.disk,
              fmt::format("the first thread waits {} of the time for a disk, {:.1f} MB a second",
                          Percent(first.disk), 1e-6 * main->disk_bytes_per_s));
    const int64_t workers = std::max<int64_t>(4, profile.cpus);
    Prescribe(finding, WordsForWorkers(profile.framework, workers), 0.8,
              "samples are then read while others are computed with");
    Prescribe(finding, "keep samples in few large files, or in memory (`stoker pack` makes such)",
              0.7, "a file of its own for each sample costs a wait for each");
    return finding;
  }
  if (!profile.workers().empty()) {
    // Stacks know which waits are for batches; without them all are taken to be.
    const double wait = profile.python && profile.python->trains
                            ? Waits(profile) * ShareOfSteps(profile)
                            : first.waits();
    if (wait < kLeastWait) return std::nullopt;
    return OfWorkers(profile, wait);
  }
  if (first.network >= kLeastWait) {
    Finding finding = Found(
        Verdict::kNetwork, first.network,
        fmt::format("the first thread waits {} of the time for a server", Percent(first.network)));
    Prescribe(finding, WordsForWorkers(profile.framework, 8), 0.8,
              "several requests are then under way at the same time");
    return finding;
  }
  return OfThreads(profile, *main);
}

}  // namespace stoker
