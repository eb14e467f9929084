#include "stoker/formats/arrow/table_file.h"

#include "stoker/base/testing.h"
#include "stoker/formats/arrow/arrow_testing_internal.h"
#include "stoker/formats/arrow/table_file_testing_internal.h"
#include "stoker/io/file_bytes_testing_internal.h"

namespace stoker::table_file_test {

using testing::ElementsAre;
using testing::HasSubstr;

TestTable TableOfEveryType() {
  return {.columns = {{"i8", "int8", "[-1, 2, 3]"},
                      {"u8", "uint8", "[255, 0, 1]"},
                      {"u16", "uint16", "[65535, 0, 1]"},
                      {"u32", "uint32", "[4294967295, 0, 1]"},
                      {"i64", "int64", "[-9000000000, 0, 1]"},
                      {"f32", "float", "[0.5, -1, 2]"},
                      {"f64", "double", "[0.25, -1, 2]"},
                      {"b", "bool", "[true, false, true]"},
                      {"day", "date32", "[1, 2, 3]"},
                      {"time", "timestamp", "[5, 6, 7]"},
                      {"pair", "fixed_size_list<uint8>[2]", "[[1, 2], [3, 4], [5, 6]]"},
                      {"deep", "fixed_size_list<fixed_size_list<int16>[2]>[2]",
                       "[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]]"},
                      {"list", "list<int32>", "[[1, 2], [], [3]]"},
                      {"large", "large_list<float>", "[[1, 2], [], [3]]"},
                      {"raw", "fixed_size_binary[2]", R"(["ab", "cd", "ef"])"},
                      {"text", "string", R"(["one", "", "three"])"},
                      {"blob", "large_binary", R"(["one", "", "three"])"},
                      {"word", "dictionary<string>", R"(["cat", "dog", "cat"])"},
                      {"s", "struct<a: int32, in: struct<b: int64>>",
                       R"([[1, [10]], [2, [20]], [3, [30]]])"}},
          .group_rows = 2};
}

TEST_F(TableFileTest, EveryTypeIsReadInEveryCompressionAndForm) {
  const TestTable table = TableOfEveryType();
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    std::optional<ScopedMapping> mapping;
    if (variant.mapped) mapping.emplace();
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file,
                                OpenTableFile(variant.format, Write(variant, table)));
    EXPECT_THAT(file->group_rows(), ElementsAre(2, 1));
    EXPECT_THAT(*RowsOf<int8_t>(*file, {"i8", {}}), ElementsAre("-1", "2", "3"));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"u8", {}}), ElementsAre("255", "0", "1"));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"u16", {}}), ElementsAre("65535", "0", "1"));
    EXPECT_THAT(*RowsOf<int64_t>(*file, {"u32", {}}), ElementsAre("4294967295", "0", "1"));
    EXPECT_THAT(*RowsOf<int64_t>(*file, {"i64", {}}), ElementsAre("-9000000000", "0", "1"));
    EXPECT_THAT(*RowsOf<float>(*file, {"f32", {}}), ElementsAre("0.5", "-1", "2"));
    EXPECT_THAT(*RowsOf<double>(*file, {"f64", {}}), ElementsAre("0.25", "-1", "2"));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"b", {}}), ElementsAre("1", "0", "1"));
    EXPECT_EQ(file->Find("b")->dtype, DType::kBool);
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"day", {}}), ElementsAre("1", "2", "3"));
    EXPECT_THAT(*RowsOf<int64_t>(*file, {"time", {}}), ElementsAre("5", "6", "7"));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"pair", {}}), ElementsAre("1 2", "3 4", "5 6"));
    EXPECT_EQ(file->Find("deep")->row_shape, Shape({2, 2}));
    EXPECT_THAT(*RowsOf<int16_t>(*file, {"deep", {}}),
                ElementsAre("1 2 3 4", "5 6 7 8", "9 10 11 12"));
    EXPECT_EQ(file->Find("list")->row_shape, Shape({-1}));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"list", {}}), ElementsAre("1 2", "", "3"));
    EXPECT_THAT(*RowsOf<float>(*file, {"large", {}}), ElementsAre("1 2", "", "3"));
    EXPECT_EQ(file->Find("raw")->row_shape, Shape({2}));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"raw", {}}), ElementsAre("97 98", "99 100", "101 102"));
    for (const char* texts : {"text", "blob"}) {
      EXPECT_THAT(*RowsOf<uint8_t>(*file, {texts, {}}),
                  ElementsAre(Bytes("one"), "", Bytes("three")));
    }
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"word", {}}),
                ElementsAre(Bytes("cat"), Bytes("dog"), Bytes("cat")));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"s.a", {}}), ElementsAre("1", "2", "3"));
    EXPECT_THAT(*RowsOf<int64_t>(*file, {"s.in.b", {}}), ElementsAre("10", "20", "30"));
  }
}

