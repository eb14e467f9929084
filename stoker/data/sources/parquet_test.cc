#include "stoker/data/sources/parquet.h"

#include <cstring>

#include "stoker/data/core/sample_names.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/sources/arrow.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/arrow/arrow_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::parquet_test {

using testing::ElementsAre;

class TableSourceTest : public testing::TestWithParam<TableFormat> {
 protected:
  // Skips where Stoker was built without Arrow.
  void SetUp() override {
    const Status written = WriteTestTable(TableFormat::kArrow, dir_ / "probe", {});
    if (written.code() == StatusCode::kUnavailable) GTEST_SKIP() << written.message();
  }

  // Rows [first, first + rows): images of two numbers, labels and texts, in groups of 4 rows.
  void Write(const std::string& name, int first, int rows) const {
    std::string images, labels, texts;
    for (int row = first; row < first + rows; ++row) {
      const char* const comma = row == first ? "" : ", ";
      images += fmt::format("{}[{}, {}]", comma, 10 * row, 10 * row + 1);
      labels += fmt::format("{}{}", comma, row);
      texts += fmt::format("{}\"{}\"", comma, std::string(static_cast<size_t>(row % 3), 'a'));
    }
    Write(name, {.columns = {{"img", "fixed_size_list<int32>[2]", "[" + images + "]"},
                             {"y", "int64", "[" + labels + "]"},
                             {"t", "string", "[" + texts + "]"}},
                 .group_rows = 4});
  }
  void Write(const std::string& name, const TestTable& table) const {
    STOKER_ASSERT_OK(WriteTestTable(GetParam(), dir_ / name, table));
  }

  Result<Dataset> Open(const FilePatterns& files, const TableFields& fields,
                       int64_t cache = kChunkCacheMiB) const {
    if (GetParam() == TableFormat::kParquet)
      return Source(Parquet{.files = files, .fields = fields, .cache = cache});
    return Source(Arrow{.files = files, .fields = fields, .cache = cache});
  }
  static TableFields Fields() { return {{"image", "img", {}}, {"label", "y", {}}}; }

  static std::vector<int64_t> LabelsOf(const Result<Dataset>& dataset, size_t field = 1) {
    std::vector<int64_t> labels;
    const auto all = ReadAll(*dataset, Runtime::Inline());
    STOKER_EXPECT_OK(all.status());
    if (!all.ok()) return labels;
    for (const Element& element : *all)
      labels.push_back(element.arrays[field].values<int64_t>()[0]);
    return labels;
  }

  const TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Formats, TableSourceTest,
                         testing::Values(TableFormat::kParquet, TableFormat::kArrow),
                         [](const auto& of) { return std::string(TableFormatName(of.param)); });

