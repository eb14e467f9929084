// Any bytes are either a .stoker file or an error; every record of a file can be read, or is an
// error. Checksums are corrected first, so that the bytes they cover are parsed too.
#include "stoker/formats/shard/shard_testing_internal.h"

namespace {

using namespace stoker;

void MakeChecksumsRight(Buffer& bytes) {
  internal::ShardHeader header;
  if (bytes.size() < sizeof(header) + sizeof(internal::ShardTrailer)) return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const uint64_t room = bytes.size() - sizeof(header);
  header.schema_checksum =
      Crc32c({bytes.data() + sizeof(header), std::min<uint64_t>(header.schema_bytes, room)});
  header.checksum =
      Crc32c(std::as_bytes(std::span(&header, 1)).subspan(internal::kShardHeaderUnchecked));
  std::memcpy(bytes.data(), &header, sizeof(header));
  Seal(bytes, TrailerOf(bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Buffer bytes = CopyOf(std::as_bytes(std::span(data, size)));
  MakeChecksumsRight(bytes);
  for (const ShardChecks checks : {ShardChecks::kOnFirstRead, ShardChecks::kNone}) {
    const Result<ShardFile> file = ShardFile::Parse(bytes, "input", checks);
    if (!file.ok()) return 0;
    uint64_t sum = 0;
    constexpr int64_t kMostRecords = 1000;  // records of no bytes cost a file nothing
    for (int64_t i = 0; i < std::min(file->size(), kMostRecords); ++i) {
      const Result<std::vector<Array>> record = file->Read(i);
      if (!record.ok()) continue;
      for (const Array& array : *record)
        for (size_t b = 0; b < array.num_bytes(); ++b)
          sum += static_cast<uint64_t>(array.data()[b]);
    }
    [[maybe_unused]] static volatile uint64_t read = 0;  // so that the reads are not left out
    read = sum;
  }
  return 0;
}
