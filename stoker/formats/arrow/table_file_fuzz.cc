// Any bytes are a table, all of whose columns can be decoded or say what is wrong, or an error. The
// first byte says whether the others are given as Parquet or as Arrow IPC.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "stoker/formats/arrow/table_file.h"

namespace stoker {
namespace {

constexpr uint64_t kMostBytes = 4 << 20;  // of a group; larger ones teach nothing

// Looks at all bytes, so that a sanitizer sees those that are not there.
void LookAt(const DecodedGroup& group, const TableColumn& about) {
  const DecodedColumn& column = group.columns.front();
  const int64_t items = column.offsets == nullptr ? group.rows : column.offsets[group.rows];
  Shape item = about.row_shape;
  if (column.offsets != nullptr) item.erase(item.begin());
  const int64_t bytes = items * NumValues(item) * static_cast<int64_t>(DTypeSize(about.dtype));
  int64_t sum = 0;
  for (int64_t i = 0; i < bytes; ++i) sum += static_cast<int64_t>(column.values[i]);
  if (sum < 0) std::abort();
  for (const FaultyRow& faulty : column.faulty) {
    if (faulty.row < 0 || faulty.row >= group.rows) std::abort();
  }
}

void ReadEverything(const TableFile& file) {
  for (const TableColumn& column : file.columns()) {
    if (!column.unread.empty()) continue;
    const TableWish wish{column.path, {}};
    for (int64_t group = 0; group < std::ssize(file.group_rows()); ++group) {
      const auto decoded = file.ReadGroup(group, {&wish, 1}, {.most_bytes = kMostBytes});
      if (decoded.ok()) LookAt(**decoded, column);
    }
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size == 0) return 0;
  const int file = ::memfd_create("table", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data + 1, size - 1) != static_cast<ssize_t>(size - 1)) std::abort();
  const auto format = data[0] % 2 == 0 ? TableFormat::kParquet : TableFormat::kArrow;
  const auto table = OpenTableFile(format, fmt::format("/proc/self/fd/{}", file));
  if (table.ok()) ReadEverything(**table);
  ::close(file);
  return 0;
}
