#include "stoker/data/sources/csv.h"

#include <cmath>
#include <filesystem>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::csv_test {

using testing::ElementsAre;
using testing::HasSubstr;

class CsvTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(WriteFileAtomically(dir_ / name, text), IsOk());
    return dir_ / name;
  }

  const TempDir dir_;
};

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

TEST_F(CsvTest, GuessesFieldsFromHeaderAndFirstRows) {
  Write("a", "id,x,name,gap\n1,2.5,ann,\n2,3,\"b,\"\"c\"\"\",4\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Csv{.files = dir_ / "a"}));
  EXPECT_EQ(dataset.spec().ToString(),
            "{id: int64[], x: float32[], name: uint8[?], gap: float32[]}");
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(2));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  EXPECT_THAT(Labels(all, 0), ElementsAre(1, 2));
  EXPECT_EQ(all[0].arrays[1].values<float>()[0], 2.5f);
  EXPECT_EQ(TextOf(all[1].arrays[2]), "b,\"c\"");
  EXPECT_NE(all[0].arrays[3].values<float>()[0], all[0].arrays[3].values<float>()[0]) << "nan";
  Write("b", "1,2\n3,4\n");
  EXPECT_EQ(Source(Csv{.files = dir_ / "b"})->spec().ToString(), "{0: int64[], 1: int64[]}");
  EXPECT_EQ(Source(Csv{.files = dir_ / "b", .header = "yes"})->cardinality(), Cardinality::Of(1));
}

// What pandas' to_csv writes of a DataFrame with its index.
TEST_F(CsvTest, AFirstColumnWithoutANameInTheHeaderIsCalledIndex) {
  Write("a", ",x,name\n0,2.5,ann\n1,3,bob\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Csv{.files = dir_ / "a"}));
  EXPECT_EQ(dataset.spec().ToString(), "{index: int64[], x: float32[], name: uint8[?]}");
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(2));
  EXPECT_THAT(dataset.ToString(), HasSubstr("the first column has no name: index"));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  EXPECT_THAT(Labels(all, 0), ElementsAre(0, 1));
  Write("b", ",index\n0,7\n");
  EXPECT_EQ(Source(Csv{.files = dir_ / "b"})->spec().ToString(),
            "{index_: int64[], index: int64[]}");
  Write("c", ",ann\nx,bob\n,eve\n");  // a missing value in the first of rows without a header
  EXPECT_EQ(Source(Csv{.files = dir_ / "c"})->cardinality(), Cardinality::Of(3));
}

TEST_F(CsvTest, TakesColumnsTogetherByNameNumberAndRange) {
  Write("a.tsv", "y\ta\tb\tc\td\n9\t1\t2\t3\t4\n");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Csv{.files = dir_ / "a.tsv",
                 .fields = {{.name = "x", .columns = {"a-c", "4"}, .shape = {2, 2}},
                            {.name = "y", .type = "uint8"}}}));
  EXPECT_EQ(dataset.spec().ToString(), "{x: float32[2, 2], y: uint8[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  EXPECT_THAT(all[0].arrays[0].values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(all[0].arrays[1].values<uint8_t>(), ElementsAre(9));
}

TEST_F(CsvTest, ListedMarksAreMissingValuesAsEmptyCellsAre) {
  Write("a", "age,score,name\n31,NA,ann\n?,-99,?\n, 4 ,NA\n");
  const auto read = [&](const CsvFields& fields) {
    return *ReadAll(*Source(Csv{.files = dir_ / "a",
                                .fields = fields,
                                .na_values = {"NA", "?", "-99"},
                                .index = "memory"}),
                    Runtime::Inline());
  };
  const std::vector<Element> all = read({{.name = "age", .type = "int64", .default_value = {"-1"}},
                                         {.name = "score", .default_value = {"0.5"}},
                                         {.name = "name", .type = "text"}});
  EXPECT_THAT(Labels(all, 0), ElementsAre(31, -1, -1));
  EXPECT_EQ(all[0].arrays[1].values<float>()[0], 0.5f);
  EXPECT_EQ(all[1].arrays[1].values<float>()[0], 0.5f) << "a mark that is a number";
  EXPECT_EQ(all[2].arrays[1].values<float>()[0], 4.0f);
  EXPECT_EQ(TextOf(all[0].arrays[2]), "ann");
  EXPECT_EQ(TextOf(all[1].arrays[2]), "");
  EXPECT_EQ(TextOf(read({{.name = "name", .type = "text", .default_value = {"who"}}})[2].arrays[0]),
            "who");
  const std::vector<Element> guessed = read({});
  EXPECT_EQ(guessed[0].arrays[0].values<float>()[0], 31.0f);
  EXPECT_TRUE(std::isnan(guessed[1].arrays[0].values<float>()[0]));
  ExpectKeepsItsPromises(
      Source(Csv{.files = dir_ / "a", .na_values = {"NA", "?", "-99"}, .index = "memory"}));
}

