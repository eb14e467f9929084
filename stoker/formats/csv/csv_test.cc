#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/csv/row_parser.h"
#include "stoker/formats/csv/row_reader.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/dripping_testing_internal.h"

namespace stoker::csv_test {

using namespace std::string_literals;
using testing::ElementsAre;

// Each row as "number@offset:text".
Result<std::vector<std::string>> RowsOf(std::string_view text, const CsvDialect& dialect = {},
                                        size_t piece = 1 << 20, int64_t max_bytes = 1 << 20) {
  CsvRowReader reader(std::make_unique<Dripping>(text, piece), dialect, max_bytes);
  std::vector<std::string> rows;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<CsvRow> row, reader.Next());
    if (!row) return rows;
    rows.push_back(fmt::format("{}@{}:{}", row->number, row->offset, row->text));
  }
}

TEST(CsvRowReader, SplitsAtLineEndsOutsideOfQuotes) {
  EXPECT_THAT(*RowsOf("a,b\nc,d\r\ne"), ElementsAre("0@0:a,b", "1@4:c,d", "2@9:e"));
  EXPECT_THAT(*RowsOf("\"a\nb\",1\r\n\"c\"\"\n\",2\n"),
              ElementsAre("0@0:\"a\nb\",1", "1@9:\"c\"\"\n\",2"));
  EXPECT_THAT(*RowsOf("\"a\nb\"", {.quote = 0}), ElementsAre("0@0:\"a", "1@3:b\""));
  EXPECT_THAT(*RowsOf(""), testing::IsEmpty());
}

TEST(CsvRowReader, LeavesOutBlankLinesCommentsAndTheByteOrderMark) {
  EXPECT_THAT(*RowsOf("\xef\xbb\xbf#\"x\n\na\n\r\n#\nb#\n", {.comment = '#'}),
              ElementsAre("0@8:a", "1@14:b#"));
  EXPECT_THAT(*RowsOf("\xef\xbb\xbf"), testing::IsEmpty());
}

