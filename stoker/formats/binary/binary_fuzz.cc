// Whatever the layout and the length of the file, every record lies within the file, and every
// field within its record.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "stoker/formats/binary/record_layout.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  constexpr size_t kOptions = 8;
  if (size < kOptions) return 0;
  const std::vector<RecordField> fields = {
      {"a", static_cast<DType>(data[0] % 10), {data[1] % 5}, data[2] % 16 - 1},
      {"b", DType::kInt16, {data[3] % 3, 2}, -1}};
  const Result<RecordLayout> layout =
      RecordLayout::Make(fields, {.record_bytes = data[4] % 64,
                                  .header_bytes = data[5] % 8,
                                  .footer_bytes = data[6] % 8,
                                  .big_endian = (data[7] & 1) != 0});
  if (!layout.ok()) return 0;
  const std::span<const std::byte> file =
      std::as_bytes(std::span(data + kOptions, size - kOptions));
  const Result<int64_t> records = layout->RecordsIn(file.size(), "input");
  if (!records.ok()) return 0;
  std::vector<std::byte> a(5 * sizeof(double)), b(4 * sizeof(int16_t));
  std::byte* const memory[2] = {a.data(), b.data()};
  for (int64_t i = 0; i < *records; ++i) {
    const uint64_t begin = layout->OffsetOf(i);
    const auto bytes = static_cast<size_t>(layout->record_bytes());
    if (begin + bytes > file.size()) std::abort();
    layout->Unpack(file.subspan(begin, bytes), memory);
  }
  return 0;
}