TEST_F(CsvTest, AMarkAmongNumbersThatNothingListsIsAnErrorThatNamesRowColumnAndOption) {
  for (const char* const mark : {"NA", "null", "?", "-", "#N/A", "None"}) {
    Write("a", fmt::format("x,age\n1,31\n2,{}\n", mark));
    const Result<Dataset> guessed = Source(Csv{.files = dir_ / "a", .index = "memory"});
    EXPECT_EQ(guessed->spec().ToString(), "{x: int64[], age: float32[]}");
    EXPECT_THAT(
        ReadAll(*guessed, Runtime::Inline()),
        FailsWith(StatusCode::kDataLoss,
                  fmt::format("/a: record 1 (line 3, byte 11): column 1 ('age'): '{}' is not a "
                              "number; correct it, or set the field's type, where it means a "
                              "missing value name it in `na_values` and give the field a "
                              "default",
                              mark)));
  }
  const Csv listed{.files = dir_ / "a",
                   .fields = {{.name = "age", .type = "int64"}},
                   .na_values = {"None"},
                   .index = "memory"};
  EXPECT_THAT(ReadAll(*Source(listed), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss,
                        "column 1 ('age'): 'None' is a missing value; fill it, or give the field a "
                        "default"));
  Write("a", "x\nNA\nyes\n3\n");
  EXPECT_EQ(Source(Csv{.files = dir_ / "a", .index = "memory"})->spec().ToString(),
            "{x: uint8[?]}");
}

TEST_F(CsvTest, FindsTheDelimiterOutWhereTheUsualOneMakesNoColumnsAndSaysSo) {
  const auto spec = [&](const std::string& name, const std::string& text,
                        const std::string& delimiter = "auto") {
    const Result<Dataset> dataset =
        Source(Csv{.files = Write(name, text), .delimiter = delimiter, .index = "memory"});
    EXPECT_THAT(dataset, IsOk());
    return dataset->spec().ToString();
  };
  EXPECT_EQ(spec("a.csv", "x;y\n1,5;2\n"), "{x: uint8[?], y: int64[]}");
  EXPECT_EQ(spec("b.csv", "x\t\"a\tb\"\n1\t2\n"), "{x: int64[], a\tb: int64[]}");
  EXPECT_EQ(spec("c.csv", "x|y|z\n1|2|3\n"), "{x: int64[], y: int64[], z: int64[]}");
  EXPECT_EQ(spec("d.tsv", "x,y\n1,2\n"), "{x: int64[], y: int64[]}");
  EXPECT_EQ(spec("a.csv", "x;y\n1;2\n", ","), "{x;y: uint8[?]}") << "as the recipe says";
  EXPECT_EQ(spec("e.csv", "text\none; two\nthree\n"), "{text: uint8[?]}");
  EXPECT_EQ(spec("f.csv", "x,y\na;b,2\n"), "{x: uint8[?], y: int64[]}");
  const Result<Dataset> found = Source(Csv{.files = dir_ / "c.csv", .index = "memory"});
  EXPECT_THAT(found->ToString(), testing::HasSubstr("c.csv, delimiter: '|'"));
  ExpectKeepsItsPromises(found);
}

TEST_F(CsvTest, KeepsItsPromises) {
  std::string text = "# a comment\nid,x,t\n";
  for (int i = 0; i < 20; ++i)
    text += fmt::format("{},{},\"a\nb{}\"\n{}", i, i * 0.5, i, i % 3 == 0 ? "#\n\n" : "");
  Write("a", text);
  Write("b", "id,x,t\n70,1,z");
  const CsvFields numbers{{.name = "id", .type = "int64"}, {.name = "x"}};
  const auto csv = [&](const std::string& index, const CsvFields& fields) {
    return Source(
        Csv{.files = {dir_ / "a", dir_ / "b"}, .fields = fields, .comment = "#", .index = index});
  };
  for (const char* const index : {"stored", "memory", "none"}) {
    ExpectKeepsItsPromises(csv(index, {}));
    EXPECT_EQ(Fingerprint(*ReadAll(*csv(index, {}), Runtime::Inline())),
              Fingerprint(*ReadAll(*csv("memory", {}), Runtime::Inline())));
  }
  ExpectKeepsItsPromises(csv("stored", numbers) | Shuffle{} | Batch{.size = 4} | Prefetch{});
  STOKER_ASSERT_OK(
      WriteFileAtomically(dir_ / "a.gz", *GzipCompress(std::as_bytes(std::span(text)))));
  ExpectKeepsItsPromises(Source(Csv{.files = dir_ / "a.gz", .comment = "#"}));
}

