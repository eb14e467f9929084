#include "stoker/data/transforms/lookup.h"

#include "stoker/data/core/class_names.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/text.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::lookup_test {

using testing::ElementsAre;
using testing::IsEmpty;

class LookupTest : public TextTest {
 protected:
  // A row for each word, in its second column.
  std::string WriteWords(const std::vector<std::string>& words) {
    std::string rows = "x,label\n";
    for (const std::string& word : words) rows += fmt::format("1,{}\n", word);
    return Write("a.csv", rows);
  }
  Result<Dataset> Words(const std::vector<std::string>& words) {
    return Source(Csv{.files = WriteWords(words), .index = "memory"});
  }
};

TEST_F(LookupTest, NumbersWordsByTheirPlaceInAListOrAFile) {
  const Result<Dataset> words = Words({"dog", "cat", "cat", "owl"});
  const Result<Dataset> by_list = words | Lookup{.values = {"cat", "dog", "owl"}};
  EXPECT_EQ(by_list->spec().ToString(), "{x: int64[], label: int64[]}");
  EXPECT_THAT(Labels(*ReadAll(*by_list, Runtime::Inline())), ElementsAre(1, 0, 0, 2));
  ExpectKeepsItsPromises(by_list);
  const Result<Dataset> by_file = words | Lookup{.vocabulary = Write("v", "owl\r\ncat\ndog")};
  EXPECT_THAT(Labels(*ReadAll(*by_file, Runtime::Threaded(2))), ElementsAre(2, 1, 1, 0));
}

TEST_F(LookupTest, IsWrittenInRecipesInShort) {
  const Result<Dataset> dataset = FromRecipe(fmt::format(
      "- csv: {{files: {}, index: memory}}\n- lookup: [yes, no]\n", WriteWords({"no", "yes"})));
  EXPECT_THAT(Labels(*ReadAll(*dataset, Runtime::Inline())), ElementsAre(1, 0));
}

TEST_F(LookupTest, SpaceAroundAWordDoesNotCountUnlessTheListHasIt) {
  const Result<Dataset> words = Words({"\" cat\t\"", "\"cat \""});
  EXPECT_THAT(Labels(*ReadAll(*(words | Lookup{.values = {"cat"}}), Runtime::Inline())),
              ElementsAre(0, 0));
  EXPECT_THAT(Labels(*ReadAll(*(words | Lookup{.values = {"cat", "cat "}}), Runtime::Inline())),
              ElementsAre(0, 1));
}

TEST_F(LookupTest, AnUnknownWordIsAnErrorThatNamesSampleWordAndTheNearest) {
  const Result<Dataset> dataset = Words({"cat", "dgo", "owl"}) | Lookup{.values = {"cat", "dog"}};
  EXPECT_THAT(
      ReadAll(*dataset, Runtime::Inline()),
      FailsWith(StatusCode::kDataLoss,
                "a.csv: record 1 (line 3, byte 14): lookup: 'dgo' of field 'label' is none of the "
                "2 words; did you mean 'dog'?; add it, or say with `unknown`"));
  const QuietLog quiet;
  EXPECT_THAT(Labels(*ReadAll(*(dataset | IgnoreErrors{.share = 1}), Runtime::Threaded(2))),
              ElementsAre(0));
}

TEST_F(LookupTest, AnUnknownWordGetsTheNumberThatWasGiven) {
  const Result<Dataset> dataset =
      Words({"cow", "dog"}) | Lookup{.values = {"cat", "dog"}, .unknown = 2};
  EXPECT_THAT(Labels(*ReadAll(*dataset, Runtime::Inline())), ElementsAre(2, 1));
}

