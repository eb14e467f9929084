// Any bytes are either an element file or an error; every element of a file can be read, or is an
// error.
#include <cstdint>

#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/elements/element_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Buffer bytes = CopyOf(std::as_bytes(std::span(data, size)));
  const Result<ElementFile> file = ElementFile::Parse(bytes, "input");
  if (!file.ok()) return 0;
  uint64_t sum = 0;
  for (int64_t i = 0; i < file->size(); ++i) {
    const Result<ElementLayout::Record> record = file->Read(i);
    if (!record.ok()) continue;
    for (const Array& array : record->arrays)
      for (size_t b = 0; b < array.num_bytes(); ++b) sum += static_cast<uint64_t>(array.data()[b]);
  }
  [[maybe_unused]] static volatile uint64_t read = 0;  // so that the reads are not left out
  read = sum;
  return 0;
}
