#include "stoker/tools/program/trace_options.h"

#include <fmt/format.h>

#include <memory>

#include "stoker/base/log.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/output_file.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

void SayWhatWasLeftOut(const TraceOutputs& outputs, const TraceReport& report) {
  const TraceLosses& losses = report.losses;
  if (report.full) {
    LogWarning(
        "{}: the trace reached {} and ends before the recording did; fewer --trace-seconds fit",
        outputs.trace, ByteText(outputs.most_bytes));
  }
  if (!outputs.trace.empty() && losses.brief > 0) {
    LogInfo("{}: {} that lasted less than 0.1 ms and came too often are left out", outputs.trace,
            CountText(losses.brief, "span"));
  }
  const int64_t lost = losses.full + losses.unheld + losses.unstacked;
  if (lost > 0) {
    LogWarning(
        "{} were lost, since they came faster than they could be written or on more than {} "
        "threads",
        CountText(lost, "span"), kMostTraceThreads);
  }
}

void SayWhatIsThere(const TraceOutputs& outputs, const TraceReport& report) {
  const std::string time = DurationText(report.seconds);
  if (!outputs.trace.empty()) {
    LogInfo("{}: {} in {}; ui.perfetto.dev opens it", outputs.trace,
            CountText(report.events, "event"), time);
  }
  if (!outputs.flame.empty())
    LogInfo("{}: where the time of {} went; any browser opens it", outputs.flame, time);
  if (!outputs.folded.empty()) LogInfo("{}: the stacks of {}", outputs.folded, time);
  SayWhatWasLeftOut(outputs, report);
}

}  // namespace

void AddTraceOptions(CLI::App& app, TraceOutputs& outputs, const std::string& from) {
  const auto add_file = [&app](const char* name, std::string& path, const char* help) {
    app.add_option(name, path, help)->type_name("FILE")->group(kSeldomGroup);
  };
  add_file("--trace", outputs.trace,
           "write what each thread does when, as JSON that "
           "ui.perfetto.dev opens");
  add_file("--flame", outputs.flame, "draw where the time of the threads went, as SVG");
  add_file("--folded", outputs.folded, "write where it went as folded stacks, for other programs");
  app.add_option("--trace-seconds", outputs.seconds,
                 "how long these three record from " + from + " on, 0.1..86400")
      ->type_name("S")
      ->check(BetweenCheck(0.1, 86400))
      ->default_str("30")
      ->group(kSeldomGroup);
}

std::vector<std::pair<std::string, std::string>> GivenTraceFiles(const TraceOutputs& outputs) {
  std::vector<std::pair<std::string, std::string>> given = {
      {"--trace", outputs.trace}, {"--flame", outputs.flame}, {"--folded", outputs.folded}};
  std::erase_if(given, [](const auto& each) { return each.second.empty(); });
  return given;
}

Status CheckTraceOutputs(const TraceOutputs& outputs) {
  const auto given = GivenTraceFiles(outputs);
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!AreOneFile(given[i].second, given[j].second)) continue;
      return InvalidArgument("{} {}: {} names this file too; give another name", given[i].first,
                             given[i].second, given[j].first);
    }
  }
  return OkStatus();
}

Status RunTraced(const TraceOutputs& outputs, std::string_view command,
                 const std::function<Status(TraceSession*)>& work) {
  if (!outputs.any()) return work(nullptr);
  STOKER_RETURN_IF_ERROR(CheckTraceOutputs(outputs));
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<TraceSession> session,
                          TraceSession::Start(outputs, std::string(command), STOKER_VERSION));
  const Status status = work(session.get());
  const Result<TraceReport> report = session->Finish();
  if (report.ok()) SayWhatIsThere(outputs, *report);
  if (!status.ok() && !report.ok()) LogWarning("{}", report.status().message());
  return status.ok() ? report.status() : status;
}

Status RunTracedFromNow(const TraceOutputs& outputs, std::string_view command,
                        const std::function<Status()>& work) {
  return RunTraced(outputs, command, [&](TraceSession* session) {
    if (session != nullptr) session->BeginWindow();
    return work();
  });
}

}  // namespace stoker
