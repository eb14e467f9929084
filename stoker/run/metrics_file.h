// metrics.jsonl: what a run measured, one JSON object a line, each with its "step".
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"

namespace stoker {

// Open for appending. One thread at a time. Lines reach the file with each Append, in one write, so
// a reader sees whole lines; only the machine's crash can lose them, and then CutBack repairs the
// file.
class MetricsFile {
 public:
  // Opens `path`, which is made where it does not exist. Errors: also kFailedPrecondition where it
  // is a symbolic link.
  static Result<MetricsFile> Open(std::string path);

  // Errors: kResourceExhausted, kPermissionDenied and the like, with the path.
  Status Append(const Json& line);

  // Its bytes: what a checkpoint notes, and a resumed run gives to CutBack.
  Result<uint64_t> Size() const;

  // Flushes the file to the disk. Any thread, also while another appends.
  Status Sync() const;

  // Removes what was appended when the file was longer than `size` bytes, and a last line that was
  // cut short: a run that resumes from there writes it again, so that no step appears twice.
  // Errors: kDataLoss where the file is shorter; it stays as it is.
  Status CutBack(uint64_t size);

 private:
  MetricsFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;
};

}  // namespace stoker