TEST_F(TableFileTest, ANullIsAFaultOfItsRowAloneOrTheValueThatStandsForIt) {
  const TestTable table{.columns = {{"n", "int32", "[1, null, 3, null]"},
                                    {"t", "string", R"(["a", null, "", "b"])"},
                                    {"l", "list<int32>", "[[1, null], null, [], [2]]"},
                                    {"w", "dictionary<string>", R"(["a", null, "b", "b"])"},
                                    {"s", "struct<a: int32>", "[[1], null, [null], [4]]"}}};
  const int32_t nine = 9;
  const std::string value(reinterpret_cast<const char*>(&nine), sizeof(nine));
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file,
                                OpenTableFile(variant.format, Write(variant, table)));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"n", {}}), ElementsAre("1", "null", "3", "null"));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"n", value}), ElementsAre("1", "9", "3", "9"));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"t", {}}), ElementsAre("97", "null", "", "98"));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"t", "c"}), ElementsAre("97", "99", "", "98"));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"l", {}}), ElementsAre("null", "null", "", "2"));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"l", value}), ElementsAre("1 9", "", "", "2"));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"w", {}}), ElementsAre("97", "null", "98", "98"));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"s.a", {}}), ElementsAre("1", "null", "null", "4"));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"s.a", value}), ElementsAre("1", "9", "9", "4"));
  }
}

TEST_F(TableFileTest, AFileInAStructIsItsBytesAndKnowsItsName) {
  const TestTable table{.columns = {{"image", "struct<bytes: binary, path: string>",
                                     R"([["JPEG", "a.jpg"], ["PNG", null]])"}}};
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file,
                                OpenTableFile(variant.format, Write(variant, table)));
    ASSERT_EQ(file->columns().size(), 1u);
    EXPECT_EQ(file->columns().front().path, "image");
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"image", {}}), ElementsAre(Bytes("JPEG"), Bytes("PNG")));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {"image.bytes", {}}),
                ElementsAre(Bytes("JPEG"), Bytes("PNG")));
    EXPECT_THAT(*RowsOf<uint8_t>(*file, {file->columns().front().names, ""}),
                ElementsAre(Bytes("a.jpg"), ""));
  }
}

TEST_F(TableFileTest, WhatThereIsNoArrayForSaysWhyAndStandsInNobodysWay) {
  const TestTable table{.columns = {{"d", "decimal", R"(["1.50"])"},
                                    {"ll", "list<list<int32>>", "[[[1]]]"},
                                    {"lt", "list<string>", R"([["a"]])"},
                                    {"n", "null", "[null]"},
                                    {"i", "int32", "[7]"}}};
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file,
                                OpenTableFile(variant.format, Write(variant, table)));
    EXPECT_THAT(file->Find("d")->unread, HasSubstr("cast them to float64"));
    EXPECT_THAT(file->Find("ll")->unread, HasSubstr("fixed_size_list"));
    EXPECT_THAT(file->Find("lt")->unread, HasSubstr("lists of texts"));
    EXPECT_THAT(file->Find("n")->unread, HasSubstr("only nulls"));
    EXPECT_THAT(*RowsOf<int32_t>(*file, {"i", {}}), ElementsAre("7"));
  }
}

TEST_F(TableFileTest, ANumberBeyondInt64IsAFaultOfItsRow) {
  const TestTable table{.columns = {{"u", "uint64", "[1, 18446744073709551615, 3]"}}};
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file,
                                OpenTableFile(variant.format, Write(variant, table)));
    EXPECT_THAT(*RowsOf<int64_t>(*file, {"u", {}}), ElementsAre("1", "null", "3"));
  }
}

TEST_F(TableFileTest, AMappedArrowFileIsUsedWhereItLies) {
  const ScopedMapping mapping;
  const Variant variant{"a.arrow", TableFormat::kArrow};
  const std::string path =
      Write(variant, {.columns = {{"x", "fixed_size_list<uint8>[2]", "[[1, 2], [3, 4]]"}}});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto file, OpenTableFile(TableFormat::kArrow, path));
  const TableWish wish{"x", {}};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto group,
                              file->ReadGroup(0, {&wish, 1}, {.most_bytes = kEnough}));
  EXPECT_EQ(group->bytes, 0u);
}

