// Any bytes are either a zip archive, all of whose entries can be read or say what is wrong, or an
// error.
#include <cstdlib>

#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/zip/zip_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Buffer buffer = CopyOf(std::as_bytes(std::span(data, size)));
  const Result<ZipFile> zip = ZipFile::Parse(buffer, "input");
  if (!zip.ok()) return 0;
  for (const ZipEntry& entry : zip->entries()) {
    if (zip->Find(entry.name) != &entry) std::abort();
    const Result<ZipContent> content = zip->Read(entry);
    if (content.ok() && content->bytes != entry.bytes) std::abort();
    uint8_t sum = 0;  // touches every byte
    for (uint64_t i = 0; content.ok() && i < content->bytes; ++i) {
      sum = static_cast<uint8_t>(sum + std::to_integer<uint8_t>(content->data[i]));
    }
    [[maybe_unused]] static volatile uint8_t kept;
    kept = sum;
  }
  return 0;
}