TEST_F(LookupTest, ManyWordsOfOneLengthGiveTheNumbersOfOneByOne) {
  constexpr std::string_view kTexts("catdogox\0cat", 12);
  Array texts = Array::Allocate(DType::kUInt8, {4, 3});
  std::memcpy(texts.data(), kTexts.data(), kTexts.size());
  Array numbers = Array::Allocate(DType::kInt64, {4});
  std::ranges::fill(numbers.values<int64_t>(), 7);
  const Result<Dataset> rows = FromArrays({{"x", numbers}, {"label", texts}}, "texts");
  const Result<Dataset> looked = rows | Lookup{.values = {"cat", "dog", "ox"}};
  TransformTester tester(*looked);
  EXPECT_TRUE(looked->node().element_wise()->works_on_columns());
  Rows in{.keys = {{}, {}, {}, {}}, .columns = {numbers, texts}};
  tester.ExpectRowsGiveTheBytesOfElements(in);
  EXPECT_THAT(Labels(*ReadAll(*looked, Runtime::Inline())), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(
      ReadAll(*(rows | Lookup{.values = {"cat", "dog"}} | Batch{.size = 4}), Runtime::Threaded(1)),
      FailsWith(StatusCode::kDataLoss,
                "element 2: lookup: 'ox' of field 'label' is none of the 2 words"));
}

TEST_F(LookupTest, ReadsTheTextsOfArchivesWhoseClassesAreWords) {
  Write("a.tar", TarOf({{"0.cls", "dog\n"}, {"0.txt", "x"}, {"1.cls", "cat"}, {"1.txt", "y"}}));
  const Result<Dataset> archive = Source(Webdataset{
      .files = dir_ / "a.tar", .fields = {"txt", "cls"}, .numbers = {}, .index = "memory"});
  const Result<Dataset> dataset = archive | Lookup{.values = {"cat", "dog"}, .field = "cls"};
  EXPECT_THAT(Labels(*ReadAll(*dataset, Runtime::Inline())), ElementsAre(1, 0));
  ExpectKeepsItsPromises(dataset);
  const Result<Dataset> numbers = Source(Webdataset{.files = dir_ / "a.tar", .index = "memory"});
  EXPECT_THAT(ReadAll(*numbers, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss,
                        ".cls is no whole number: 'dog'; where it is a word, leave cls out of "
                        "`numbers` ([]) and put `lookup` after it"));
  EXPECT_THAT(Source(Webdataset{.files = dir_ / "a.tar", .numbers = {"csl"}, .index = "memory"}),
              FailsWith(StatusCode::kInvalidArgument,
                        "webdataset: `numbers` has 'csl', which is no field; the fields are cls, "
                        "txt"));
}

TEST_F(LookupTest, TheWordsAreTheNamesOfTheClassesOfTheFieldThatIsLearnt) {
  const Result<Dataset> dataset = Words({"cat"}) | Lookup{.values = {"cat", "dog"}};
  EXPECT_THAT(FindClassNames(*dataset), ElementsAre("cat", "dog"));
  EXPECT_THAT(FindClassNames(*(dataset | Batch{})), ElementsAre("cat", "dog"));
  EXPECT_THAT(FindClassNames(*dataset, "color"), IsEmpty());
}

TEST_F(LookupTest, RefusesWhatDoesNotFitWhenItIsBuilt) {
  const auto fails = [&](const Lookup& lookup, const char* says) {
    EXPECT_THAT(Words({"cat"}) | lookup, FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({}, "lookup: no words are given; say which words there are with `values: [cat, dog]`");
  fails({.values = {"a"}, .vocabulary = "v"}, "`values` and `vocabulary` are both given");
  fails({.values = {"a", "b", "a"}}, "tokens 0 and 2 are both 'a'");
  fails({.values = {"a"}, .field = "class"}, "there is no field 'class'");
  fails({.values = {"a"}, .field = "x"}, "lookup: field 'x' is int64[]; words are uint8[?]");
  EXPECT_THAT(Words({"cat"}) | Lookup({.vocabulary = dir_ / "none"}),
              FailsWith(StatusCode::kNotFound, "none"));
}

}  // namespace stoker::lookup_test
