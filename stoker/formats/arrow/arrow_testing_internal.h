// For tests: Parquet and Arrow files that Arrow's own writers write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/plugin.h"
#include "stoker/base/status.h"
#include "stoker/formats/arrow/table_file.h"

namespace stoker {

// "fixed_size_list<uint8>[4]", and the values as JSON: "[[1, 2, 3, 4], null]". Types: those of
// Arrow by their names, list<T>, large_list<T>, fixed_size_list<T>[n], fixed_size_binary[n],
// dictionary<T>, timestamp, date32, decimal, struct<name: T, ...>, tensor[h,w] (of float).
struct TestColumn {
  std::string name;
  std::string type;
  std::string json;
};

struct TestTable {
  std::vector<TestColumn> columns;
  int64_t group_rows = 1 << 20;
  std::string compression = "none";  // snappy, gzip, zstd, brotli, lz4; of Arrow zstd and lz4
  bool checksums = false;            // of Parquet's pages
  bool stream = false;               // of Arrow: without a footer
};

inline constexpr const char* kArrowTestingFile = "libstoker_arrow_testing.so";
inline constexpr const char* kArrowTestingTagName = "StokerArrowTestingTag";
inline constexpr const char* kArrowTestingTag = "1";  // tests are built together with it
inline constexpr const char* kWriteTestTableName = "StokerWriteTestTable";
using WriteTestTableFunction = void(TableFormat format, const std::string& path,
                                    const TestTable& table, Status* out);

// Writes the table. Errors: kUnavailable where Stoker was built without Arrow; kInvalidArgument for
// a table that is none.
inline Status WriteTestTable(TableFormat format, const std::string& path, const TestTable& table) {
  STOKER_ASSIGN_OR_RETURN(const Plugin plugin,
                          Plugin::Load({.file = kArrowTestingFile,
                                        .tag_function = kArrowTestingTagName,
                                        .tag = kArrowTestingTag,
                                        .when_missing = "tests of Arrow need it"}));
  WriteTestTableFunction* write = nullptr;
  STOKER_RETURN_IF_ERROR(plugin.Find(kWriteTestTableName, write));
  Status written;
  write(format, path, table, &written);
  return written;
}

}  // namespace stoker
