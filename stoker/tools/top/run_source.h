// Reads what a run publishes while it trains.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/doctor/run_profile.h"
#include "stoker/tools/top/top_history.h"

namespace stoker {

// The curve of a run's loss and its last evaluation, from metrics.jsonl, which grows. Used by one
// thread.
class MetricsTail {
 public:
  // Points beyond so many are thinned out: no screen shows more.
  static constexpr size_t kMostPoints = 4096;
  // Of a file that is larger when it is read first, only the end is read.
  static constexpr uint64_t kMostBytes = uint64_t{16} << 20;

  explicit MetricsTail(std::string path) : path_(std::move(path)) {}

  // Reads what was appended since the last call. A file that became shorter, because the run was
  // resumed from a checkpoint, is read anew. What cannot be read is left out.
  void Read();

  const std::vector<LossPoint>& losses() const { return losses_; }
  const std::string& evaluation() const { return evaluation_; }

 private:
  void TakeLine(std::string_view line);
  void Thin();

  std::string path_;
  uint64_t read_ = 0;     // bytes of the file
  bool in_line_ = false;  // the first bytes belong to a line of which the begin was left out
  std::string rest_;      // of a line that has not ended yet
  int64_t every_ = 1;     // one in so many lines is kept
  int64_t lines_ = 0;
  std::vector<LossPoint> losses_;
  std::string evaluation_;
};

class RunSource {
 public:
  // Errors: kNotFound if it is no run directory, or one that may not be read.
  static Result<RunSource> Open(const std::filesystem::path& run);

  // Fills what is about the run in the last sample and in the history, the verdict included. Never
  // fails: what cannot be read now stays as it was.
  void Look(TopHistory& history);

 private:
  RunSource(std::filesystem::path run, RecipeFacts facts);
  void Describe(bool held, const TopSample& sample, TopHistory& history) const;

  std::filesystem::path run_;
  RecipeFacts facts_;
  MetricsTail metrics_;
};

// Returns the newest of the runs below `parent` that a process trains in now: the one whose recipe
// was written last. Errors: kNotFound if there is none, with what to do.
Result<std::filesystem::path> NewestRunningRun(const std::filesystem::path& parent);

}  // namespace stoker
