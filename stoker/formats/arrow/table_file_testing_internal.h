// For tests: the ways in which a table can be written, and the rows of one as text.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/arrow/arrow_testing_internal.h"
#include "stoker/formats/arrow/table_file.h"

namespace stoker {

inline constexpr uint64_t kEnough = 64 << 20;

// How one table is stored.
struct Variant {
  std::string name;
  TableFormat format = TableFormat::kParquet;
  std::string compression = "none";
  bool stream = false;
  bool mapped = false;
};

inline std::vector<Variant> Variants() {
  std::vector<Variant> all;
  for (const char* compression : {"none", "snappy", "gzip", "zstd", "brotli", "lz4"})
    all.push_back({fmt::format("parquet_{}", compression), TableFormat::kParquet, compression});
  for (const char* compression : {"none", "zstd", "lz4"}) {
    for (const bool stream : {false, true}) {
      all.push_back({fmt::format("arrow_{}_{}", stream ? "stream" : "file", compression),
                     TableFormat::kArrow, compression, stream});
    }
  }
  all.push_back({"parquet_mapped", TableFormat::kParquet, "none", false, true});
  all.push_back({"arrow_mapped", TableFormat::kArrow, "none", false, true});
  return all;
}

class TableFileTest : public testing::Test {
 protected:
  // Skips where Stoker was built without Arrow.
  void SetUp() override {
    const Status written = WriteTestTable(TableFormat::kArrow, dir_ / "probe.arrow", {});
    if (written.code() == StatusCode::kUnavailable) GTEST_SKIP() << written.message();
  }

  std::string Write(const Variant& variant, TestTable table) const {
    table.compression = variant.compression;
    table.stream = variant.stream;
    const std::string path = dir_ / variant.name;
    STOKER_EXPECT_OK(WriteTestTable(variant.format, path, table));
    return path;
  }

  const TempDir dir_;
};

// Row `row` of a decoded column, as text: numbers by spaces.
template <typename T>
std::string RowText(const DecodedColumn& column, const TableColumn& about, int64_t row) {
  const bool ragged = column.offsets != nullptr;
  Shape item = about.row_shape;
  if (ragged) item.erase(item.begin());
  const int64_t values = NumValues(item);
  const int64_t begin = (ragged ? column.offsets[row] : row) * values;
  const int64_t end = (ragged ? column.offsets[row + 1] : row + 1) * values;
  std::string text;
  for (int64_t i = begin; i < end; ++i) {
    T value;
    std::memcpy(&value, column.values + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    text += fmt::format("{}{}", text.empty() ? "" : " ", value);
  }
  return text;
}

// All rows of a column, in all groups.
template <typename T>
Result<std::vector<std::string>> RowsOf(const TableFile& file, const TableWish& wish) {
  const TableColumn* const about = file.Find(wish.path);
  if (about == nullptr) return NotFound("no column {}", wish.path);
  if (!about->unread.empty()) return Unimplemented("{}", about->unread);
  std::vector<std::string> rows;
  for (int64_t group = 0; group < std::ssize(file.group_rows()); ++group) {
    STOKER_ASSIGN_OR_RETURN(const auto decoded,
                            file.ReadGroup(group, {&wish, 1}, {.most_bytes = kEnough}));
    const DecodedColumn& column = decoded->columns.front();
    for (int64_t row = 0; row < decoded->rows; ++row) {
      const auto is_faulty = [&](const FaultyRow& faulty) { return faulty.row == row; };
      const bool faulty = std::ranges::any_of(column.faulty, is_faulty);
      rows.push_back(faulty ? "null" : RowText<T>(column, *about, row));
    }
  }
  return rows;
}

inline std::string Bytes(std::string_view text) {
  std::string numbers;
  for (const char c : text) numbers += fmt::format("{}{}", numbers.empty() ? "" : " ", int{c});
  return numbers;
}

}  // namespace stoker
