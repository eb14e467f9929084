// Any bytes beside a file are no index, or one whose records lie within the file, one after the
// other.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "stoker/formats/offset_index/offset_index.h"
#include "stoker/io/checksum.h"

namespace {

using namespace stoker;  // NOLINT: one file, one function

constexpr size_t kHeader = 64, kUnchecked = 16;
constexpr uint64_t kFileSize = 1 << 16;

// `data` as what follows the magic and the version of an index of a file of kFileSize bytes, with
// the right checksum, which a fuzzer does not find by itself.
std::string IndexOf(const uint8_t* data, size_t size) {
  std::string index = "STKINDEX";
  index.append({1, 0, 0, 0});
  index.append(4, 0);
  index.append(reinterpret_cast<const char*>(data), size);
  if (index.size() < kHeader) return index;
  index.replace(16, 8, {'f', 'u', 'z', 'z', 0, 0, 0, 0});
  index.replace(24, 8, reinterpret_cast<const char*>(&kFileSize), 8);
  index.replace(32, 16, 16, 0);
  const uint32_t checksum = Crc32c(std::string_view(index).substr(kUnchecked));
  index.replace(12, 4, reinterpret_cast<const char*>(&checksum), 4);
  return index;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("stoker-index-fuzz-{}", ::getpid()))
          .string();
  std::ofstream(path, std::ios::binary) << IndexOf(data, size);
  const auto index = OffsetIndex::Load(path, {"fuzz", {kFileSize, 0}, 0});
  std::filesystem::remove(path);
  if (!index) return 0;
  uint64_t end = 0;
  for (int64_t i = 0; i < index->size(); ++i) {
    if (index->begin(i) < end || index->end(i) < index->begin(i)) std::abort();
    end = index->end(i);
    if (end - index->begin(i) > index->longest() || end > kFileSize) std::abort();
  }
  return 0;
}