TEST_P(TableSourceTest, GivesTheRowsOfSeveralFilesOneAfterTheOther) {
  Write("a", 0, 5);
  Write("b", 5, 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Open(dir_ / "{a,b}", Fields()));
  EXPECT_EQ(dataset.spec().ToString(), "{image: int32[2], label: int64[]}");
  EXPECT_THAT(LabelsOf(dataset), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(FindSampleNames(dataset)->NameOf(6, "image"), dir_ / "b" + ": row 1, column 'img'");
}

TEST_P(TableSourceTest, TakesEveryColumnByItsPathWhereNoneIsNamed) {
  Write("a", 0, 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Open(dir_ / "a", {}));
  EXPECT_EQ(dataset.spec().ToString(), "{img: int32[2], y: int64[], t: uint8[?]}");
}

TEST_P(TableSourceTest, KeepsItsPromisesWhateverTheCache) {
  Write("a", 0, 17);
  Write("b", 17, 9);
  for (const int64_t cache : {0, 256}) {
    ExpectKeepsItsPromises(Open(dir_ / "{a,b}", Fields(), cache));
    ExpectKeepsItsPromises(Open(dir_ / "{a,b}", Fields(), cache) | Shuffle{} | Prefetch{});
    ExpectKeepsItsPromises(Open(dir_ / "{a,b}", Fields(), cache) | Shuffle{.window = 8, .page = 4});
    ExpectKeepsItsPromises(Open(dir_ / "{a,b}", {}, cache) | Shuffle{});
  }
}

TEST_P(TableSourceTest, ANullIsAnErrorOfItsRowUnlessAValueStandsForIt) {
  Write("a", {.columns = {{"y", "int64", "[1, null, 3]"}}});
  const auto all = ReadAll(*Open(dir_ / "a", {{"label", "y", {}}}), Runtime::Inline());
  EXPECT_THAT(all, FailsWith(StatusCode::kDataLoss,
                             dir_ / "a" + ": row 1, column 'y': there is a null; name what "
                                          "stands for nulls: label: {column: y, nulls: ...}"));
  EXPECT_THAT(LabelsOf(Open(dir_ / "a", {{"label", "y", {"-9"}}}), 0), ElementsAre(1, -9, 3));
  EXPECT_THAT(LabelsOf(Open(dir_ / "a", {{"label", "y", {}}}) | IgnoreErrors{}, 0),
              ElementsAre(1, 3));
  EXPECT_THAT(Open(dir_ / "a", {{"label", "y", {"none"}}}),
              FailsWith(StatusCode::kInvalidArgument, "nulls is 'none', which is no number"));
}

TEST_P(TableSourceTest, ColumnsThatAreNotThereAreNamedWithTheNearest) {
  Write("a", 0, 2);
  EXPECT_THAT(Open(dir_ / "a", {{"image", "imgs", {}}}),
              FailsWith(StatusCode::kInvalidArgument, "did you mean 'img'?"));
}

TEST_P(TableSourceTest, FilesOfOneSetThatDifferAreNamed) {
  Write("a", {.columns = {{"y", "int64", "[1]"}}});
  Write("b", {.columns = {{"y", "float", "[1]"}}});
  EXPECT_THAT(
      Open(dir_ / "{a,b}", {{"label", "y", {}}}),
      FailsWith(StatusCode::kInvalidArgument,
                dir_ / "b" + ": its fields are {label: float32[]}, those of " + dir_ / "a"));
}

TEST_P(TableSourceTest, SetsMemoryForGroupsAsideFromTheBudgetOrRefusesThemBeforeItReads) {
  std::string json = "[0";
  for (int i = 1; i < 40000; ++i) json += fmt::format(", {}", i % 7);
  Write("a", {.columns = {{"y", "int64", json + "]"}}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Open(dir_ / "a", {{"label", "y", {}}}));
  EXPECT_THAT(dataset.Open({.kind = Runtime::Kind::kThreaded, .memory_budget = 100'000}),
              FailsWith(StatusCode::kResourceExhausted, "fewer rows in each group"));
  EXPECT_TRUE(dataset.Open({.kind = Runtime::Kind::kThreaded, .memory_budget = 100 << 20}).ok());
}

// Token lists that are padded with zeros take a hundredth in the file.
TEST_P(TableSourceTest, GroupsThatCompressWellAreReadAsFarAsTheBudgetHasRoom) {
  std::string zeros = "[7", rows;
  for (int i = 1; i < 500; ++i) zeros += ", 0";
  for (int row = 0; row < 1000; ++row) rows += (row == 0 ? "[" : ", ") + zeros + "]";
  Write("a", {.columns = {{"x", "list<int32>", rows + "]"}}, .compression = "zstd"});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Open(dir_ / "a", {{"x", "x", {}}}));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const std::vector<Element> all,
      ReadAll(dataset,
              {.kind = Runtime::Kind::kThreaded, .threads = 2, .memory_budget = 64 << 20}));
  ASSERT_EQ(all.size(), 1000u);
  EXPECT_EQ(all.back().arrays[0].shape(), Shape({500}));
  EXPECT_EQ(all.back().arrays[0].values<int32_t>()[0], 7);
  EXPECT_THAT(
      ReadAll(dataset, {.kind = Runtime::Kind::kThreaded, .threads = 2, .memory_budget = 2 << 20}),
      FailsWith(StatusCode::kResourceExhausted, "fewer rows in each group"));
}

TEST(ParquetTest, APictureOfADamagedSampleIsNamedByItsFile) {
  const TempDir dir;
  const Status written = WriteTestTable(
      TableFormat::kParquet, dir / "a.parquet",
      {.columns = {{"image", "struct<bytes: binary, path: string>", R"([["x", "cat.jpg"]])"}}});
  if (written.code() == StatusCode::kUnavailable) GTEST_SKIP() << written.message();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Parquet{.files = dir / "a.parquet"}));
  EXPECT_EQ(dataset.spec().ToString(), "{image: uint8[?]}");
  EXPECT_EQ(FindSampleNames(dataset)->NameOf(0, "image"),
            dir / "a.parquet" + ": row 0, column 'image' (cat.jpg)");
}

TEST(ParquetTest, ADamagedGroupIsAnErrorOfItsRowsAndTheOthersAreRead) {
  const TempDir dir;
  const std::string path = dir / "a.parquet";
  const Status written =
      WriteTestTable(TableFormat::kParquet, path,
                     {.columns = {{"y", "int64", "[1111, 2222, 3333, 4444, 5555, 6666]"}},
                      .group_rows = 2,
                      .checksums = true});
  if (written.code() == StatusCode::kUnavailable) GTEST_SKIP() << written.message();
  STOKER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadTextFile(path));
  const int64_t damaged = 4444;
  bytes[bytes.find(std::string(reinterpret_cast<const char*>(&damaged), sizeof(damaged)))] ^= 1;
  STOKER_ASSERT_OK(WriteFileAtomically(path, bytes));
  const QuietLog quiet;
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    const auto read =
        ReadAll(*(Source(Parquet{.files = path}) | IgnoreErrors{.share = 1}), runtime);
    STOKER_ASSERT_OK(read.status());
    std::vector<int64_t> labels;
    for (const Element& element : *read) labels.push_back(element.arrays[0].values<int64_t>()[0]);
    EXPECT_THAT(labels, ElementsAre(1111, 2222, 5555, 6666));
    EXPECT_THAT(ReadAll(*Source(Parquet{.files = path}), runtime),
                FailsWith(StatusCode::kDataLoss, path + ": row group 1, column 'y': "));
  }
}

}  // namespace stoker::parquet_test
