#include "stoker/tools/top/run_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

#include "stoker/base/json.h"
#include "stoker/io/descriptor.h"
#include "stoker/run/run_directory.h"
#include "stoker/tools/doctor/recipe_facts.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/top/top_verdict.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// A run that publishes once a second and is this late does something long.
constexpr double kLate = 3;
// Longer lines are none of ours.
constexpr size_t kMostLine = 1 << 20;

double NumberIn(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : NAN;
}

std::string EvaluationText(const Json& line) {
  std::string text = fmt::format("step {}:", WithThousands(NumberIn(line, "step")));
  const double accuracy = NumberIn(line, "accuracy"), loss = NumberIn(line, "loss");
  if (std::isfinite(accuracy)) text += fmt::format(" accuracy {:.4f},", accuracy);
  return text + fmt::format(" loss {:.4f}", loss);
}

// Seconds since the file was written; nothing if there is none.
std::optional<double> AgeOf(const std::string& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - written;
  return std::max(0.0, age.count());
}

std::string ActivityText(RunActivity activity) {
  switch (activity) {
    case RunActivity::kStarting: return "waits for its first batch";
    case RunActivity::kSteps: return "training";
    case RunActivity::kEvaluation: return "evaluates";
    case RunActivity::kCheckpoint: return "writes a checkpoint";
  }
  return "training";
}

}  // namespace

void MetricsTail::Read() {
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size < read_) *this = MetricsTail(path_);
  if (read_ == 0 && size > kMostBytes) {
    read_ = size - kMostBytes;
    in_line_ = true;
  }
  std::string block(1 << 16, '\0');
  while (read_ < size) {
    const ssize_t got = ::pread(file.get(), block.data(), block.size(), static_cast<off_t>(read_));
    if (got <= 0) return;
    read_ += static_cast<uint64_t>(got);
    std::string_view text(block.data(), static_cast<size_t>(got));
    for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      rest_ += text.substr(0, end);
      text.remove_prefix(end + 1);
      if (!std::exchange(in_line_, false)) TakeLine(rest_);
      rest_.clear();
    }
    rest_ += text;
    if (rest_.size() > kMostLine) {
      rest_.clear();
      in_line_ = true;
    }
  }
}

void MetricsTail::TakeLine(std::string_view text) {
  const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object() || !std::isfinite(NumberIn(line, "step"))) return;
  const auto kind = line.find("kind");
  if (kind != line.end() && *kind == "eval") {
    evaluation_ = EvaluationText(line);
    return;
  }
  const double loss = NumberIn(line, "loss");
  if (lines_++ % every_ != 0) return;
  losses_.push_back({.step = NumberIn(line, "step"), .loss = loss});
  if (losses_.size() > kMostPoints) Thin();
}

void MetricsTail::Thin() {
  for (size_t i = 0; 2 * i < losses_.size(); ++i) losses_[i] = losses_[2 * i];
  losses_.resize((losses_.size() + 1) / 2);
  every_ *= 2;
}

RunSource::RunSource(fs::path run, RecipeFacts facts)
    : run_(std::move(run)), facts_(std::move(facts)), metrics_(RunPaths{run_}.metrics()) {}

Result<RunSource> RunSource::Open(const fs::path& run) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ReadRunRecipe(run));
  return RunSource(run, FactsOf(recipe));
}

void RunSource::Look(TopHistory& history) {
  // Asked first: a run that ends after that has published all that follows.
  const bool held = RunIsHeld(run_);
  TopSample& sample = history.samples.back();
  Result<PublishedProgress> progress = ReadPublishedProgress(run_);
  if (progress.ok())
    sample.progress = *std::move(progress);
  else if (history.samples.size() > 1)
    sample.progress = history.samples[history.samples.size() - 2].progress;
  sample.progress_age_s = AgeOf(ProgressPath(run_)).value_or(0);
  metrics_.Read();
  history.losses = metrics_.losses();
  history.evaluation = metrics_.evaluation();
  Describe(held, sample, history);
  if (std::optional<Diagnosis> verdict = VerdictOfRun(history, facts_))
    history.verdict = std::move(verdict);
  history.advice =
      history.verdict
          ? AdviceFor(*history.verdict, sample.progress ? sample.progress->starved : std::nullopt)
          : "";
}

void RunSource::Describe(bool held, const TopSample& sample, TopHistory& history) const {
  std::error_code error;
  const bool known = sample.progress.has_value();
  if (!held) {
    history.state = TopState::kEnded;
    const bool finished = fs::exists(RunPaths{run_}.summary(), error);
    history.state_text = finished ? "finished" : "not finished, and no process trains in it";
    return;
  }
  history.state = known && sample.progress->input ? TopState::kRunning : TopState::kStarting;
  if (!known) {
    history.state_text = "starting";
    return;
  }
  history.state_text = ActivityText(sample.progress->activity);
  if (sample.progress_age_s >= kLate)
    history.state_text +=
        fmt::format(", last heard of {} ago", DurationText(sample.progress_age_s));
  const std::string& host = sample.progress->host;
  if (!host.empty()) {
    history.state_text += fmt::format(", pid {}", sample.progress->pid);
    if (host != history.host) history.state_text += " on " + host;
  }
}

Result<fs::path> NewestRunningRun(const fs::path& parent) {
  std::optional<std::pair<fs::file_time_type, fs::path>> newest;
  std::error_code error;
  for (fs::directory_iterator each(parent, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    const auto written = fs::last_write_time(RunPaths{each->path()}.recipe(), ignored);
    if (ignored || !RunIsHeld(each->path())) continue;
    std::pair found(written, each->path());
    if (!newest || found > *newest) newest = std::move(found);
  }
  if (newest) return newest->second;
  if (error && error != std::errc::no_such_file_or_directory) {
    return FailedPrecondition("{}: {}; name the run, or a process by its number", parent.string(),
                              error.message());
  }
  return NotFound(
      "no process trains in a run below {}; name a run's directory, or a process by its number",
      (parent / "").string());
}

}  // namespace stoker
