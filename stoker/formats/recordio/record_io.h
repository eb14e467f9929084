// RecordIO files, read by position, and MXNet's image records in them. README.md has the layout.
//
// Errors: kDataLoss with file and byte for what is no whole record ("a.rec: byte 812: ..."); those
// of io/file.h.
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

// Where the records of a plain file begin and the last one ends (OffsetIndex::Of takes them). Reads
// the lengths, in windows, or from one to the next where records are long; the data are not looked
// at.
Result<std::vector<uint64_t>> ScanRecordIo(const File& file);

// Gives memory of this many bytes.
using RecordIoMemory = std::function<std::byte*(size_t bytes)>;

// The data of one record. `frame` is all of it as it stands in the file, from the first part to
// the padding of the last. Where it has several parts they are put together in what `memory` gives,
// which is asked once then, for the exact size, and else not at all; the data are part of the one
// or the other.
//   where  begins messages
Result<std::span<const std::byte>> RecordIoData(std::span<const std::byte> frame,
                                                std::string_view where,
                                                const RecordIoMemory& memory);

// What an image record holds.
struct ImageRecord {
  std::vector<float> labels;  // one or more
  uint64_t id = 0, id2 = 0;
  std::span<const std::byte> image;  // part of the record
};
Result<ImageRecord> ParseImageRecord(std::span<const std::byte> record, std::string_view where);

}  // namespace stoker