TEST_F(CsvTest, ABadRowIsNamedAndCanBeLeftOut) {
  Write("a", "id\n1\nx\n3\n");
  for (const char* const index : {"stored", "none"}) {
    const Csv csv{.files = dir_ / "a", .fields = {{.name = "id", .type = "int64"}}, .index = index};
    EXPECT_THAT(ReadAll(*Source(csv), Runtime::Inline()),
                FailsWith(StatusCode::kDataLoss,
                          "/a: record 1 (line 3, byte 5): column 0 ('id'): 'x' is not an integer"));
    EXPECT_THAT(ReadAll(*(Source(csv) | Batch{.size = 3}), Runtime::Threaded(2)),
                FailsWith(StatusCode::kDataLoss, "/a: record 1 (line 3, byte 5): column 0 ('id')"));
    const QuietLog quiet;
    EXPECT_THAT(Labels(*ReadAll(*(Source(csv) | IgnoreErrors{}), Runtime::Inline()), 0),
                ElementsAre(1, 3));
  }
}

TEST_F(CsvTest, ABadRowIsNamedByTheLinesOfTheFileThatItSpansHoweverItIsRead) {
  // A comment, an empty line and a row of three lines precede the bad one, which has two.
  const std::string text = "t,id\n# none\n\n\"a\n\nb\",1\n\"c\nd\",x\ne,3\nf,y\n";
  Write("a", text);
  STOKER_ASSERT_OK(
      WriteFileAtomically(dir_ / "a.gz", *GzipCompress(std::as_bytes(std::span(text)))));
  const auto csv = [&](const std::string& file, const std::string& index) {
    return Source(Csv{.files = file,
                      .fields = {{.name = "id", .type = "int64"}},
                      .comment = "#",
                      .index = index});
  };
  for (const auto& [file, index] : {std::pair("a", "stored"), {"a", "none"}, {"a.gz", "none"}}) {
    SCOPED_TRACE(fmt::format("{}, index {}", file, index));
    const Dataset dataset = *csv(dir_ / file, index);
    EXPECT_THAT(ReadAll(dataset, Runtime::Inline()),
                FailsWith(StatusCode::kDataLoss, "record 1 (lines 7 to 8, byte 22): column 1"));
    // Resumed after it, lines are still those of the whole file.
    const Dataset tolerant = *(Result<Dataset>(dataset) | IgnoreErrors{.share = 1});
    const QuietLog quiet;
    STOKER_ASSERT_OK_AND_ASSIGN(auto pass, dataset.Open(Runtime::Inline(), {}));
    STOKER_ASSERT_OK(pass->Next());
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, pass->Save());
    STOKER_ASSERT_OK_AND_ASSIGN(auto resumed, dataset.Open(Runtime::Inline(), {}));
    STOKER_ASSERT_OK(resumed->Restore(state));
    EXPECT_THAT(resumed->Next(),
                FailsWith(StatusCode::kDataLoss, "record 1 (lines 7 to 8, byte 22): column 1"));
    EXPECT_THAT(Labels(*ReadAll(tolerant, Runtime::Inline()), 0), ElementsAre(1, 3));
  }
}

TEST_F(CsvTest, AnIndexMadeForOtherSettingsIsNotUsed) {
  Write("a", "x\n#1\n2\n");
  const auto rows = [&](const std::string& comment) {
    return Source(Csv{.files = dir_ / "a", .comment = comment})->cardinality();
  };
  EXPECT_EQ(rows(""), Cardinality::Of(2));
  EXPECT_EQ(rows("#"), Cardinality::Of(1));
  EXPECT_TRUE(std::filesystem::exists(dir_ / ".a.stoker-index"));
}

TEST_F(CsvTest, AFileWithAnotherHeaderOrNoneIsAnErrorThatNamesBoth) {
  Write("a", "x,y\n1,2\n");
  const auto reads = [&](const std::string& name, const std::string& text,
                         const std::string& index) -> Status {
    Write(name, text);
    STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                            Source(Csv{.files = {dir_ / "a", dir_ / name}, .index = index}));
    return ReadAll(dataset, Runtime::Inline()).status();
  };
  const auto fails = [](const std::string& says) { return FailsWith(StatusCode::kDataLoss, says); };
  const std::string not_that = "row 0: it is not the header of " + (dir_ / "a") + ": ";
  for (const char* const index : {"stored", "memory", "none"}) {
    EXPECT_THAT(reads("same", "\xef\xbb\xbf\"x\",y\n3,4\n", index), IsOk());
    EXPECT_THAT(reads("nothing", "", index), IsOk());
    EXPECT_THAT(reads("b", "y,x\n3,4\n", index), fails("/b: " + not_that + "column 0 is 'y', "));
    EXPECT_THAT(reads("c", "3,4\n5,6\n", index), fails("/c: " + not_that + "column 0 is '3', "));
    EXPECT_THAT(reads("d", "x\n3\n", index), fails("column 1 is missing, there 'y'"));
    EXPECT_THAT(reads("e", "x,y,z\n3,4,5\n", index), fails("column 2 is 'z', there missing"));
  }
}