TEST(CsvRowReader, GivesTheSameHoweverTheBytesArrive) {
  const std::string text = "a,\"b\n\"\"c\"\r\n\n#d\"\n" + std::string(70'000, 'x') + ",\"" +
                           std::string(300'000, 'y') + "\n\"\nlast";
  const CsvDialect dialect{.comment = '#'};
  const auto whole = RowsOf(text, dialect);
  EXPECT_EQ(whole->size(), 3u);
  for (const size_t piece : {1, 2, 3, 5, 4096, 65'536})
    EXPECT_TRUE(*RowsOf(text, dialect, piece) == *whole);
}

TEST(CsvRowReader, CountsLinesOfRowsThatSpanSeveralAndOfThoseThatAreNoRows) {
  const std::string text =
      "h\n\n#c \"\n\"a\n\nb\",1\r\n" + std::string(300'000, 'x') + "\n\"\n\"\nlast";
  for (const size_t piece : {1, 7, 1 << 20}) {
    CsvRowReader reader(std::make_unique<Dripping>(text, piece), {.comment = '#'}, 1 << 20);
    std::vector<std::string> lines;
    while (const std::optional<CsvRow> row = *reader.Next())
      lines.push_back(CsvLinesText(row->line, row->text));
    EXPECT_THAT(lines, ElementsAre("line 1, ", "lines 4 to 6, ", "line 7, ", "lines 8 to 9, ",
                                   "line 10, "));
  }
  EXPECT_EQ(CsvLinesText(0, "a\nb"), "");
}

TEST(CsvRowReader, SaysWhereAQuoteIsNotClosedOrARowIsTooLong) {
  EXPECT_THAT(RowsOf("a\n\"b\nc\n"),
              FailsWith(StatusCode::kDataLoss,
                        "dripping: line 2, byte 2: row 1 has a quote that is never closed"));
  EXPECT_THAT(RowsOf("a\n\"" + std::string(600'000, 'b'), {}, 1 << 20, 100),
              FailsWith(StatusCode::kDataLoss, "row 1 has more than 100 bytes and a quote"));
}

TEST(ScanCsvRows, FindsWhatReadingInOrderFinds) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "h\n1\n\n\"2\n\"\n#c\n3\n"));
  const CsvDialect dialect{.comment = '#'};
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(dir / "a"));
  EXPECT_THAT(*ScanCsvRows(file, dialect, 1, 100), ElementsAre(2, 5, 13, 15));
  EXPECT_THAT(*ScanCsvRows(file, dialect, 9, 100), ElementsAre(15));
  EXPECT_EQ(FirstCsvRow("\"2\n\"\r\n#c\n", dialect), "\"2\n\"");
  EXPECT_EQ(FirstCsvRow("3", dialect), "3");
}

TEST(SplitCsvRow, TakesCellsOutOfTheirQuotes) {
  EXPECT_THAT(*SplitCsvRow("a,,\"b,\"\"c\"\"\n\",", {}), ElementsAre("a", "", "b,\"c\"\n", ""));
  EXPECT_THAT(*SplitCsvRow("a\tb,c", {.delimiter = '\t'}), ElementsAre("a", "b,c"));
  EXPECT_THAT(*SplitCsvRow("\"a\"", {.quote = 0}), ElementsAre("\"a\""));
  EXPECT_THAT(SplitCsvRow("a,b\"c", {}),
              FailsWith(StatusCode::kDataLoss, "column 1: 'b\"c' has a quote"));
  EXPECT_THAT(SplitCsvRow("\"a\"b", {}),
              FailsWith(StatusCode::kDataLoss, "column 0: 'a' is followed by 'b'"));
}

template <typename T>
CsvColumn Column(int64_t column, size_t field = 0, int64_t index = 0) {
  return {.column = column,
          .name = fmt::format("c{}", column),
          .dtype = DTypeOf<T>(),
          .field = field,
          .index = index};
}

// One column of one row as a T.
template <typename T>
Result<T> Number(const std::string& row, const std::string& missing = "") {
  CsvColumn column = Column<T>(0);
  column.has_default = !missing.empty();
  column.default_text = missing;
  STOKER_ASSIGN_OR_RETURN(const CsvRowParser parser, CsvRowParser::Make({}, 1, {column}));
  T value{};
  std::byte* memory = reinterpret_cast<std::byte*>(&value);
  STOKER_RETURN_IF_ERROR(parser.Parse(row, {&memory, 1}, {}));
  return value;
}

TEST(CsvRowParser, ReadsNumbersAsTheStandardLibraryDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double scale = std::pow(10.0, static_cast<double>(random() % 30) - 15);
    const double value = (static_cast<double>(random() % 2'000'000) - 1e6) * scale;
    for (const std::string& text : {fmt::format("{}", value), fmt::format("{:.0f}", value),
                                    fmt::format("{:.3f}", value), fmt::format("{:.9e}", value)}) {
      double wanted_double = 0;
      float wanted_float = 0;
      std::from_chars(text.data(), text.data() + text.size(), wanted_double);
      std::from_chars(text.data(), text.data() + text.size(), wanted_float);
      const double got_double = *Number<double>(text);
      const float got_float = *Number<float>(text);
      ASSERT_EQ(std::memcmp(&got_double, &wanted_double, sizeof(double)), 0) << text;
      ASSERT_EQ(std::memcmp(&got_float, &wanted_float, sizeof(float)), 0) << text;
    }
  }
  for (int i = -1200; i < 1200; ++i) {
    const std::string text = std::to_string(i);
    EXPECT_EQ(*Number<int32_t>(text), i);
    EXPECT_EQ(*Number<float>(text), static_cast<float>(i));
    const Result<uint8_t> byte = Number<uint8_t>(text);
    EXPECT_EQ(byte.ok(), i >= 0 && i <= 255) << i;
    if (byte.ok()) {
      EXPECT_EQ(*byte, i);
    }
  }
  EXPECT_EQ(*Number<int64_t>("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*Number<float>("\"+1.5\""), 1.5f);
  EXPECT_EQ(*Number<float>("  2 "), 2.0f);
  EXPECT_TRUE(std::isnan(*Number<float>("nan")));
  EXPECT_TRUE(std::signbit(*Number<float>("-0")));
  EXPECT_EQ(*Number<float>("16777217"), 16777216.0f);
}

// Around the number of digits up to which the parser divides by itself.
TEST(CsvRowParser, ReadsDecimalsOfEveryLengthAsTheStandardLibraryDoes) {
  std::mt19937_64 random(2);
  const auto expect_same = [](const std::string& text, auto wanted) {
    std::from_chars(text.data(), text.data() + text.size(), wanted);
    const auto got = *Number<decltype(wanted)>(text);
    ASSERT_EQ(std::memcmp(&got, &wanted, sizeof wanted), 0) << text;
  };
  for (size_t digits = 1; digits <= 18; ++digits)
    for (size_t point = 0; point <= digits; ++point)
      for (int i = 0; i < 20; ++i) {
        std::string text;
        for (size_t d = 0; d < digits; ++d) text += static_cast<char>('0' + random() % 10);
        text.insert(point, ".");
        if (i % 2 == 1) text.insert(0, "-");
        expect_same(text, 0.0f);
        expect_same(text, 0.0);
      }
  for (const std::string text :
       {"0.0", "-0.0", "000012.500", "9999999.0", "16777.217", "8388.6085"})
    expect_same(text, 0.0f);
  // As many digits as are divided, and one more.
  for (const char* text : {"123456.7", "1234567.8", "0.000001", "0.0000001"})
    expect_same(text, 0.0f);
  for (const char* text : {"12345678901234.5", "123456789012345.6", "0.00000000000001"})
    expect_same(text, 0.0);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const CsvRowParser of_points,
      CsvRowParser::Make({.delimiter = '.'}, 2, {Column<float>(0), Column<float>(1, 1)}));
  float cells[2] = {};
  std::byte* const memory[] = {reinterpret_cast<std::byte*>(&cells[0]),
                               reinterpret_cast<std::byte*>(&cells[1])};
  STOKER_ASSERT_OK(of_points.Parse("1.5", memory, {}));
  EXPECT_THAT(cells, ElementsAre(1, 5));
  EXPECT_THAT(Number<int64_t>("1.5"), FailsWith(StatusCode::kDataLoss, "'1.5' is not an integer"));
  EXPECT_THAT(Number<float>("1.5.2"), FailsWith(StatusCode::kDataLoss, "'1.5.2' is not a number"));
}

TEST(CsvRowParser, ReadsNumbersTooSmallAsZeroAndRefusesTooLargeOnes) {
  EXPECT_EQ(*Number<float>("1e-50"), 0.0f);
  EXPECT_EQ(*Number<double>("1e-400"), 0.0);
  EXPECT_THAT(Number<float>("1e50"),
              FailsWith(StatusCode::kDataLoss, "'1e50' is too large for float32; correct it"));
  EXPECT_THAT(Number<double>("-1e400"),
              FailsWith(StatusCode::kDataLoss, "'-1e400' is too large for float64"));
}

TEST(CsvRowParser, TakesTheDefaultForACellOfNothing) {
  EXPECT_EQ(*Number<float>("\"\"", "1.5"), 1.5f);
  EXPECT_EQ(*Number<int64_t>("  ", "7"), 7);
  EXPECT_THAT(Number<float>("\"\""),
              FailsWith(StatusCode::kDataLoss, "column 0 ('c0'): the cell is empty"));
  EXPECT_THAT(Number<float>("1", "x"),
              FailsWith(StatusCode::kInvalidArgument, "'x' is not a number"));
}

TEST(CsvRowParser, PutsEachColumnWhereItBelongs) {
  CsvColumn text{.column = 2, .name = "t", .text = true, .field = 2};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const CsvRowParser parser,
      CsvRowParser::Make({}, 7,
                         {Column<float>(4, 1, 1), Column<float>(3, 1, 0), Column<int64_t>(0), text,
                          Column<float>(6, 1, 2)}));
  int64_t whole = 0;
  float numbers[3] = {};
  std::byte* const memory[3] = {reinterpret_cast<std::byte*>(&whole),
                                reinterpret_cast<std::byte*>(numbers), nullptr};
  std::vector<std::string> texts(3);
  STOKER_ASSERT_OK(parser.Parse("9,\"skip,\",\"a \"\"b\"\"\",1,2.5,,-3", memory, texts));
  EXPECT_EQ(whole, 9);
  EXPECT_THAT(numbers, ElementsAre(1, 2.5, -3));
  EXPECT_EQ(texts[2], "a \"b\"");
  for (const auto& [row, says] : std::vector<std::pair<std::string, std::string>>{
           {"1,2", "the row ends before column 2 ('t'), rows have 7 cells"},
           {"1", "the row has 1 cells, 7 are wanted"},
           {"1,2,3,4,5,6,7,8", "the row has 8 cells, 7 are wanted"},
           {"1,2,3,4,5,6,7,", "the row has 8 cells, 7 are wanted"},
           {"1,2,3,x,5,6,7", "column 3 ('c3'): 'x' is not a number"},
           {"1.5,2,3,4,5,6,7",
            "column 0 ('c0'): '1.5' is not an integer of -9223372036854775808 to"},
           {"1,\"2\"x,3,4,5,6,7", "column 1: '2' is followed by 'x'"}}) {
    EXPECT_THAT(parser.Parse(row, memory, texts), FailsWith(StatusCode::kDataLoss, says)) << row;
  }
}

