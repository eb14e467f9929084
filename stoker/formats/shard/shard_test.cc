#include <cstring>
#include <filesystem>
#include <functional>

#include "stoker/base/testing.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/formats/shard/shard_testing_internal.h"
#include "stoker/formats/shard/shard_writer.h"
#include "stoker/io/file.h"

namespace stoker::shard_test {

using namespace std::string_literals;
using testing::HasSubstr;

ShardSchema Schema() {
  return {.fields = {{"image", DType::kFloat32, {2, kUnknownDim, kUnknownDim}},
                     {"label", DType::kInt64, {}},
                     {"text", DType::kUInt8, {kUnknownDim}},
                     {"nothing", DType::kInt16, {0, 3}}},
          .origin = "a test"};
}

Array Filled(DType dtype, Shape shape, int64_t seed) {
  Array array = Array::Allocate(dtype, std::move(shape));
  for (size_t i = 0; i < array.num_bytes(); ++i)
    array.data()[i] = static_cast<std::byte>(static_cast<size_t>(seed) * 31 + i);
  return array;
}

std::vector<Array> RecordOf(int64_t i) {
  return {Filled(DType::kFloat32, {2, i % 3, 1 + i % 2}, i), Filled(DType::kInt64, {}, i),
          Filled(DType::kUInt8, {i % 5 == 4 ? 200 : i % 5}, i), Filled(DType::kInt16, {0, 3}, i)};
}

void WriteShard(const std::string& path, int64_t records, uint64_t page_bytes) {
  STOKER_ASSERT_OK_AND_ASSIGN(ShardWriter writer, ShardWriter::Create(path, Schema(), page_bytes));
  for (int64_t i = 0; i < records; ++i) STOKER_ASSERT_OK(writer.Append(RecordOf(i)));
  EXPECT_EQ(writer.size(), records);
  EXPECT_FALSE(std::filesystem::exists(path));
  STOKER_ASSERT_OK(writer.Commit());
}

Buffer BytesOfShard(int64_t records) {
  const TempDir dir;
  WriteShard(dir / "f.stoker", records, /*page_bytes=*/300);
  return *ReadWholeFile(dir / "f.stoker");
}

void ExpectRecord(const ShardFile& file, int64_t i) {
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Array> record, file.Read(i));
  const std::vector<Array> wanted = RecordOf(i);
  ASSERT_EQ(record.size(), wanted.size());
  for (size_t f = 0; f < record.size(); ++f)
    EXPECT_TRUE(SameBytes(record[f], wanted[f])) << "record " << i << ", field " << f;
}

TEST(Shard, GivesBackEveryRecordInWhateverOrderTheyAreRead) {
  for (const uint64_t page_bytes : {1, 300, 1 << 20}) {
    const TempDir dir;
    WriteShard(dir / "f.stoker", 57, page_bytes);
    STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile file, ShardFile::Open(dir / "f.stoker"));
    EXPECT_EQ(file.schema().fields, Schema().fields);
    EXPECT_EQ(file.schema().origin, "a test");
    ASSERT_EQ(file.size(), 57);
    EXPECT_EQ(file.pages() == 57, page_bytes == 1);
    EXPECT_EQ(file.pages() == 1, page_bytes == 1 << 20);
    for (int64_t i = 0; i < 57; ++i) ExpectRecord(file, i * 23 % 57);
  }
}

TEST(Shard, MayBeEmpty) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile file, ShardFile::Parse(BytesOfShard(0), "f"));
  EXPECT_EQ(file.size(), 0);
  EXPECT_EQ(file.pages(), 0);
}

TEST(Shard, EqualRecordsGiveEqualBytes) {
  const Buffer a = BytesOfShard(20), b = BytesOfShard(20);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size()), 0);
}

TEST(Shard, ValuesOfAFixedFieldLieOneAfterTheOtherInAPage) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile file, ShardFile::Parse(BytesOfShard(57), "f"));
  const ShardFile::Page page = file.page(1);
  ASSERT_GE(page.records, 3);
  STOKER_ASSERT_OK(file.CheckValues(1, 1, 0, page.records));
  const std::byte* const labels = file.file().bytes().data() + file.Values(1, 1);
  for (int64_t i = 0; i < page.records; ++i) {
    const Array label = RecordOf(page.first + i)[1];
    EXPECT_EQ(std::memcmp(labels + i * 8, label.data(), 8), 0);
  }
}

