#include "stoker/data/sources/files.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"

namespace stoker::files_test {

using testing::ElementsAre;
using testing::EndsWith;

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

std::vector<std::string> TextsOf(const Result<Dataset>& dataset, size_t field = 0) {
  std::vector<std::string> texts;
  const Result<std::vector<Element>> all = ReadAll(*dataset, Runtime::Threaded(2));
  EXPECT_THAT(all, IsOk());
  if (!all.ok()) return texts;
  for (const Element& element : *all) texts.push_back(TextOf(element.arrays[field]));
  return texts;
}

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 12; ++i)
      STOKER_ASSERT_OK(
          WriteFileAtomically(dir_ / fmt::format("{:02}.bin", i), fmt::format("<{:02}>", i)));
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "empty.txt", ""));
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "other.txt", "longer"));
  }
  const TempDir dir_;
};

TEST_F(FilesTest, GivesPathsSortedByTheirBytes) {
  const std::vector<std::string> paths = TextsOf(Source(Files{.path = dir_ / "*.bin"}));
  ASSERT_EQ(paths.size(), 12u);
  EXPECT_EQ(paths[0], dir_ / "00.bin");
  EXPECT_EQ(paths[11], dir_ / "11.bin");
}

TEST_F(FilesTest, ReadsThemAndGivesTheirPathsToo) {
  const Result<Dataset> dataset =
      Source(Files{.path = {dir_ / "other.txt", dir_ / "0[01].bin", dir_ / "empty.txt"},
                   .read = true,
                   .paths = true,
                   .sorted = false});
  EXPECT_EQ(dataset->spec().ToString(), "{bytes: uint8[?], path: uint8[?]}");
  EXPECT_THAT(TextsOf(dataset), ElementsAre("longer", "<00>", "<01>", ""));
  EXPECT_THAT(TextsOf(dataset, 1), ElementsAre(EndsWith("other.txt"), EndsWith("00.bin"),
                                               EndsWith("01.bin"), EndsWith("empty.txt")));
}

TEST_F(FilesTest, AKnownSizeMakesBatches) {
  const Result<Dataset> dataset =
      Source(Files{.path = dir_ / "*.bin", .read = true, .size = 4}) | Batch{.size = 5};
  EXPECT_EQ(dataset->spec().ToString(), "{bytes: uint8[?, 4]}");
  EXPECT_THAT(TextsOf(dataset),
              ElementsAre("<00><01><02><03><04>", "<05><06><07><08><09>", "<10><11>"));
  EXPECT_THAT(ReadAll(*Source(Files{.path = dir_ / "*.txt", .read = true, .size = 4}),
                      Runtime::Threaded(2)),
              FailsWith(StatusCode::kDataLoss, "empty.txt: the file has 0 bytes, but files.size"));
}

TEST_F(FilesTest, KeepsItsPromises) {
  ExpectKeepsItsPromises(Source(Files{.path = dir_ / "*", .read = true, .paths = true}));
  ExpectKeepsItsPromises(Source(Files{.path = dir_ / "*.bin", .read = true, .size = 4}) |
                         Shuffle{} | Batch{.size = 5});
}

TEST_F(FilesTest, AFileThatIsGoneIsAnErrorWithItsPath) {
  const Result<Dataset> dataset = Source(Files{.path = dir_ / "*.bin", .read = true});
  std::filesystem::remove(dir_ / "03.bin");
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)})
    EXPECT_THAT(ReadAll(*dataset, runtime),
                FailsWith(StatusCode::kNotFound, "03.bin: no such file"));
}

TEST_F(FilesTest, RefusesKeysOfFilesThatAreNotThere) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Files{.path = dir_ / "*.bin"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, Pass::Create(dataset, Runtime::Inline(), {}));
  const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/false);
  EXPECT_THAT(dataset.node().ReadKey({.epoch = 0, .index = 11}, context), IsOk());
  EXPECT_THAT(dataset.node().ReadKey({.epoch = 0, .index = 12}, context),
              FailsWith(StatusCode::kOutOfRange, "have the data changed?"));
}

TEST_F(FilesTest, RefusesWhatNamesNoFile) {
  EXPECT_THAT(Source(Files{.path = dir_ / "*.png"}),
              FailsWith(StatusCode::kNotFound, "no file matches"));
  EXPECT_THAT(Source(Files{.path = dir_ / "a.png"}), FailsWith(StatusCode::kNotFound, "a.png"));
  EXPECT_THAT(Source(Files{}), FailsWith(StatusCode::kInvalidArgument, "no file is named"));
  EXPECT_THAT(Source(Files{.path = dir_ / "*.bin", .size = 4}),
              FailsWith(StatusCode::kInvalidArgument, "size goes with read"));
}

TEST_F(FilesTest, PatternsInRecipesAreRelativeToTheRoot) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode list,
                              ParseYaml("- files: {path: [\"0*.bin\", empty.txt]}\n", "r.yaml"));
  ConfigNode filled;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BuildPipeline(list, dir_.path(), &filled));
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(11));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset again, BuildPipeline(filled, dir_.path()));
  EXPECT_EQ(again.cardinality(), Cardinality::Of(11));
}

}  // namespace stoker::files_test