TEST_F(TableFileTest, AGroupThatTakesMoreThanItMayIsRefused) {
  std::string json = "[";
  for (int i = 0; i < 20000; ++i) json += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  for (const Variant& variant : Variants()) {
    if (variant.mapped) continue;
    SCOPED_TRACE(variant.name);
    const std::string path = Write(variant, {.columns = {{"x", "int64", json + "]"}}});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto file, OpenTableFile(variant.format, path));
    const TableWish wish{"x", {}};
    EXPECT_THAT(file->ReadGroup(0, {&wish, 1}, {.most_bytes = 1000}),
                FailsWith(StatusCode::kResourceExhausted, "set aside"));
    EXPECT_THAT(
        file->ReadGroup(0, {&wish, 1}, {.most_bytes = kEnough, .stopped = [] { return true; }}),
        FailsWith(StatusCode::kCancelled, "asked to stop"));
    EXPECT_TRUE(file->ReadGroup(0, {&wish, 1}, {.most_bytes = kEnough}).ok());
  }
}

// Columns without nulls are read another way than those with some.
template <typename T>
void ExpectSameRowsBesideANull(const std::string& path, const std::string& type, int lists) {
  constexpr int kRows = 3000;  // more values than are read at once
  int next = 0;
  std::string json = "[";
  for (int row = 0; row < kRows; ++row) {
    const auto value = [&] { return std::to_string(next++ * 7 % 120); };
    const auto pair = [&] { return fmt::format("[{}, {}]", value(), value()); };
    json += row == 0 ? "" : ", ";
    json += lists == 0   ? value()
            : lists == 1 ? pair()
                         : fmt::format("[{}, {}, {}]", pair(), pair(), pair());
  }
  STOKER_ASSERT_OK(
      WriteTestTable(TableFormat::kParquet, path, {.columns = {{"x", type, json + "]"}}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto full, OpenTableFile(TableFormat::kParquet, path));
  STOKER_ASSERT_OK_AND_ASSIGN(std::vector<std::string> rows, RowsOf<T>(*full, {"x", {}}));
  ASSERT_EQ(rows.size(), size_t{kRows});
  STOKER_ASSERT_OK(
      WriteTestTable(TableFormat::kParquet, path, {.columns = {{"x", type, json + ", null]"}}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto with_null, OpenTableFile(TableFormat::kParquet, path));
  rows.emplace_back("null");
  EXPECT_EQ(*RowsOf<T>(*with_null, {"x", {}}), rows);
}

TEST_F(TableFileTest, RowsAreTheSameWhetherOrNotThereIsANullInTheirGroup) {
  const std::string path = dir_ / "a.parquet";
  for (const auto& [list, lists] : {std::pair("{}", 0), std::pair("fixed_size_list<{}>[2]", 1),
                                    std::pair("fixed_size_list<fixed_size_list<{}>[2]>[3]", 2)}) {
    const auto type = [&](const char* name) { return fmt::format(fmt::runtime(list), name); };
    SCOPED_TRACE(type("T"));
    ExpectSameRowsBesideANull<uint8_t>(path, type("uint8"), lists);
    ExpectSameRowsBesideANull<int16_t>(path, type("int16"), lists);
    ExpectSameRowsBesideANull<int32_t>(path, type("int32"), lists);
    ExpectSameRowsBesideANull<int64_t>(path, type("int64"), lists);
    ExpectSameRowsBesideANull<float>(path, type("float"), lists);
    ExpectSameRowsBesideANull<double>(path, type("double"), lists);
  }
}

TEST(ArrowLibrary, AnotherVersionInTheProcessIsRefusedByNameAndTheSameIsShared) {
  const std::vector<std::string> same = {"/a/libz.so.1", "/b/libarrow.so.2600",
                                         "/b/libarrow_python.so.1900"};
  STOKER_EXPECT_OK(CheckNoOtherArrow(same, "libarrow.so.2600"));
  STOKER_EXPECT_OK(
      CheckNoOtherArrow(std::vector<std::string>{"/b/libarrow.so.2600.1.0"}, "libarrow.so.2600"));
  EXPECT_THAT(
      CheckNoOtherArrow(std::vector<std::string>{"/b/libarrow.so.1900"}, "libarrow.so.2600"),
      FailsWith(StatusCode::kUnavailable, "/b/libarrow.so.1900 loaded"));
}

}  // namespace stoker::table_file_test
