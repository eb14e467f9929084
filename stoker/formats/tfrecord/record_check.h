// What is damaged in a plain TFRecord file, all of it: reading on behind each damage, also where a
// record's length is lost and the next record has to be found by its checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

struct TfRecordDamage {
  enum class Kind {
    kData,    // one record, whose data lack their checksum
    kFrames,  // bytes in which no record can be found: one, or several
    kCut,     // the same at the end: the file was cut short
  };
  Kind kind = Kind::kData;
  uint64_t begin = 0, bytes = 0;
  int64_t record = 0;  // how many records were found in front of it
};

struct TfRecordCheck {
  int64_t records = 0;  // found, those with damaged data included
  std::vector<TfRecordDamage> damages;
};

// Reads all of `bytes`, which are a file's. A record behind lost bytes counts where its length and
// its data both have their checksums: chance makes 64 bits agree once in 10^19 places. Cost: that
// of the checksums, in lost bytes a few ns each.
TfRecordCheck CheckTfRecords(std::span<const std::byte> bytes);

}  // namespace stoker
