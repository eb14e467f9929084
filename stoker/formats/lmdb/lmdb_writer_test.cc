#include "stoker/formats/lmdb/lmdb_writer.h"

#include <filesystem>
#include <string>

#include "stoker/base/testing.h"
#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/io/file.h"

namespace stoker::lmdb_writer_test {

std::string KeyOf(int64_t i) { return fmt::format("{:09}", i); }

// Of all sizes around those at which LMDB gives a value pages of its own.
std::string ValueOf(int64_t i) {
  constexpr size_t kSizes[] = {0,    1,    7,    100,  1000, 2000, 2030,
                               2031, 2032, 2040, 4079, 4080, 4081, 9000};
  return std::string(kSizes[static_cast<size_t>(i) % std::size(kSizes)],
                     static_cast<char>('a' + i % 26));
}

Status Write(const std::string& directory, int64_t entries) {
  std::filesystem::create_directories(directory);
  STOKER_ASSIGN_OR_RETURN(LmdbWriter writer, LmdbWriter::Create(directory));
  for (int64_t i = 0; i < entries; ++i) STOKER_RETURN_IF_ERROR(writer.Append(KeyOf(i), ValueOf(i)));
  return writer.Finish();
}

TEST(LmdbWriter, WhatItWritesIsReadBackWhateverItsSize) {
  const TempDir dir;
  for (const int64_t entries : {0, 1, 2, 15, 400, 30000}) {  // the last ones: several transactions
    SCOPED_TRACE(entries);
    const std::string path = dir / std::to_string(entries);
    STOKER_ASSERT_OK(Write(path, entries));
    STOKER_ASSERT_OK_AND_ASSIGN(const LmdbFile file, LmdbFile::Open(path));
    ASSERT_EQ(file.size(), entries);
    for (int64_t i = 0; i < entries; ++i) {
      ASSERT_EQ(file.key(i), KeyOf(i));
      std::string value(file.value(i).size(), '\0');
      STOKER_ASSERT_OK(file.ReadValue(i, std::as_writable_bytes(std::span(value))));
      ASSERT_EQ(value, ValueOf(i)) << i;
    }
    EXPECT_FALSE(std::filesystem::exists(path + "/lock.mdb"));
  }
}

TEST(LmdbWriter, TheMapGrowsWithWhatIsWritten) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(LmdbWriter writer, LmdbWriter::Create(dir.path()));
  const std::string large(40 << 20, 'x'), small(1 << 20, 'y');
  STOKER_ASSERT_OK(writer.Append("0", large));  // more than the map that it begins with
  for (int i = 1; i < 80; ++i) STOKER_ASSERT_OK(writer.Append(KeyOf(i), small));
  STOKER_ASSERT_OK(writer.Finish());
  STOKER_ASSERT_OK_AND_ASSIGN(const LmdbFile file, LmdbFile::Open(dir.path()));
  ASSERT_EQ(file.size(), 80);
  EXPECT_EQ(file.longest_value(), large.size());
  std::string last(small.size(), '\0');
  STOKER_ASSERT_OK(file.ReadValue(79, std::as_writable_bytes(std::span(last))));
  EXPECT_EQ(last, small);
}

TEST(LmdbWriter, EqualCallsGiveEqualBytes) {
  const TempDir dir;
  STOKER_ASSERT_OK(Write(dir / "a", 20000));
  STOKER_ASSERT_OK(Write(dir / "b", 20000));
  EXPECT_EQ(*ReadTextFile(dir / "a/data.mdb", 1 << 30), *ReadTextFile(dir / "b/data.mdb", 1 << 30));
}

TEST(LmdbWriter, KeysThatLmdbDoesNotTakeAreRefused) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(LmdbWriter writer, LmdbWriter::Create(dir.path()));
  EXPECT_THAT(writer.Append("", "x"), FailsWith(StatusCode::kInvalidArgument, "a key of 0 bytes"));
  EXPECT_THAT(writer.Append(std::string(512, 'k'), "x"),
              FailsWith(StatusCode::kInvalidArgument, "a key of 512 bytes; LMDB takes 1 to 511"));
  STOKER_ASSERT_OK(writer.Append("b", "x"));
  EXPECT_THAT(writer.Append("a", "x"),
              FailsWith(StatusCode::kInvalidArgument, "key 'a' does not come after"));
  EXPECT_THAT(LmdbWriter::Create(dir / "none"), FailsWith(StatusCode::kNotFound, "none/data.mdb"));
}

}  // namespace stoker::lmdb_writer_test
