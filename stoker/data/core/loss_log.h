// The logs of what stages have lost (ops/ignore_errors.h). Threads make elements ahead of the
// consumer, and some that nobody gets; so a line travels with the element that was made after the
// loss, and is written when the pass hands that element out. A log is then a function of what was
// handed out, whatever the threads, and a resumed pass goes on where the position was saved.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// A line without its end, and the log that it belongs to.
struct LossLine {
  std::string path;
  Buffer text;
};

// The logs that one pass writes, those of the passes inside it included. Thread-safe.
class LossLogs {
 public:
  // `pass` names the pipeline and its seed: every line has it (QuarantineLine), so that those of
  // another one in the same log are left alone. `logging` says which lines are written.
  explicit LossLogs(std::string pass, LossLogging logging = LossLogging::kEach)
      : pass_(std::move(pass)), logging_(logging) {}

  const std::string& pass() const { return pass_; }

  // To be called for each log before anything is lost. Makes the file; of kNone it does nothing. Of
  // kOnce it reads the log, at 16 bytes and more of memory for each line of this pass. Errors: the
  // file cannot be made or opened.
  Status Open(const std::string& path);
  // Errors: those of AppendLine.
  Status Write(const LossLine& line);

  // How many bytes each log has by now, {path: bytes}; null where there is none, or no line is to
  // be taken back.
  Json Save() const;
  // Takes the lines of this pass that were written after `saved` out of the logs that are open.
  // What others wrote stays. A log that is shorter by now, or a symbolic link, stays as it is.
  // Errors: kDataLoss where `saved` is damaged; those of reading and writing files.
  Status CutBack(const Json& saved);

 private:
  struct Log {
    uint64_t bytes = 0;
    // Of kOnce: how many lines with this hash earlier passes wrote which this one has not met.
    std::unordered_map<uint64_t, int64_t> there;
  };
  bool IsOurs(std::string_view line) const;
  // Whether the line is to be written; where an earlier pass wrote it, it has been met now.
  bool IsWanted(const LossLine& line);

  const std::string pass_;
  const LossLogging logging_;
  mutable std::mutex mutex_;
  std::map<std::string, Log> logs_;  // by path; guarded by mutex_
};

// While one lives, the lines of what this thread loses are collected in it; of several the
// innermost collects. Destroyed by the thread that made it, innermost first; lines that nobody has
// taken are dropped.
class LossScope {
 public:
  LossScope();
  LossScope(const LossScope&) = delete;
  LossScope& operator=(const LossScope&) = delete;
  ~LossScope();

  // Hands `line` to the innermost scope of this thread. Without one it is dropped: then elements
  // are read for what a stage must know beforehand, and are not handed out.
  static void Add(LossLine line);

  std::vector<LossLine> Take() { return std::exchange(lines_, {}); }

 private:
  std::vector<LossLine> lines_;
  LossScope* const around_;
};

}  // namespace stoker
