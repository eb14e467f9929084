#include <thread>

#include "stoker/base/testing.h"
#include "stoker/formats/arrow/table_file.h"
#include "stoker/formats/arrow/table_file_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/unflushed_file.h"

namespace stoker::table_damage_test {

// A table with all that files can be made of, and small.
TestTable SmallTable() {
  return {
      .columns = {{"n", "int32", "[1, null, 3, 4, 5, 6]"},
                  {"t", "string", R"(["a", null, "", "bcd", "ef", "g"])"},
                  {"l", "list<int32>", "[[1, null], null, [], [2], [3, 4], [5]]"},
                  {"w", "dictionary<string>", R"(["a", null, "b", "b", "c", "d"])"},
                  {"f", "fixed_size_list<uint8>[2]",
                   "[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]"},
                  {"v", "string_view", R"(["a", "long enough to lie elsewhere", "", "", "", ""])"}},
      .group_rows = 4,
      .checksums = true};
}

// Reads all that a file says it has, and gives how many rows of columns it was.
int64_t ReadEverything(const TableFile& file) {
  int64_t read = 0;
  for (const TableColumn& column : file.columns()) {
    if (!column.unread.empty()) continue;
    const TableWish wish{column.path, {}};
    for (int64_t group = 0; group < std::ssize(file.group_rows()); ++group) {
      const auto decoded = file.ReadGroup(group, {&wish, 1}, {.most_bytes = 4 << 20});
      if (!decoded.ok()) continue;
      const DecodedColumn& values = (*decoded)->columns.front();
      if (values.offsets != nullptr) {
        int64_t sum = 0;
        const int64_t items = values.offsets[(*decoded)->rows];
        const auto item_bytes = static_cast<int64_t>(DTypeSize(column.dtype));
        for (int64_t i = 0; i < items * item_bytes; ++i) sum += int64_t(values.values[i]);
        EXPECT_GE(sum, 0);
      }
      read += (*decoded)->rows;
    }
  }
  return read;
}

std::vector<Variant> DamagedVariants() {
  return {{"a.parquet", TableFormat::kParquet, "none"},
          {"b.parquet", TableFormat::kParquet, "zstd"},
          {"a.arrow", TableFormat::kArrow, "none"},
          {"b.arrow", TableFormat::kArrow, "lz4"},
          {"c.arrow", TableFormat::kArrow, "none", /*stream=*/true}};
}

TEST_F(TableFileTest, EveryTruncationIsAnErrorThatNamesTheFile) {
  for (const Variant& variant : DamagedVariants()) {
    const std::string path = Write(variant, SmallTable());
    STOKER_ASSERT_OK_AND_ASSIGN(const std::string good, ReadTextFile(path));
    EXPECT_EQ(ReadEverything(**OpenTableFile(variant.format, path)), 36);
    for (size_t size = 0; size < good.size(); size += 1 + size / 64) {
      STOKER_ASSERT_OK(WriteFileUnflushed(dir_ / "cut", good.substr(0, size)));
      const auto cut = OpenTableFile(variant.format, dir_ / "cut");
      // A stream may end after any of its messages.
      if (cut.ok() && variant.stream) continue;
      EXPECT_THAT(cut, FailsWith(StatusCode::kDataLoss, dir_ / "cut"))
          << variant.name << " " << size;
    }
  }
}

// One of the bytes says how pages are compressed, and 3 (stored as 6) says LZO, which Apache Arrow
// has no decoder for: such a file is whole.
TEST_F(TableFileTest, WhatArrowHasNoDecoderForIsNotCalledDamaged) {
  const std::string path = Write({"a.parquet", TableFormat::kParquet, "none"}, SmallTable());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string good, ReadTextFile(path));
  int undecodable = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    std::string other = good;
    other[at] = 6;
    STOKER_ASSERT_OK(WriteFileUnflushed(dir_ / "other", other));
    const auto file = OpenTableFile(TableFormat::kParquet, dir_ / "other");
    if (!file.ok()) continue;
    for (const TableColumn& column : (*file)->columns()) {
      const TableWish wish{column.path, {}};
      if (!column.unread.empty()) continue;
      const auto decoded = (*file)->ReadGroup(0, {&wish, 1}, {.most_bytes = 4 << 20});
      if (decoded.ok()) continue;
      const bool unimplemented = decoded.status().code() == StatusCode::kUnimplemented;
      EXPECT_EQ(unimplemented,
                decoded.status().message().find("Apache Arrow cannot read it") != std::string::npos)
          << decoded.status().ToString();
      undecodable += unimplemented ? 1 : 0;
    }
  }
  EXPECT_GT(undecodable, 0);
}

