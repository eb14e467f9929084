// Any frame gives data of at most its length, or an error; so does any image record. Any text is an
// index that agrees, or an error.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "stoker/formats/recordio/record_index.h"
#include "stoker/formats/recordio/record_io.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> joined;
  const auto memory = [&](size_t joined_bytes) {
    joined.resize(joined_bytes);
    return joined.data();
  };
  const Result<std::span<const std::byte>> record = RecordIoData(bytes, "input", memory);
  if (record.ok() && record->size() > size) std::abort();
  const Result<ImageRecord> image = ParseImageRecord(record.ok() ? *record : bytes, "input");
  if (image.ok() && (image->labels.empty() || image->image.size() > size)) std::abort();
  const uint64_t offsets[] = {0, 8, 20};
  const Status index = CheckRecordIoIndex(MakeMemorySource(bytes, "input"), "a.rec", offsets);
  if (index.ok() && size < 5) std::abort();  // two lines, of a tab and a digit
  return 0;
}
