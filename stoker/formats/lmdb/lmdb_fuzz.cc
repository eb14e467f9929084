// Whatever the pages hold: an error, or keys and values that lie within the file.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/formats/lmdb/lmdb_testing_internal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  // Changes to a good file go further than files of noise: three bytes each, a place and a value.
  static const std::string good = [] {
    LmdbBuilder builder(3);
    const std::string inner = builder.Add(LmdbNodes(7));
    const std::string main = builder.Add({{"in", inner, 2}, {"x", "y", 0}});
    return builder.File(main);
  }();
  std::string file = good;
  for (size_t at = 0; at + 3 <= size; at += 3)
    file[(data[at] | static_cast<size_t>(data[at + 1]) << 8) % file.size()] =
        static_cast<char>(data[at + 2]);
  if (size % 3 == 1) file.resize(file.size() / 256 * data[size - 1]);
  Buffer bytes = Buffer::Allocate(file.size());
  if (!file.empty()) std::memcpy(bytes.data(), file.data(), file.size());
  const Result<LmdbFile> lmdb = LmdbFile::Parse(std::move(bytes), "input", size % 2 ? "in" : "");
  if (!lmdb.ok()) return 0;
  const std::byte* const begin = lmdb->file().bytes().data();
  const std::byte* const end = begin + lmdb->file().size();
  for (int64_t i = 0; i < lmdb->size(); ++i) {
    const std::span<const std::byte> value = lmdb->value(i);
    if (value.data() < begin || value.data() + value.size() > end) std::abort();
    if (value.size() > lmdb->longest_value()) std::abort();
  }
  return 0;
}