TEST_F(TableFileTest, EveryFlippedByteIsReadOrRefusedAndNeverCrashes) {
  for (const Variant& variant : DamagedVariants()) {
    const std::string path = Write(variant, SmallTable());
    STOKER_ASSERT_OK_AND_ASSIGN(const std::string good, ReadTextFile(path));
    for (const int flip : {0x01, 0xff}) {  // every other byte, so that all are met
      for (size_t at = flip == 0x01; at < good.size(); at += 2) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        STOKER_ASSERT_OK(WriteFileUnflushed(dir_ / "bad", bad));
        const auto file = OpenTableFile(variant.format, dir_ / "bad");
        if (file.ok()) ReadEverything(**file);
      }
    }
  }
}

TEST_F(TableFileTest, ADamagedPageIsNamedByFileGroupAndColumn) {
  const Variant variant{"a.parquet"};
  TestTable table{
      .columns = {{"x", "int64", "[1111, 2222, 3333, 4444]"}}, .group_rows = 2, .checksums = true};
  const std::string path = Write(variant, table);
  STOKER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadTextFile(path));
  const int64_t last = 4444;
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&last), sizeof(last)));
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  STOKER_ASSERT_OK(WriteFileAtomically(path, bytes));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto file, OpenTableFile(TableFormat::kParquet, path));
  const TableWish wish{"x", {}};
  EXPECT_TRUE(file->ReadGroup(0, {&wish, 1}, {.most_bytes = kEnough}).ok());
  EXPECT_THAT(file->ReadGroup(1, {&wish, 1}, {.most_bytes = kEnough}),
              FailsWith(StatusCode::kDataLoss, path + ": row group 1, column 'x': "));
}

TEST_F(TableFileTest, AColumnThatThereIsNoArrayForIsCheckedAllTheSame) {
  const TestTable table{
      .columns = {{"words", "list<string>", R"([["first", "second"], ["third"]])"},
                  {"x", "int64", "[1, 2]"}},
      .checksums = true};
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file,
                                OpenTableFile(variant.format, Write(variant, table)));
    STOKER_EXPECT_OK(file->CheckGroup(0, "words", {.most_bytes = kEnough}));
  }
  const std::string path = Write({"a.parquet"}, table);
  STOKER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadTextFile(path));
  const size_t at = bytes.find("second");
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  STOKER_ASSERT_OK(WriteFileAtomically(path, bytes));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto file, OpenTableFile(TableFormat::kParquet, path));
  STOKER_EXPECT_OK(file->CheckGroup(0, "x", {.most_bytes = kEnough}));
  EXPECT_THAT(file->CheckGroup(0, "words", {.most_bytes = kEnough}),
              FailsWith(StatusCode::kDataLoss, path + ": row group 0, column 'words': "));
}

TEST_F(TableFileTest, AFileOfAnotherKindSaysWhatItLacks) {
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "text", "some text that is long enough"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "feather", "FEA1 and more"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "secret", "PARE and more of it PARE"));
  EXPECT_THAT(OpenTableFile(TableFormat::kParquet, dir_ / "text"),
              FailsWith(StatusCode::kDataLoss, "begins with PAR1"));
  EXPECT_THAT(OpenTableFile(TableFormat::kArrow, dir_ / "text"),
              FailsWith(StatusCode::kDataLoss, "begins with ARROW1"));
  EXPECT_THAT(OpenTableFile(TableFormat::kArrow, dir_ / "feather"),
              FailsWith(StatusCode::kUnimplemented, "first version of Feather"));
  EXPECT_THAT(OpenTableFile(TableFormat::kParquet, dir_ / "secret"),
              FailsWith(StatusCode::kUnimplemented, "encrypted"));
}

TEST_F(TableFileTest, SeveralThreadsReadGroupsAtOnce) {
  std::string json = "[";
  for (int i = 0; i < 1000; ++i) json += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  for (const Variant& variant : DamagedVariants()) {
    const std::string path =
        Write(variant, {.columns = {{"x", "int64", json + "]"}}, .group_rows = 50});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file, OpenTableFile(variant.format, path));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto alone, RowsOf<int64_t>(*file, {"x", {}}));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        EXPECT_EQ(*RowsOf<int64_t>(*file, {"x", {}}), alone) << variant.name;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace stoker::table_damage_test
