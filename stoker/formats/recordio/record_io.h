// RecordIO files, read by position, and MXNet's image records in them. README.md has the layout.
//
// Errors: kDataLoss with file and byte for anything but a whole record ("a.rec: byte 812: ...");
// those of io/file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/file.h"

namespace stoker {

// Returns where the records of a plain file begin and the last one ends (OffsetIndex::Of takes
// them). Reads only the lengths, in windows, or one by one if records are long.
Result<std::vector<uint64_t>> ScanRecordIo(const File& file);

// Returns memory of this many bytes.
using RecordIoMemory = std::function<std::byte*(size_t bytes)>;

// Returns the data of one record. `frame`: the record as stored, from the first part to the padding
// of the last. The data of a single part lie in `frame`; several parts are joined in memory from
// `memory`, which is called once for the exact size.
//   where  begins messages
Result<std::span<const std::byte>> RecordIoData(std::span<const std::byte> frame,
                                                std::string_view where,
                                                const RecordIoMemory& memory);

// The content of an image record.
struct ImageRecord {
  std::vector<float> labels;  // one or more
  uint64_t id = 0, id2 = 0;
  std::span<const std::byte> image;  // part of the record
};
Result<ImageRecord> ParseImageRecord(std::span<const std::byte> record, std::string_view where);

}  // namespace stoker
