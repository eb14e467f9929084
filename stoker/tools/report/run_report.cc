#include "stoker/tools/report/run_report.h"

#include <fmt/chrono.h>

#include <ctime>
#include <utility>

#include "stoker/doctor/diagnose.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/kept_file.h"
#include "stoker/run/run_directory.h"
#include "stoker/tools/doctor/recipe_facts.h"
#include "stoker/tools/top/top_verdict.h"

namespace stoker {
namespace {

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  ::localtime_r(&now, &local);
  return fmt::format("{:%Y-%m-%d %H:%M}", local);
}

// A run whose choices were given, and not tried out, has no tuning.json.
Json ReadTuning(const RunPaths& paths) {
  const Result<std::string> text = ReadKeptTextFile(paths.tuning());
  Json json = text.ok() ? Json::parse(*text, nullptr, /*allow_exceptions=*/false) : Json();
  return json.is_object() ? json : Json();
}

void AddTimes(RunReport& report, const std::filesystem::path& run) {
  Result<PublishedProgress> progress = ReadPublishedProgress(run);
  if (!progress.ok()) {
    if (progress.status().code() != StatusCode::kNotFound)
      report.record.notes.push_back(progress.status().message());
    return;
  }
  TopHistory whole;
  whole.samples.push_back({.progress = *progress});
  report.window = RunWindowOf(whole);
  report.verdict = VerdictOfRun(whole, FactsOf(report.record.recipe));
  report.progress = *std::move(progress);
}

}  // namespace

Result<RunReport> ReadRunReport(const std::filesystem::path& run, std::string how) {
  RunReport report{.record = {}, .how = std::move(how), .when = Now()};
  STOKER_ASSIGN_OR_RETURN(report.record, ReadRunRecord(run.string()));
  const RunPaths paths{run};
  STOKER_ASSIGN_OR_RETURN(report.recipe_text, ReadKeptTextFile(paths.recipe()));
  report.tuning = ReadTuning(paths);
  AddTimes(report, run);
  return report;
}

Status WriteRunReport(const std::filesystem::path& run, std::string how) {
  STOKER_ASSIGN_OR_RETURN(const RunReport report, ReadRunReport(run, std::move(how)));
  return WriteFileAtomically(ReportPath(run), ReportHtml(report));
}

}  // namespace stoker