TEST(Shard, SaysThatAllIsCheckedOnceEveryBlockHasBeen) {
  const TempDir dir;
  const ShardSchema schema{.fields = {{"x", DType::kUInt8, {100'000}}}, .origin = ""};
  STOKER_ASSERT_OK_AND_ASSIGN(ShardWriter writer, ShardWriter::Create(dir / "f.stoker", schema));
  for (int64_t i = 0; i < 8; ++i)
    STOKER_ASSERT_OK(writer.Append(std::vector{Filled(DType::kUInt8, {100'000}, i)}));
  STOKER_ASSERT_OK(writer.Commit());
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile file, ShardFile::Open(dir / "f.stoker"));
  ASSERT_EQ(file.blocks(), 4);
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_FALSE(file.all_checked()) << "before record " << i;
    STOKER_ASSERT_OK(file.CheckValues(0, 0, i, 1));
    STOKER_ASSERT_OK(file.CheckValues(0, 0, i, 1));  // counts once
  }
  EXPECT_TRUE(file.all_checked());
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile unchecked,
                              ShardFile::Open(dir / "f.stoker", ShardChecks::kNone));
  EXPECT_TRUE(unchecked.all_checked());
}

TEST(Shard, FindsThePageOfEveryRecordWhereverPagesDiffer) {
  // Long records at first, then ever shorter ones, and a few long ones at the end.
  const TempDir dir;
  const ShardSchema schema{.fields = {{"x", DType::kUInt8, {kUnknownDim}}}, .origin = ""};
  STOKER_ASSERT_OK_AND_ASSIGN(ShardWriter writer,
                              ShardWriter::Create(dir / "f.stoker", schema, 500));
  for (int64_t i = 0; i < 700; ++i) {
    const int64_t length = i > 690 ? 400 : 2000 / (1 + i);
    STOKER_ASSERT_OK(writer.Append(std::vector{Filled(DType::kUInt8, {length}, i)}));
  }
  STOKER_ASSERT_OK(writer.Commit());
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile file, ShardFile::Open(dir / "f.stoker"));
  ASSERT_GT(file.pages(), 20);
  for (int64_t p = 0; p < file.pages(); ++p) {
    const ShardFile::Page page = file.page(p);
    for (int64_t i = page.first; i < page.first + page.records; ++i) EXPECT_EQ(file.PageOf(i), p);
  }
}

// Made by hand from docs/formats/stoker.md: {x: int16[2], t: uint8[?]} in two pages.
TEST(Shard, ReadsFilesOfVersion1) {
  const auto Zeros = [](size_t n) { return std::string(n, '\0'); };
  // clang-format off
  const std::string file =
      "STKSHARD\001\000\000\000\252\031\\\302r\000\000\000xJ\005\250"s +
      "c"s +
      Zeros(39) +
      "{\"fields\":[{\"name\":\"x\",\""s +
      "dtype\":\"int16\",\"shape\":["s +
      "2]},{\"name\":\"t\",\"dtype\":"s +
      "\"uint8\",\"shape\":[-1]}],\""s +
      "origin\":\"by hand\"}"s +
      Zeros(14) +
      "\001\000\002\000\003\000\004"s +
      Zeros(57) +
      "\002\000\000\000\002\000\000\000\002"s +
      Zeros(55) +
      "ab"s +
      Zeros(62) +
      "\005\000\372\377"s +
      Zeros(60) +
      "\003\000\000\000\003"s +
      Zeros(59) +
      "xyz"s +
      Zeros(61) +
      "\300\000\000\000\000\000\000\000\202"s +
      Zeros(15) +
      "\002"s +
      Zeros(15) +
      "@\000\000\000\000\000\000\000\200\001\000\000\000\000\000\000\203\000\000\000\000\000\000\000"s +
      "\002\000\000\000\000\000\000\000\001"s +
      Zeros(15) +
      "@\000\000\000\000\000\000\000vs\177-\000\000\000\000\003\000\000\000\000\000\000\000"s +
      "\002\000\000\000\000\000\000\000@\002\000\000\000\000\000\000\001"s +
      Zeros(9) +
      "\004\000\027\273V\212"s +
      Zeros(12) +
      "\361Y \223STKSHRDZ"s;
  // clang-format on
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile shard,
                              ShardFile::Parse(CopyOf(std::as_bytes(std::span(file))), "golden"));
  EXPECT_EQ(shard.size(), 3);
  EXPECT_EQ(shard.pages(), 2);
  EXPECT_EQ(shard.schema().origin, "by hand");
  const std::vector<std::vector<int16_t>> x = {{1, 2}, {3, 4}, {5, -6}};
  const std::vector<std::string> t = {"ab", "", "xyz"};
  for (int64_t i = 0; i < 3; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Array> record, shard.Read(i));
    EXPECT_TRUE(SameBytes(record[0], Array::Of(x[static_cast<size_t>(i)])));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(record[1].data()), record[1].num_bytes()),
              t[static_cast<size_t>(i)]);
  }
}

TEST(Shard, ALaterVersionIsRefusedByItsNumber) {
  const Buffer bytes = BytesOfShard(3);
  bytes.data()[8] = std::byte{2};
  EXPECT_THAT(ShardFile::Parse(bytes, "f"),
              FailsWith(StatusCode::kUnimplemented, "this is version 2 of the format"));
}

TEST(Shard, EveryProperPrefixIsAnError) {
  const Buffer whole = BytesOfShard(7);
  STOKER_ASSERT_OK(ReadAllOf(whole));
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_THAT(ReadAllOf(CopyOf({whole.data(), n})),
                FailsWith(StatusCode::kDataLoss, "f.stoker: byte "))
        << n;
  }
}

