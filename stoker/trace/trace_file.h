// TraceFile: a trace (chrome_trace.h) that is valid between any two writes, so that it can be
// opened however the process ends: what is added is written over the end of the list of events,
// together with a new end, by one pwrite(2). Only SIGKILL can cut such a call, between two pages:
// then the last line is torn, and the end is missing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/trace/chrome_trace.h"

namespace stoker {

// One thread at a time.
class TraceFile {
 public:
  // Begins the file, in the place of one that is there.
  //   origin_ns   the NowNs() of time 0 in the trace
  //   most_bytes  that the file takes; what would make it longer is left out
  // Errors: those of opening and writing (kNotFound, kPermissionDenied, kResourceExhausted).
  static Result<TraceFile> Create(std::string path, TraceProcess process, int64_t origin_ns,
                                  uint64_t most_bytes);

  // Add to what Flush writes. Afterwards, or after an error, they do nothing.
  void Add(const TraceThread& thread, std::span<const TraceEvent> events);
  void AddMark(std::string_view name, const Json& arguments);

  // Writes what was added. After an error, which may be a full disk, the file ends with what was
  // written before, and all calls return the error.
  Status Flush();

  // Returns whether an event was left out because the file would have become too long.
  bool is_full() const { return full_; }
  int64_t events() const { return events_; }
  uint64_t size() const { return end_ + kTraceEnd.size(); }

 private:
  TraceFile(std::string path, TraceProcess process, int64_t origin_ns, uint64_t most_bytes,
            Descriptor descriptor);
  bool HasRoom() const;
  Status Write();
  void TakeBack() const;

  std::string path_;
  TraceProcess process_;
  int64_t origin_ns_;
  uint64_t most_bytes_;
  Descriptor descriptor_;
  uint64_t end_ = 0;                      // where kTraceEnd begins
  std::string pending_;                   // to be written there
  std::map<int64_t, std::string> named_;  // threads whose name the trace has
  int64_t events_ = 0;
  bool full_ = false;
  Status error_;
};

}  // namespace stoker
