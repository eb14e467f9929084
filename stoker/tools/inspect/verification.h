// What `stoker verify` finds out about one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

struct Verification {
  struct Damage {
    uint64_t begin = 0, bytes = 0;
    std::string what;
    // Records that are lost, where that is known; `first` alone: how many come before.
    int64_t first = 0;
    std::optional<int64_t> records;
  };

  std::string file;
  std::string format;            // "stoker", "tfrecord", ...; empty where it cannot be told
  std::optional<int64_t> count;  // how many records it has, the damaged ones included
  std::optional<int64_t>
      pictures;                    // how many in an archive were decoded, the damaged ones included
  int64_t pictures_too_large = 0;  // how many in an archive were therefore not decoded
  std::vector<Damage> damages;
  std::string error;      // the first thing wrong, where damages cannot be listed one by one
  std::string unchecked;  // why it cannot be told whether it is whole; empty where it can
  std::string failure;    // why it could not be read, which says nothing about what it holds

  bool damaged() const { return !damages.empty() || !error.empty(); }
  bool whole() const { return !damaged() && unchecked.empty() && failure.empty(); }
  std::string ToText() const;  // whole lines
  Json ToJson() const;
};

// Reads all of a file of any format that InspectFile knows, and of pictures. Of a .stoker shard
// every damaged block is listed, of a plain TFRecord file every damaged record, of others the first
// error. Of the pictures in a tar archive, whose data have no checksum, all of a kind that Stoker
// reads are decoded, and every damaged one is listed; those of more bytes or pixels than
// DecodeImage takes are only counted. Damaged is only what has other bytes than it should
// (kDataLoss). What is of no such format, or of a kind that is not read (kUnimplemented), cannot be
// checked; what is not there, is no regular file or may not be read, could not be read: all that is
// neither whole nor damaged.
Verification VerifyFile(const std::string& path);

// Decodes the members of the archive `path` that are named as pictures, counts them in `out`, and
// adds those that are damaged. Errors: those of TarReader and of reading; kResourceExhausted where
// there is no memory to decode one.
Status VerifyTarPictures(const std::string& path, Verification& out);

// What a command that looked at so many files ends with where some of them, one or more, are not
// whole (kDataLoss), or could not be read (kFailedPrecondition).
Status FilesNotWhole(int64_t damaged, int64_t files);
Status FilesNotRead(int64_t unread, int64_t files);

}  // namespace stoker
