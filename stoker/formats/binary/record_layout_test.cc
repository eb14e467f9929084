#include "stoker/formats/binary/record_layout.h"

#include <cstring>

#include "stoker/base/testing.h"

namespace stoker::record_layout_test {

TEST(RecordLayout, PutsFieldsBehindEachOtherOrWhereTold) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const RecordLayout layout,
      RecordLayout::Make({{"label", DType::kUInt8, {}},
                          {"x", DType::kInt16, {2}},
                          {"first", DType::kUInt8, {2}, 0}},
                         {.record_bytes = 7, .header_bytes = 3, .footer_bytes = 1}));
  EXPECT_EQ(layout.OffsetOf(2), 17u);
  EXPECT_EQ(*layout.RecordsIn(4, "a"), 0);
  EXPECT_EQ(*layout.RecordsIn(18, "a"), 2);
  const unsigned char record[7] = {9, 1, 0, 255, 255, 7, 7};
  unsigned char label = 0, first[2] = {};
  int16_t x[2] = {};
  std::byte* const memory[3] = {reinterpret_cast<std::byte*>(&label),
                                reinterpret_cast<std::byte*>(x),
                                reinterpret_cast<std::byte*>(first)};
  layout.Unpack(std::as_bytes(std::span(record)), memory);
  EXPECT_EQ(label, 9);
  EXPECT_THAT(x, testing::ElementsAre(1, -1));
  EXPECT_THAT(first, testing::ElementsAre(9, 1));
}

TEST(RecordLayout, TurnsBigEndianNumbersAround) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const RecordLayout layout,
      RecordLayout::Make({{"a", DType::kInt32, {}}, {"b", DType::kFloat64, {1}}},
                         {.big_endian = true}));
  EXPECT_EQ(layout.record_bytes(), 12);
  const unsigned char record[12] = {0, 0, 1, 2, 0x3f, 0xf8};
  int32_t a = 0;
  double b = 0;
  std::byte* const memory[2] = {reinterpret_cast<std::byte*>(&a), reinterpret_cast<std::byte*>(&b)};
  layout.Unpack(std::as_bytes(std::span(record)), memory);
  EXPECT_EQ(a, 258);
  EXPECT_EQ(b, 1.5);
}

TEST(RecordLayout, RefusesFilesOfNoWholeNumberOfRecordsAndSaysWhereTheCutOneBegins) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const RecordLayout layout,
      RecordLayout::Make({{"a", DType::kUInt8, {4}}}, {.header_bytes = 2, .footer_bytes = 2}));
  for (uint64_t bytes = 0; bytes < 4; ++bytes) {
    EXPECT_THAT(layout.RecordsIn(bytes, "a"),
                FailsWith(StatusCode::kDataLoss, "header and footer take 4"));
  }
  const std::pair<uint64_t, const char*> cut[] = {
      {5,
       "a: byte 2: record 0 ends after 1 of its 4 bytes: the file has 5 bytes, of which header and "
       "footer"},
      {7, "a: byte 2: record 0 ends after 3 of its 4 bytes: the file has 7 bytes"},
      {9, "a: byte 6: record 1 ends after 1 of its 4 bytes: the file has 9 bytes"}};
  for (const auto& [bytes, says] : cut)
    EXPECT_THAT(layout.RecordsIn(bytes, "a"), FailsWith(StatusCode::kDataLoss, says));
}

TEST(RecordLayout, RefusesFieldsThatDoNotFit) {
  const auto fails = [](std::vector<RecordField> fields, int64_t bytes, const char* says) {
    EXPECT_THAT(RecordLayout::Make(std::move(fields), {.record_bytes = bytes}),
                FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({}, 0, "no fields are named");
  fails({{"a", DType::kInt32, {2}, 1}}, 8, "field 'a' is bytes 1 to 8, but records have 8");
  fails({{"a", DType::kUInt8, {0}}}, 0, "the fields have no values");
  fails({{"a", DType::kUInt8, {int64_t{1} << 40, 2}}}, 0, "larger than any record");
  fails({{"a", DType::kInt64, {int64_t{1} << 62, 1 << 20}}}, 0, "larger than any record");
}

}  // namespace stoker::record_layout_test
