// Finds all damage in a plain TFRecord file: continues after each damage, and finds the next record
// by its checksums if a record's length is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

struct TfRecordDamage {
  enum class Kind {
    kData,    // one record, whose data do not match their checksum
    kFrames,  // bytes in which no record can be found: one, or several
    kCut,     // the same at the end: the file was truncated
  };
  Kind kind = Kind::kData;
  uint64_t begin = 0, bytes = 0;
  int64_t record = 0;  // how many records precede it
};

struct TfRecordCheck {
  int64_t records = 0;  // found, those with damaged data included
  std::vector<TfRecordDamage> damages;
};

// Checks `bytes`, a whole file. A record after lost bytes counts if its length and its data both
// match their checksums: by chance 64 bits agree once in 10^19 places. Cost: that of the checksums;
// a few ns for each lost byte.
TfRecordCheck CheckTfRecords(std::span<const std::byte> bytes);

}  // namespace stoker
