// metrics.jsonl: the measurements of a run, one JSON object a line, each with its "step".
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"

namespace stoker {

// Open for appending. One thread at a time. Append writes a line in one call of write(2), so that a
// reader sees whole lines. A crash, or a disk that is full, can leave a partial last line; CutBack
// removes it.
class MetricsFile {
 public:
  // Opens `path`, and creates it if missing. Errors: also kFailedPrecondition if it is a symbolic
  // link.
  static Result<MetricsFile> Open(std::string path);

  // Returns one that keeps nothing: of a rank that leaves the run directory to another.
  static MetricsFile Nowhere() { return {std::string(), Descriptor()}; }

  // Writes the file again first if it was removed, and goes on in the one in its place if it was
  // replaced. Errors: kResourceExhausted, kPermissionDenied and the like, with the path. On an
  // error the file has no part of the line.
  Status Append(const Json& line);

  // Returns its size in bytes, which a checkpoint stores and a resumed run passes to CutBack.
  Result<uint64_t> Size() const;

  // As CheckLinesUpTo, of this file.
  Status CheckLinesUpTo(uint64_t size) const;

  // Flushes the file to the disk. Any thread, also while another appends.
  Status Sync() const;

  // Removes the lines appended after the file had `size` bytes, and a partial last line: a run that
  // resumes from there writes them again, so no step appears twice. Errors: kDataLoss if the file
  // is shorter; then it is unchanged.
  Status CutBack(uint64_t size);

 private:
  MetricsFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  // Opens what the path names now, if that is another file, and fills it if it is empty.
  Status FollowName();

  std::string path_;
  Descriptor descriptor_;
};

// Checks that the file of metrics still has `size` bytes and a line ends there, as when
// MetricsFile::Size returned that. Errors: kDataLoss, which says how it was changed; those of
// File::Open.
Status CheckLinesUpTo(const std::string& path, uint64_t size);

}  // namespace stoker
