#include "stoker/tools/features/recipe_draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/config.h"
#include "stoker/base/testing.h"

namespace stoker {
namespace recipe_draft_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRows = 1000;

ColumnProfile Number(std::string name) {
  return {.name = std::move(name),
          .kind = ColumnKind::kNumbers,
          .rows = kRows,
          .different = 500,
          .repeats = true,
          .least = -1,
          .greatest = 1,
          .deviation = 1,
          .histogram = {1}};
}

ColumnProfile Text(std::string name, int64_t different) {
  return {.name = std::move(name),
          .kind = ColumnKind::kTexts,
          .rows = kRows,
          .different = different,
          .repeats = different < kRows,
          .common = {{"a", 10}}};
}

// The last column is the target.
TableProfile TableOf(std::vector<ColumnProfile> columns, bool number = true) {
  TableProfile table{.file = "t.csv", .rows = kRows, .columns = std::move(columns)};
  table.target = table.columns.size() - 1;
  table.target_is_number = number;
  table.relations.resize(table.columns.size());
  table.sampled = kRows;
  return table;
}

ColumnChoice ChoiceOf(const ColumnProfile& column) {
  return ChooseColumns(TableOf({column, Number("y")})).front();
}

std::string DraftOf(const TableProfile& table) {
  const Result<std::string> draft = DraftRecipe(table, ChooseColumns(table), "data", "t.csv");
  EXPECT_TRUE(draft.ok()) << draft.status().ToString();
  if (!draft.ok()) return "";
  EXPECT_TRUE(ParseYaml(*draft, "draft").ok()) << *draft;
  return *draft;
}

TEST(ChooseColumns, TakesNumbersAndWordsAndLeavesOutWhatTellsNothing) {
  EXPECT_EQ(ChoiceOf(Number("x")).use, ColumnUse::kNumber);
  EXPECT_EQ(ChoiceOf(Text("word", 5)).use, ColumnUse::kCategory);
  ColumnProfile constant = Text("same", 1);
  EXPECT_EQ(ChoiceOf(constant).use, ColumnUse::kLeftOut);
  constant.missing = 10;
  EXPECT_EQ(ChoiceOf(constant).use, ColumnUse::kCategory) << "there or not is two values";
  EXPECT_EQ(ChoiceOf({.name = "none", .rows = kRows, .missing = kRows}).use, ColumnUse::kLeftOut);
  EXPECT_EQ(ChoiceOf(Text("name", kRows)).use, ColumnUse::kLeftOut);
  EXPECT_EQ(ChoiceOf(Text("most once", 700)).use, ColumnUse::kLeftOut);
  EXPECT_THAT(ChoiceOf(Text("long", 400)).why, HasSubstr("a vector of 16 values"));
}

TEST(ChooseColumns, LeavesOutNumbersThatOnlySayWhichRowItIs) {
  ColumnProfile column = Number("n");
  column.whole = true;
  column.repeats = false;
  column.different = kRows;
  EXPECT_EQ(ChoiceOf(column).use, ColumnUse::kNumber) << "all may differ";
  column.name = "customer_id";
  EXPECT_EQ(ChoiceOf(column).use, ColumnUse::kLeftOut);
  column.name = "n";
  column.counts_up = true;
  EXPECT_EQ(ChoiceOf(column).use, ColumnUse::kLeftOut);
}

TEST(ChooseColumns, LeavesOutTheTargetInDisguiseAndPointsAtWhatTellsTooMuch) {
  TableProfile table = TableOf({Number("euros"), Number("tax"), Number("dollars")});
  table.relations[0].disguised = true;
  table.relations[1].explained = 0.99;
  const std::vector<ColumnChoice> choices = ChooseColumns(table);
  EXPECT_EQ(choices[0].use, ColumnUse::kLeftOut);
  EXPECT_EQ(choices[1].use, ColumnUse::kNumber);
  EXPECT_THAT(choices[1].why, HasSubstr("known beforehand"));
  EXPECT_EQ(choices[2].use, ColumnUse::kTarget);
}

TEST(DraftRecipe, SaysOfEachColumnThatServesWhatItIsToTheModel) {
  const std::string draft = DraftOf(
      TableOf({Number("x"), Text("word", 5), Text("city", 101), Text("id", kRows), Number("y")}));
  EXPECT_THAT(draft, HasSubstr("fields: {x: float32, word: text, city: text, y: float32}"));
  EXPECT_THAT(draft, HasSubstr("features:\n    x: numeric\n    word: categorical\n"
                               "    city: {categorical: {embedding: 16}}\n\n"));
  EXPECT_THAT(draft, HasSubstr("target: {y: {normalize: auto}}"));
  EXPECT_THAT(draft, HasSubstr("# Left out: id (no value is there twice)."));
}

TEST(DraftRecipe, TakesTheLogarithmOfAPositiveNumberWithALongTail) {
  ColumnProfile price = Number("price");
  price.least = 1, price.median = 10, price.greatest = 1000, price.deviation = 200;
  EXPECT_THAT(DraftOf(TableOf({Number("x"), price})), HasSubstr("log: true"));
  price.least = 0;
  EXPECT_THAT(DraftOf(TableOf({Number("x"), price})), Not(HasSubstr("log: true")));
}

TEST(DraftRecipe, LooksUpClassesUnlessTheyAreNumberedFromZero) {
  ColumnProfile label = Number("label");
  label.whole = true, label.written_whole = true, label.least = 0, label.greatest = 2,
  label.different = 3;
  const std::string numbered = DraftOf(TableOf({Number("x"), label}, false));
  EXPECT_THAT(numbered, Not(HasSubstr("lookup")));
  EXPECT_THAT(numbered, HasSubstr("stratify: label"));
  label.least = 1, label.greatest = 3;
  EXPECT_THAT(DraftOf(TableOf({Number("x"), label}, false)),
              HasSubstr("- lookup:\n        field: label\n        values: ["));
  const std::string words = DraftOf(TableOf({Number("x"), Text("cut", 5)}, false));
  EXPECT_THAT(words, HasSubstr("classes: 5"));
  EXPECT_THAT(words, HasSubstr("loss: cross_entropy"));
}

TEST(DraftRecipe, PutsTheMedianInThePlaceOfMissingNumbers) {
  ColumnProfile age = Number("age");
  age.missing = 3, age.median = 28.5, age.marks = {"NA"};
  const std::string draft = DraftOf(TableOf({age, Number("y")}));
  EXPECT_THAT(draft, HasSubstr("age: {type: float32, default: 28.5}"));
  EXPECT_THAT(draft, HasSubstr("na_values: [NA]"));
}

TEST(DraftRecipe, QuotesNamesThatYamlOrAnotherColumnWouldTakeForSomethingElse) {
  const std::string draft = DraftOf(TableOf({Number("price (USD)"), Number("yes: no, {x}"),
                                             Number("12"), Number("true"), Number("y\"z")}));
  EXPECT_THAT(draft, HasSubstr("\"price (USD)\": float32"));
  EXPECT_THAT(draft, HasSubstr("\"price (USD)\": numeric"));
  EXPECT_THAT(draft, HasSubstr("\"yes: no, {x}\": numeric"));
}

TEST(DraftRecipe, TakesThePlaceOfANumberAmongOthersWhereOneIsFarOut) {
  ColumnProfile wide = Number("wide");
  wide.greatest = 1000;
  const std::string draft = DraftOf(TableOf({Number("x"), wide, Number("y")}));
  EXPECT_THAT(draft, HasSubstr("x: numeric\n    wide: {numeric: {quantiles: 64}}\n"));
}

TEST(DraftRecipe, CountsStepsOfACompressedFile) {
  const TableProfile table = TableOf({Number("x"), Number("y")});
  const Result<std::string> draft = DraftRecipe(table, ChooseColumns(table), ".", "t.csv.gz");
  ASSERT_TRUE(draft.ok());
  EXPECT_THAT(*draft, HasSubstr("  max_steps: 2500\n"));
  EXPECT_THAT(*draft, Not(HasSubstr("epochs")));
}

TEST(DraftRecipe, SaysThatThereIsAHeaderWhereAColumnHasTheNameOfAMark) {
  ColumnProfile age = Number("NA");
  age.marks = {"NA"}, age.missing = 1;
  EXPECT_THAT(DraftOf(TableOf({age, Number("y")})), HasSubstr("header: yes"));
}

TEST(ChooseColumns, LeavesOutWordsThatCannotBeLookedUp) {
  ColumnProfile words = Text("w", 5);
  words.has_line_ends = true;
  EXPECT_EQ(ChoiceOf(words).use, ColumnUse::kLeftOut);
  words = Text("w", 5);
  words.is_utf8 = false;
  EXPECT_EQ(ChoiceOf(words).use, ColumnUse::kLeftOut);
}

TEST(ChooseColumns, NamesTheOddCellAlsoOfAColumnThatIsLeftOut) {
  ColumnProfile words = Text("w", kRows);
  words.odd = {"abc", 17};
  EXPECT_THAT(ChoiceOf(words).why, HasSubstr("numbers, but for 'abc' in row 17"));
}

TEST(DraftRecipe, LeavesNoWayOutOfTheCommandInItsComment) {
  const std::string draft = DraftOf(TableOf({Number("men's; `x`"), Number("a\nb"), Number("y")}));
  const size_t from = draft.find("--set 'data.source");
  const std::string command = draft.substr(from, draft.find('\n', from) - from);
  EXPECT_THAT(command, HasSubstr("men'\\''s; `x`"));
  EXPECT_THAT(command, HasSubstr("a\\nb"));
}

TEST(DraftRecipe, RefusesAClassThatMeansAMissingNumberElsewhere) {
  ColumnProfile age = Number("age"), kind = Text("kind", 3);
  age.marks = {"NA"}, kind.marks = {"NA"};
  const TableProfile table = TableOf({age, kind}, false);
  EXPECT_THAT(DraftRecipe(table, ChooseColumns(table), ".", "t.csv"),
              FailsWith(StatusCode::kInvalidArgument, "'NA' is one of its classes"));
}

TEST(DraftRecipe, RefusesATargetOfAsManyClassesAsRowsOrBeyondFloat32) {
  TableProfile table = TableOf({Number("x"), Text("name", kRows)}, false);
  EXPECT_THAT(DraftRecipe(table, ChooseColumns(table), ".", "t.csv"),
              FailsWith(StatusCode::kInvalidArgument, "too many for classes"));
  ColumnProfile large = Number("large");
  large.greatest = 1e300;
  EXPECT_EQ(ChoiceOf(large).use, ColumnUse::kLeftOut);
  table = TableOf({Number("x"), large});
  EXPECT_THAT(DraftRecipe(table, ChooseColumns(table), ".", "t.csv"),
              FailsWith(StatusCode::kInvalidArgument, "float32 does not hold"));
}

TEST(DraftRecipe, NeedsAColumnAndATargetInEachRow) {
  TableProfile table = TableOf({Text("id", kRows), Number("y")});
  EXPECT_THAT(DraftRecipe(table, ChooseColumns(table), ".", "t.csv"),
              FailsWith(StatusCode::kInvalidArgument, "no column is left"));
  table = TableOf({Number("x"), Number("y")});
  table.columns[1].missing = 2;
  EXPECT_THAT(DraftRecipe(table, ChooseColumns(table), ".", "t.csv"),
              FailsWith(StatusCode::kInvalidArgument, "2 rows are without it"));
}

}  // namespace recipe_draft_test
}  // namespace stoker