TEST(CsvRowParser, RefusesColumnsThatAreNotThereOrWantedTwice) {
  EXPECT_THAT(
      CsvRowParser::Make({}, 2, {Column<float>(2)}),
      FailsWith(StatusCode::kInvalidArgument, "column 2 ('c2') is wanted, but rows have 2"));
  EXPECT_THAT(CsvRowParser::Make({}, 2, {Column<float>(1), Column<float>(1, 1)}),
              FailsWith(StatusCode::kInvalidArgument, "wanted twice"));
}

TEST(CsvRowParser, EveryTruncationAndEveryFlippedByteIsReadOrAnError) {
  CsvColumn text{.column = 1, .name = "t", .text = true, .field = 1};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const CsvRowParser parser,
      CsvRowParser::Make({}, 3, {Column<float>(0), text, Column<float>(2, 0, 1)}));
  const std::string good = "1.25,\"a,\"\"b\",-3e2";
  float numbers[2] = {};
  std::byte* const memory[2] = {reinterpret_cast<std::byte*>(numbers), nullptr};
  std::vector<std::string> texts(2);
  for (size_t at = 0; at < good.size(); ++at) {
    const std::string cut = good.substr(0, at);
    (void)parser.Parse({cut.data(), cut.size()}, memory, texts);
    for (int byte = 0; byte < 256; ++byte) {
      std::string bad = good;
      bad[at] = static_cast<char>(byte);
      const Status status = parser.Parse(bad, memory, texts);
      if (!status.ok()) {
        EXPECT_EQ(status.code(), StatusCode::kDataLoss);
      }
    }
  }
  STOKER_EXPECT_OK(parser.Parse(good, memory, texts));
}

}  // namespace stoker::csv_test
