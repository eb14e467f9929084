#include "stoker/tools/top/top_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stoker/base/proc_text.h"
#include "stoker/machine/live/machine_counters.h"

namespace stoker {
namespace {

constexpr double kLookEvery = 1;

bool IsNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

TopWatch::TopWatch(Source source) : source_(std::move(source)) {
  history_.is_run = std::holds_alternative<RunSource>(source_);
  history_.host = ReadSmallText("/proc/sys/kernel/hostname");
}

Result<TopWatch> TopWatch::Open(const std::string& target, const std::string& runs) {
  std::error_code error;
  std::string name = target;
  if (target.empty()) {
    STOKER_ASSIGN_OR_RETURN(const std::filesystem::path newest, NewestRunningRun(runs));
    name = newest.string();
  }
  const bool is_process = IsNumber(name) && !std::filesystem::exists(name, error);
  const auto open = [&]() -> Result<Source> {
    if (!is_process) {
      STOKER_ASSIGN_OR_RETURN(RunSource run, RunSource::Open(name));
      return Source(std::move(run));
    }
    const std::optional<int64_t> pid = ParseCount(name);
    if (!pid || *pid == 0) return NotFound("{}: there is no such process", name);
    STOKER_ASSIGN_OR_RETURN(ProcessSource process, ProcessSource::Open(*pid));
    return Source(std::move(process));
  };
  STOKER_ASSIGN_OR_RETURN(Source source, open());
  TopWatch watch(std::move(source));
  watch.history_.target = is_process ? "process " + name : name;
  watch.DoWhatIsDue();
  return watch;
}

double TopWatch::SecondsUntilDue() const {
  const bool threads = std::holds_alternative<ProcessSource>(source_);
  const double due = threads ? std::min(look_due_, threads_due_) : look_due_;
  return std::max(0.0, due - since_begin_.ElapsedSeconds());
}

bool TopWatch::DoWhatIsDue() {
  const double now = since_begin_.ElapsedSeconds();
  if (ProcessSource* const processes = std::get_if<ProcessSource>(&source_);
      processes != nullptr && now >= threads_due_) {
    threads_due_ = now + processes->LookAtThreads();
  }
  if (now < look_due_) return false;
  Look();
  // At whole seconds after the first look; those that were missed are left out.
  look_due_ = std::max(look_due_ + kLookEvery, now + kLookEvery / 2);
  return true;
}

void TopWatch::Look() {
  if (history_.samples.size() == TopHistory::kMostSamples) history_.samples.pop_front();
  TopSample& sample = history_.samples.emplace_back();
  sample.at_s = since_begin_.ElapsedSeconds();
  sample.machine = ReadMachineCounters();
  sample.gpus = gpus_.Read();
  history_.notes.clear();
  std::visit([this](auto& source) { source.Look(history_); }, source_);
  const auto& progress = history_.now().progress;
  if (progress && !progress->host.empty() && progress->host != history_.host) {
    history_.notes.push_back(
        fmt::format("the run is on {}; CPUs, memory, disks and GPUs are those of {}",
                    progress->host, history_.host));
  }
  if (!gpus_.problem().empty()) history_.notes.push_back(gpus_.problem());
}

}  // namespace stoker
