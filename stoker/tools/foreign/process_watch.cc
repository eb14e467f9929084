#include "stoker/tools/foreign/process_watch.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

double Rate(int64_t before, int64_t after, double seconds) {
  return seconds > 0 ? static_cast<double>(std::max<int64_t>(0, after - before)) / seconds : 0;
}

ProcessSample WithoutThreads(const ProcessSample& sample) {
  ProcessSample copy = sample;
  copy.threads.clear();
  return copy;
}

}  // namespace

void ProcessWatch::Add(std::span<const ProcessSample> samples, int64_t now_ns) {
  for (const ProcessSample& sample : samples) {
    const auto [place, is_new] = processes_.try_emplace({sample.start, sample.pid});
    Process& process = place->second;
    if (is_new) {
      process.first = WithoutThreads(sample);
      process.begin_ns = now_ns;
    }
    if (sample.ended) continue;  // its counters are gone
    process.last = WithoutThreads(sample);
    process.end_ns = now_ns;
    process.most_memory = std::max(process.most_memory, sample.memory_bytes);
    process.most_threads = std::max(process.most_threads, std::ssize(sample.threads));
    for (const ThreadSample& each : sample.threads) {
      const auto [known, thread_is_new] = process.threads.try_emplace(each.id);
      Thread& thread = known->second;
      if (thread_is_new) {
        thread.first = each;
        thread.begin_ns = now_ns;
      }
      thread.last = each;
      thread.end_ns = now_ns;
      ++thread.states[static_cast<size_t>(each.state)];
    }
  }
}

void ProcessWatch::SetCommand(int64_t pid, std::vector<std::string> words) {
  for (auto& [key, process] : processes_) {
    if (key.second != pid) continue;
    process.command = words;
    process.named = process.last.name;
  }
}

bool ProcessWatch::WantsCommand(const ProcessSample& sample) const {
  const auto known = processes_.find({sample.start, sample.pid});
  if (known == processes_.end()) return false;
  const std::vector<std::string>& command = known->second.command;
  // In the moment in which a process becomes a program it shows its name alone, in brackets.
  const bool shows_none = command.empty() || command.front().starts_with('[');
  return shows_none || known->second.named != sample.name;
}

// What the counters do not say, which is all but computing and waiting for a CPU, is divided as the
// samples of a thread that slept.
ThreadTimes ProcessWatch::TimesOf(const Thread& thread) {
  ThreadTimes times;
  const double seconds = Seconds(thread.end_ns - thread.begin_ns);
  if (seconds <= 0) return times;
  times.cpu = std::clamp(Seconds(thread.last.cpu_ns - thread.first.cpu_ns) / seconds, 0.0, 1.0);
  times.queued = std::clamp(Seconds(thread.last.queued_ns - thread.first.queued_ns) / seconds, 0.0,
                            1 - times.cpu);
  int64_t slept = 0;
  for (int state = 0; state < kThreadStates; ++state) {
    if (state != static_cast<int>(ThreadState::kRunning)) slept += thread.states[state];
  }
  const double rest = 1 - times.cpu - times.queued;
  const auto share = [&](ThreadState state) {
    const auto count = static_cast<double>(thread.states[static_cast<size_t>(state)]);
    return slept > 0 ? rest * count / static_cast<double>(slept) : 0;
  };
  times.disk = share(ThreadState::kDisk);
  times.lock = share(ThreadState::kLock);
  times.poll = share(ThreadState::kPoll);
  times.network = share(ThreadState::kNetwork);
  times.read = share(ThreadState::kRead);
  times.sleep = share(ThreadState::kSleep);
  times.child = share(ThreadState::kChild);
  times.other = slept > 0 ? share(ThreadState::kOther) + share(ThreadState::kEnded) : rest;
  return times;
}

ProcessTimes ProcessWatch::TimesOf(const Process& process) {
  constexpr size_t kMostThreads = 64;
  ProcessTimes times{.pid = process.last.pid,
                     .command = ShellWords(process.command),
                     .seconds = Seconds(process.end_ns - process.begin_ns),
                     .threads = process.most_threads,
                     .memory_bytes = process.most_memory};
  for (const auto& [id, thread] : process.threads) {
    times.switches_per_s += Rate(thread.first.slices, thread.last.slices, times.seconds);
    if (id == process.last.pid)
      times.first = TimesOf(thread);
    else if (thread.end_ns > thread.begin_ns)
      times.others.push_back(TimesOf(thread));
  }
  std::ranges::stable_sort(times.others, std::ranges::greater(),
                           [](const ThreadTimes& each) { return each.cpu + each.queued; });
  if (times.others.size() > kMostThreads) times.others.resize(kMostThreads);
  const ProcessSample& first = process.first;
  const ProcessSample& last = process.last;
  const int64_t user = last.user_ticks - first.user_ticks;
  const int64_t system = last.system_ticks - first.system_ticks;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (times.seconds > 0) times.cpus = static_cast<double>(user + system) / ticks / times.seconds;
  if (user + system > 0)
    times.system_share = static_cast<double>(system) / static_cast<double>(user + system);
  times.minor_faults_per_s = Rate(first.minor_faults, last.minor_faults, times.seconds);
  times.major_faults_per_s = Rate(first.major_faults, last.major_faults, times.seconds);
  if (first.disk_bytes && last.disk_bytes)
    times.disk_bytes_per_s = Rate(*first.disk_bytes, *last.disk_bytes, times.seconds);
  if (first.read_bytes && last.read_bytes)
    times.read_bytes_per_s = Rate(*first.read_bytes, *last.read_bytes, times.seconds);
  return times;
}

