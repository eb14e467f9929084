// report.html: what a run was, what it reached, what was chosen, where its time went, and what
// held it back.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/doctor/diagnosis.h"
#include "stoker/run/published_progress.h"
#include "stoker/tools/compare/run_record.h"
#include "stoker/tools/top/top_rates.h"

namespace stoker {

inline std::string ReportPath(const std::filesystem::path& run) {
  return (run / "report.html").string();
}

// All that the page shows.
struct RunReport {
  RunRecord record;
  std::string how;   // "finished", "interrupted after step 12 of 600", "failed: ..."
  std::string when;  // local time
  std::string recipe_text;
  Json tuning;                                     // of tuning.json; null: none
  std::optional<PublishedProgress> progress = {};  // what its last process published last
  std::optional<RunWindow> window = {};            // all of that process
  std::optional<Diagnosis> verdict = {};           // of that process; nothing: too little was seen
};

// Collects it from the files of the run. Errors: those of ReadRunRecord. Anything else that cannot
// be read is a note of the record.
Result<RunReport> ReadRunReport(const std::filesystem::path& run, std::string how);

// Returns the page: HTML without a script, which loads nothing.
std::string ReportHtml(const RunReport& report);

// Writes report.html into the run, atomically. Errors: those of both above and of writing.
Status WriteRunReport(const std::filesystem::path& run, std::string how);

}  // namespace stoker
