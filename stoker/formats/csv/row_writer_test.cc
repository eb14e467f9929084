#include "stoker/formats/csv/row_writer.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/csv/row_parser.h"
#include "stoker/io/file.h"

namespace stoker::row_writer_test {

TEST(CsvRowWriter, WritesTheRowsOfRfc4180) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(CsvRowWriter writer, CsvRowWriter::Create(dir / "a.csv"));
  for (const char* const cell : {"plain", "a,b", "say \"x\""}) writer.AddText(cell);
  STOKER_ASSERT_OK(writer.EndRow());
  writer.AddNumber(int64_t{-7});
  writer.AddNumber(0.1f);
  writer.AddNumber(1e300);
  STOKER_ASSERT_OK(writer.EndRow());
  STOKER_ASSERT_OK(writer.Commit());
  EXPECT_EQ(*ReadTextFile(dir / "a.csv"), "plain,\"a,b\",\"say \"\"x\"\"\"\n-7,0.1,1e+300\n");
}

TEST(CsvRowWriter, IsReadAgainAsItWasWhateverTheCellsHold) {
  const TempDir dir;
  const std::vector<std::string> cells = {"",     "#c",  "\xef\xbb\xbfx", "a\nb", "\r",
                                          "\"\"", "\t,", " x ",           "-",    "\xff"};
  for (const char delimiter : {',', '\t'}) {
    const CsvDialect dialect{.delimiter = delimiter, .comment = '#'};
    for (const std::string& first : cells) {
      STOKER_ASSERT_OK_AND_ASSIGN(CsvRowWriter writer,
                                  CsvRowWriter::Create(dir / "a.csv", dialect));
      for (const std::string& second : cells) {
        writer.AddText(first);
        writer.AddText(second);
        STOKER_ASSERT_OK(writer.EndRow());
      }
      STOKER_ASSERT_OK(writer.Commit());
      STOKER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source,
                                  OpenByteSource(dir / "a.csv"));
      CsvRowReader reader(std::move(source), dialect, 100);
      for (const std::string& second : cells) {
        STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<CsvRow> row, reader.Next());
        ASSERT_TRUE(row);
        EXPECT_THAT(*SplitCsvRow(row->text, dialect), testing::ElementsAre(first, second));
      }
      EXPECT_FALSE(*reader.Next());
    }
  }
}

TEST(CsvRowWriter, WritesNumbersThatComeBackToTheBit) {
  const TempDir dir;
  const std::vector<float> numbers = {
      0.f, -0.f, 1e-45f, 3.4028235e38f, 0.1f, -1.f / 3, std::numeric_limits<float>::infinity()};
  STOKER_ASSERT_OK_AND_ASSIGN(CsvRowWriter writer, CsvRowWriter::Create(dir / "a.csv"));
  for (const float number : numbers) writer.AddNumber(number);
  writer.AddNumber(std::nan(""));
  STOKER_ASSERT_OK(writer.EndRow());
  STOKER_ASSERT_OK(writer.Commit());
  std::string row = *ReadTextFile(dir / "a.csv");
  row.pop_back();
  std::vector<CsvColumn> columns;
  for (int64_t i = 0; i <= std::ssize(numbers); ++i) columns.push_back({.column = i, .index = i});
  STOKER_ASSERT_OK_AND_ASSIGN(const CsvRowParser parser,
                              CsvRowParser::Make({}, std::ssize(columns), columns));
  std::vector<float> got(columns.size());
  std::byte* const memory = reinterpret_cast<std::byte*>(got.data());
  STOKER_ASSERT_OK(parser.Parse(row, {&memory, 1}, {}));
  EXPECT_EQ(std::memcmp(got.data(), numbers.data(), numbers.size() * sizeof(float)), 0);
  EXPECT_TRUE(std::isnan(got.back()));
}

TEST(CsvRowWriter, RefusesRowsOfAnotherLength) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(CsvRowWriter writer, CsvRowWriter::Create(dir / "a.csv"));
  EXPECT_THAT(CsvRowWriter::Create(dir / "b", {.quote = 0}),
              FailsWith(StatusCode::kInvalidArgument, "without a quote"));
  writer.AddText("a");
  STOKER_ASSERT_OK(writer.EndRow());
  writer.AddText("a");
  writer.AddText("b");
  EXPECT_THAT(writer.EndRow(),
              FailsWith(StatusCode::kInvalidArgument, "row 1 has 2 cells, the first has 1"));
}

}  // namespace stoker::row_writer_test