std::vector<ProcessTimes> ProcessWatch::Times() const {
  std::vector<ProcessTimes> times;
  std::map<int64_t, int64_t> parents;
  std::map<int64_t, std::vector<std::string>> commands;
  for (const auto& [key, process] : processes_) {
    if (process.end_ns <= process.begin_ns) continue;
    parents[key.second] = process.first.parent;
    commands[key.second] = process.command;
    times.push_back(TimesOf(process));
  }
  AssignRoles(times, parents, commands);
  std::ranges::stable_sort(times, std::ranges::greater(),
                           [](const ProcessTimes& each) { return each.cpus * each.seconds; });
  return times;
}

namespace {

class Tree {
 public:
  Tree(std::span<const ProcessTimes> processes, const std::map<int64_t, int64_t>& parents) {
    for (size_t i = 0; i < processes.size(); ++i) places_[processes[i].pid] = i;
    children_.resize(processes.size());
    work_.resize(processes.size());
    for (size_t i = 0; i < processes.size(); ++i) {
      const auto parent = parents.find(processes[i].pid);
      const auto place = parent == parents.end() ? places_.end() : places_.find(parent->second);
      if (place == places_.end() || place->second == i)
        roots_.push_back(i);
      else
        children_[place->second].push_back(i);
    }
    for (const size_t root : roots_) AddUp(root, processes);
  }

  const std::vector<size_t>& roots() const { return roots_; }
  const std::vector<size_t>& children(size_t i) const { return children_[i]; }

  // The one below which most was computed; `among` is not empty.
  size_t Busiest(const std::vector<size_t>& among) const {
    return *std::ranges::max_element(among, {}, [this](size_t i) { return work_[i]; });
  }

  std::vector<size_t> Below(size_t top) const {
    std::vector<size_t> found = children_[top];
    for (size_t i = 0; i < found.size(); ++i)
      found.insert(found.end(), children_[found[i]].begin(), children_[found[i]].end());
    return found;
  }

 private:
  double AddUp(size_t i, std::span<const ProcessTimes> processes) {
    work_[i] = processes[i].cpus * processes[i].seconds;
    for (const size_t child : children_[i]) work_[i] += AddUp(child, processes);
    return work_[i];
  }

  std::map<int64_t, size_t> places_;
  std::vector<std::vector<size_t>> children_;
  std::vector<double> work_;  // seconds of CPU, of it and all below it
  std::vector<size_t> roots_;
};

// A shell waits for its program, a launcher sleeps and looks at its programs now and then.
bool OnlyStartsOthers(const ProcessTimes& process) {
  return process.cpus < 0.05 && process.first.child + process.first.sleep >= 0.8;
}

bool Has(const std::vector<std::string>& words, std::string_view part) {
  return std::ranges::any_of(
      words, [part](const std::string& word) { return word.find(part) != std::string::npos; });
}

}  // namespace

void AssignRoles(std::vector<ProcessTimes>& processes, const std::map<int64_t, int64_t>& parents,
                 const std::map<int64_t, std::vector<std::string>>& commands) {
  if (processes.empty()) return;
  const Tree tree(processes, parents);
  size_t main = tree.Busiest(tree.roots());
  while (!tree.children(main).empty() && OnlyStartsOthers(processes[main]))
    main = tree.Busiest(tree.children(main));
  processes[main].role = ProcessRole::kMain;
  const auto words_of = [&](size_t i) {
    const auto found = commands.find(processes[i].pid);
    return found == commands.end() ? std::vector<std::string>() : found->second;
  };
  for (const size_t each : tree.Below(main)) {
    const std::vector<std::string> words = words_of(each);
    if (Has(words, "resource_tracker") || Has(words, "forkserver import main")) continue;
    if (words == words_of(main) || Has(words, "multiprocessing"))
      processes[each].role = ProcessRole::kWorker;
  }
}

}  // namespace stoker
