// The logs of lost elements (ops/ignore_errors.h). Threads make elements ahead of the consumer,
// some of which are never consumed. So a line is attached to the element that was made after the
// loss, and is written when the pass returns that element. A log therefore depends only on the
// elements returned, not on threads, and a resumed pass continues it where the position was saved.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/json.h"
#include "stoker/base/mutex.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// A line without line end, and the log that it belongs to.
struct LossLine {
  std::string path;
  Buffer text;
};

// The logs that one pass writes, those of the passes inside it included. Thread-safe.
class LossLogs {
 public:
  // `pass` names the pipeline and its seed. Every line contains it (QuarantineLine), so that lines
  // of another pipeline in the same log are left alone. `logging` says which lines are written.
  explicit LossLogs(std::string pass, LossLogging logging = LossLogging::kEach)
      : pass_(std::move(pass)), logging_(logging) {}

  const std::string& pass() const { return pass_; }
  // Returns whether lines are written at all.
  bool Writes() const;

  // Call it for each log before anything is lost. Creates the file; with kNone it does nothing.
  // With kOnce it reads the log, which takes 16 bytes and more of memory for each line of this
  // pass. Errors: the file cannot be created or opened.
  Status Open(const std::string& path);
  // Errors: those of AppendLine.
  Status Write(const LossLine& line);

  // Returns the size in bytes of each log, {path: bytes}; null if there is none, or lines are never
  // removed.
  Json Save() const;
  // Removes the lines of this pass that were written after `saved` from the open logs, and keeps
  // all others. Does not change a log that is shorter by now, or a symbolic link. Errors: kDataLoss
  // if `saved` is damaged; those of reading and writing files.
  Status CutBack(const Json& saved);

 private:
  struct Log {
    uint64_t bytes = 0;
    // For kOnce: how many lines with this hash earlier passes wrote that this one has not met.
    std::unordered_map<uint64_t, int64_t> there;
  };
  bool IsOurs(std::string_view line) const;
  // Returns whether to write the line; marks a line of an earlier pass as met.
  bool IsWanted(const LossLine& line);

  const std::string pass_;
  const LossLogging logging_;
  mutable Mutex mutex_;
  std::map<std::string, Log> logs_ STOKER_GUARDED_BY(mutex_);  // by path
};

// While one lives, it collects the lines of this thread's losses; the innermost of several
// collects. The thread that made it destroys it, innermost first; lines that were not taken are
// dropped.
class LossScope {
 public:
  LossScope();
  LossScope(const LossScope&) = delete;
  LossScope& operator=(const LossScope&) = delete;
  ~LossScope();

  // Adds `line` to the innermost scope of this thread. Without one it is dropped: then a stage
  // reads elements for itself, which the pass does not return.
  static void Add(LossLine line);

  std::vector<LossLine> Take() { return std::exchange(lines_, {}); }

 private:
  std::vector<LossLine> lines_;
  LossScope* const around_;
};

}  // namespace stoker