TEST_F(CsvTest, AnIndexThatWasMadeUnderAnotherHeaderDoesNotHideThatItIsAnother) {
  Write("a", "x,y\n1,2\n");
  Write("b", "y,x\n3,4\n");
  STOKER_ASSERT_OK(Source(Csv{.files = dir_ / "b"}).status());
  EXPECT_TRUE(std::filesystem::exists(dir_ / ".b.stoker-index"));
  EXPECT_THAT(Source(Csv{.files = {dir_ / "a", dir_ / "b"}}),
              FailsWith(StatusCode::kDataLoss, "is not the header of"));
}

TEST_F(CsvTest, ACarriageReturnThatNoLineFeedFollowsIsAnErrorWhereItIsNotQuoted) {
  EXPECT_THAT(Source(Csv{.files = Write("mac", "x,y\r1,2\r3,4\r")}),
              FailsWith(StatusCode::kDataLoss,
                        "/mac: row 0: byte 3 of the row is a CR (0d) that no LF follows"));
  Write("a", "x,t\r\n1,\"a\rb\"\r\n2,c\rd\r\n");
  for (const char* const index : {"memory", "none"}) {
    const Result<Dataset> dataset = Source(Csv{.files = dir_ / "a", .index = index});
    EXPECT_THAT(
        ReadAll(*dataset, Runtime::Inline()),
        FailsWith(StatusCode::kDataLoss, "/a: record 1 (line 3, byte 14): byte 3 of the row is a"));
    const QuietLog quiet;
    const std::vector<Element> all =
        *ReadAll(*(Result<Dataset>(*dataset) | IgnoreErrors{.share = 1}), Runtime::Inline());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(TextOf(all[0].arrays[1]), "a\rb");
  }
}

TEST_F(CsvTest, RefusesWhatDoesNotGoTogether) {
  Write("a", "id,x\n1,2\n");
  const auto fails = [&](const Csv& csv, const char* says) {
    Csv with_file = csv;
    with_file.files = dir_ / "a";
    EXPECT_THAT(Source(with_file), FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({.fields = {{.name = "y"}}}, "there is no column 'y'");
  fails({.fields = {{.name = "y", .columns = {"0-5"}}}}, "there is no column '0-5'");
  fails({.fields = {{.name = "id"}, {.name = "y", .columns = {"0"}}}}, "wanted twice");
  fails({.fields = {{.name = "x", .columns = {"0-1"}, .shape = {3}}}}, "shape [3] has 3 values");
  fails({.fields = {{.name = "x", .type = "text", .columns = {"0-1"}}}}, "a text has one column");
  fails({.fields = {{.name = "x", .default_value = {"y"}}}}, "default 'y' is not a number");
  fails({.delimiter = "ab"}, "must be one character");
  Write("a", "id,x,id\n1,2,3\n");
  for (const CsvFields& fields :
       {CsvFields{}, CsvFields{{.name = "id"}}, CsvFields{{.name = "all", .columns = {"x", "id"}}},
        CsvFields{{.name = "all", .columns = {"id-x"}}}}) {
    fails({.fields = fields}, "the header has 2 columns called 'id', those of the numbers 0, 2");
  }
  STOKER_EXPECT_OK(Source(Csv{.files = dir_ / "a", .fields = {{.name = "id", .columns = {"2"}}}}));
  fails({.delimiter = "\""}, "must be two characters");
  EXPECT_THAT(Source(Csv{.files = Write("empty", "\n")}),
              FailsWith(StatusCode::kDataLoss, "the file has no rows"));
  EXPECT_THAT(Source(Csv{.files = Write("wide", std::string("\xff\xfei\0d\0", 6))}),
              FailsWith(StatusCode::kDataLoss, "the text is UTF-16"));
  EXPECT_THAT(
      Source(Csv{.files = Write("a.csv.zip", std::string("PK\3\4", 4) + "rows.csv\n1,2\n")}),
      FailsWith(StatusCode::kDataLoss, "this is a zip archive (also .pt and .npz), no CSV"));
}

}  // namespace stoker::csv_test
