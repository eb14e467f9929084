// For tests and fuzzers of .stoker files.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "stoker/base/buffer.h"
#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/formats/shard/shard_layout_internal.h"
#include "stoker/io/checksum.h"

namespace stoker {

inline internal::ShardTrailer TrailerOf(const Buffer& file) {
  internal::ShardTrailer trailer;
  std::memcpy(&trailer, file.data() + file.size() - sizeof(trailer), sizeof(trailer));
  return trailer;
}

// Writes `trailer` at the end of the file and corrects all checksums of ranges within the file, so
// that other damage must be detected by the parser's own checks.
inline void Seal(Buffer& file, internal::ShardTrailer trailer) {
  const std::span<std::byte> bytes(file.data(), file.size());
  const uint64_t end = file.size() - sizeof(trailer);
  if (trailer.footer <= end && trailer.blocks <= (end - trailer.footer) / sizeof(uint32_t)) {
    const uint64_t entry = sizeof(internal::ShardPageEntry);
    const std::span<const std::byte> front = bytes.first(trailer.footer);
    const uint64_t sums = internal::ShardPadded(trailer.blocks * sizeof(uint32_t), 8);
    const uint64_t at = end - std::min(sums, end - trailer.footer);
    for (uint64_t block = 0; block < trailer.blocks && trailer.pages < end / entry; ++block) {
      const uint64_t begin = block * internal::kShardBlockBytes;
      if (begin >= front.size()) break;
      const uint32_t checksum = Crc32c(front.subspan(
          begin, std::min<uint64_t>(internal::kShardBlockBytes, front.size() - begin)));
      std::memcpy(bytes.data() + at + block * sizeof(checksum), &checksum, sizeof(checksum));
    }
    trailer.footer_checksum = Crc32c(bytes.subspan(trailer.footer, end - trailer.footer));
  }
  trailer.checksum =
      Crc32c(std::as_bytes(std::span(&trailer, 1)).first(internal::kShardTrailerChecked));
  std::memcpy(bytes.data() + end, &trailer, sizeof(trailer));
}

// Returns the first error of reading all of a file, page by page and record by record.
inline Status ReadAllOf(const Buffer& bytes, ShardChecks checks = ShardChecks::kOnFirstRead) {
  STOKER_ASSIGN_OR_RETURN(const ShardFile file, ShardFile::Parse(bytes, "f.stoker", checks));
  for (int64_t i = 0; i < file.size(); ++i) STOKER_RETURN_IF_ERROR(file.Read(i).status());
  return OkStatus();
}

}  // namespace stoker