TEST(Shard, EveryFlippedByteIsFound) {
  const Buffer whole = BytesOfShard(7);
  for (size_t n = 0; n < whole.size(); ++n) {
    const Buffer copy = CopyOf({whole.data(), whole.size()});
    copy.data()[n] ^= std::byte{0x20};
    EXPECT_FALSE(ReadAllOf(copy).ok()) << n;
    // Without checks values may be wrong; nothing is read beyond the file (asan sees to it).
    (void)ReadAllOf(copy, ShardChecks::kNone);
  }
}

TEST(Shard, DamageIsFoundWhereItIsReadAndTheRestCanBeUsed) {
  const TempDir dir;
  const ShardSchema schema{.fields = {{"x", DType::kUInt8, {100'000}}}, .origin = ""};
  STOKER_ASSERT_OK_AND_ASSIGN(ShardWriter writer,
                              ShardWriter::Create(dir / "f.stoker", schema, 400'000));
  for (int64_t i = 0; i < 20; ++i)
    STOKER_ASSERT_OK(writer.Append(std::vector{Filled(DType::kUInt8, {100'000}, i)}));
  STOKER_ASSERT_OK(writer.Commit());
  STOKER_ASSERT_OK_AND_ASSIGN(const Buffer bytes, ReadWholeFile(dir / "f.stoker"));
  bytes.data()[1'000'000] ^= std::byte{1};  // block 3, from byte 786,432 to 1,048,576
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile file, ShardFile::Parse(bytes, "f.stoker"));
  for (int64_t i = 0; i < 20; ++i) {
    const bool touched = i >= 7 && i <= 10;
    if (touched) {
      EXPECT_THAT(file.Read(i), FailsWith(StatusCode::kDataLoss, "f.stoker: byte 786432: ")) << i;
    } else {
      EXPECT_THAT(file.Read(i), IsOk()) << i;
    }
  }
  std::vector<int64_t> damaged;
  for (int64_t b = 0; b < file.blocks(); ++b)
    if (!file.CheckBlock(b)) damaged.push_back(b);
  EXPECT_THAT(damaged, testing::ElementsAre(3));
  const ShardFile::Damage damage = file.DamageOf(3);
  EXPECT_EQ(damage.begin, 786'432u);
  EXPECT_EQ(damage.bytes, 262'144u);
  EXPECT_EQ(damage.first, 4);  // the page of records 4 to 7, and that of 8 to 11
  EXPECT_EQ(damage.records, 8);
}

// A file whose footer says something else, with the right checksums.
Status ReadWithTrailer(const std::function<void(internal::ShardTrailer&)>& change) {
  Buffer bytes = BytesOfShard(7);
  internal::ShardTrailer trailer = TrailerOf(bytes);
  change(trailer);
  Seal(bytes, trailer);
  return ReadAllOf(bytes);
}

TEST(Shard, TrailersThatLieAreErrors) {
  constexpr uint64_t kMost = ~uint64_t{0};
  EXPECT_THAT(ReadWithTrailer([](auto&) {}), IsOk());
  for (const uint64_t wrong :
       {uint64_t{0}, uint64_t{2}, uint64_t{6}, uint64_t{8}, kMost / 8, kMost}) {
    const std::function<void(internal::ShardTrailer&)> changes[] = {
        [&](auto& t) { t.records = wrong; }, [&](auto& t) { t.pages += wrong == 0 ? 1 : wrong; },
        [&](auto& t) { t.footer = wrong; }, [&](auto& t) { t.blocks = wrong; }};
    for (const auto& change : changes)
      EXPECT_THAT(ReadWithTrailer(change), FailsWith(StatusCode::kDataLoss, "f.stoker: byte "));
  }
}

// Word `word` of the entry of page `page` says `value`.
Status ReadWithEntry(uint64_t page, uint64_t word, uint64_t value) {
  Buffer bytes = BytesOfShard(7);
  const internal::ShardTrailer trailer = TrailerOf(bytes);
  const uint64_t entry_words = 4 + Schema().fields.size();
  std::memcpy(bytes.data() + trailer.footer + (page * entry_words + word) * 8, &value, 8);
  Seal(bytes, trailer);
  return ReadAllOf(bytes);
}

TEST(Shard, PagesThatDoNotFitTheFileAreErrors) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ShardFile file, ShardFile::Parse(BytesOfShard(7), "f"));
  ASSERT_GE(file.pages(), 2);
  EXPECT_THAT(ReadWithEntry(1, 0, file.page(1).begin), IsOk());
  for (uint64_t word = 0; word < 8; ++word) {
    for (const uint64_t value : {uint64_t{7}, uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{63}}) {
      EXPECT_THAT(ReadWithEntry(1, word, value),
                  FailsWith(StatusCode::kDataLoss, "f.stoker: byte "))
          << word << " " << value;
    }
  }
}

TEST(Shard, RecordsThatDoNotFitTheSchemaAreRefused) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(ShardWriter writer, ShardWriter::Create(dir / "f", Schema()));
  STOKER_ASSERT_OK(writer.Append(RecordOf(0)));
  std::vector<Array> record = RecordOf(1);
  record.pop_back();
  EXPECT_THAT(writer.Append(record),
              FailsWith(StatusCode::kInvalidArgument, "record 1 has 3 fields, the schema has 4"));
  record.push_back(Filled(DType::kInt16, {1, 3}, 0));
  EXPECT_THAT(writer.Append(record),
              FailsWith(StatusCode::kInvalidArgument,
                        "record 1: 'nothing' is int16[1, 3]; the schema says int16[0, 3]"));
  record = RecordOf(1);
  record[1] = Filled(DType::kInt32, {}, 0);
  EXPECT_THAT(writer.Append(record), FailsWith(StatusCode::kInvalidArgument, "'label' is int32[]"));
}

TEST(Shard, ASchemaNeedsFieldsOfDifferentNames) {
  const TempDir dir;
  EXPECT_THAT(ShardWriter::Create(dir / "f", {}),
              FailsWith(StatusCode::kInvalidArgument, "at least one field"));
  const ShardSchema twice{.fields = {{"a", DType::kBool, {}}, {"a", DType::kBool, {}}},
                          .origin = ""};
  EXPECT_THAT(ShardWriter::Create(dir / "f", twice),
              FailsWith(StatusCode::kInvalidArgument, "two fields are called 'a'"));
}

}  // namespace stoker::shard_test
