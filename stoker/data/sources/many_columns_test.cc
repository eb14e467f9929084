// Rows of very many cells, and objects of very many members. What grows with the square of their
// number would take minutes here, and what holds much for each of them would take gigabytes.
#include <fstream>

#include "stoker/data/sources/csv.h"
#include "stoker/data/sources/csv_fields_internal.h"
#include "stoker/data/sources/jsonl.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/testing.h"

namespace stoker::many_columns_test {

constexpr int64_t kMany = 200'000;

std::string Write(const TempDir& dir, const std::string& name, const std::string& content) {
  std::ofstream(dir / name, std::ios::binary) << content;
  return dir / name;
}

// "{"m0": 0, "m1": 1, ...}", or the last member first.
std::string Members(bool backwards) {
  std::string text;
  for (int64_t i = 0; i < kMany; ++i) {
    const int64_t number = backwards ? kMany - 1 - i : i;
    text += fmt::format("{}\"m{}\": {}", i == 0 ? "{" : ", ", number, number);
  }
  return text + "}";
}

TEST(ManyColumns, EachOfTwoHundredThousandColumnsOfACsvFileIsAField) {
  const TempDir dir;
  std::string header, row;
  for (int64_t i = 0; i < kMany; ++i) {
    header += fmt::format("{}c{}", i == 0 ? "" : ",", i);
    row += fmt::format("{}{}", i == 0 ? "" : ",", i);
  }
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Csv{.files = Write(dir, "a.csv", header + "\n" + row + "\n"), .index = "none"}));
  ASSERT_EQ(std::ssize(dataset.spec().fields), kMany);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> elements,
                              ReadAll(dataset, Runtime::Inline()));
  ASSERT_EQ(elements.size(), 1u);
  EXPECT_EQ(elements[0].arrays.back().values<int64_t>()[0], kMany - 1);
}

TEST(ManyColumns, RangesOfNamesAreFoundAmongTwoHundredThousand) {
  std::vector<std::string> names;
  std::vector<CsvField> fields;
  for (int64_t i = 0; i < kMany; ++i) names.push_back(fmt::format("n{}", i));
  for (int64_t i = 0; i + 1 < kMany; i += 2)
    fields.push_back(
        {.name = fmt::format("f{}", i), .columns = {fmt::format("n{}-n{}", i, i + 1)}});
  STOKER_ASSERT_OK_AND_ASSIGN(const CsvPlan plan, PlanCsvFields(CsvFields(fields), names));
  ASSERT_EQ(std::ssize(plan.columns), kMany);
  EXPECT_EQ(plan.columns.back().column, kMany - 1);
  EXPECT_EQ(plan.spec.fields.back().shape, Shape{2});
}

TEST(ManyColumns, EachOfTwoHundredThousandMembersIsAFieldInWhateverOrderTheyStand) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Jsonl{.files = Write(dir, "a.jsonl",
                                  Members(/*backwards=*/false) + "\n" + Members(true) + "\n"),
                   .index = "none"}));
  ASSERT_EQ(std::ssize(dataset.spec().fields), kMany);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> elements,
                              ReadAll(dataset, Runtime::Inline()));
  ASSERT_EQ(elements.size(), 2u);
  for (const Element& element : elements)
    EXPECT_EQ(element.arrays.back().values<int64_t>()[0], kMany - 1);
}

TEST(ManyColumns, SoIsEachMemberOfAnObjectWithinOne) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Jsonl{.files = Write(dir, "a.jsonl", "{\"in\": " + Members(true) + "}\n"),
                   .index = "none"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> elements,
                              ReadAll(dataset, Runtime::Inline()));
  ASSERT_EQ(elements.size(), 1u);
  EXPECT_EQ(dataset.spec().fields.front().name, fmt::format("in.m{}", kMany - 1));
  EXPECT_EQ(elements[0].arrays.back().values<int64_t>()[0], 0);
}

TEST(ManyColumns, AnObjectOfMoreMembersThanBecomeFieldsIsRefusedUnlessTheyAreNamed) {
  const TempDir dir;
  std::string text = "{";
  for (int64_t i = 0; i < 300'000; ++i) text += fmt::format("\"m{}\":{},", i, i);
  const std::string path = Write(dir, "a.jsonl", text + "\"last\":7}\n");
  EXPECT_THAT(Source(Jsonl{.files = path, .index = "none"}),
              FailsWith(StatusCode::kUnimplemented, "a.jsonl: record 0 (byte 0): byte "));
  const JsonlFields last({{.name = "last", .type = "int64"}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset named,
                              Source(Jsonl{.files = path, .fields = last, .index = "none"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(named, Runtime::Inline()));
  EXPECT_EQ(all.at(0).arrays[0].values<int64_t>()[0], 7);
}

TEST(ManyColumns, PathsThatAreLongerThanTheirLineTogetherAreRefused) {
  const TempDir dir;
  std::string text = "{\"" + std::string(1 << 20, 'p') + "\":{";
  for (int64_t i = 0; i < 1000; ++i) text += fmt::format("{}\"m{}\":{}", i == 0 ? "" : ",", i, i);
  EXPECT_THAT(Source(Jsonl{.files = Write(dir, "a.jsonl", text + "}}\n"), .index = "none"}),
              FailsWith(StatusCode::kUnimplemented, "name the fields that are wanted"));
}

TEST(ManyColumns, ARowOfMoreThanAMillionCellsIsRefusedWhateverIsWanted) {
  const TempDir dir;
  const std::string cells(kMostCsvColumns + 5, ',');
  const std::string path = Write(dir, "a.csv", "a" + cells + "\n1,2\n");
  CsvFields fields({{.name = "a", .columns = {"0"}}});
  EXPECT_THAT(Source(Csv{.files = path, .fields = fields}),
              FailsWith(StatusCode::kDataLoss, "row 0: the row has more than 1048576 cells"));
  const Result<std::vector<std::string>> most = SplitCsvRow(cells, {}, cells.size() + 1);
  EXPECT_TRUE(most.ok());
}

TEST(ManyColumns, ALongerRowThanTheFirstIsCountedInItsMessage) {
  const TempDir dir;
  const std::string path =
      Write(dir, "a.csv", "a,b\n1,2\n1,2" + std::string(3'000'000, ',') + "\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Csv{.files = path, .index = "none"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(pass->Next());
  EXPECT_THAT(pass->Next(), FailsWith(StatusCode::kDataLoss, "3000002 cells, 2 are wanted"));
}

}  // namespace stoker::many_columns_test
