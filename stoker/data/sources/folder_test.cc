#include "stoker/data/sources/folder.h"

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/sources/folder_scan_internal.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/picture_folder.h"

namespace stoker::folder_test {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

// "FILE'S BYTES=LABEL" of every element.
std::vector<std::string> SamplesOf(const Result<Dataset>& dataset) {
  std::vector<std::string> samples;
  const Result<std::vector<Element>> all = ReadAll(*dataset, Runtime::Threaded(2));
  EXPECT_THAT(all, IsOk());
  if (!all.ok()) return samples;
  for (const Element& element : *all) {
    samples.push_back(
        fmt::format("{}={}", TextOf(element.arrays[0]), element.arrays[1].values<int64_t>()[0]));
  }
  return samples;
}

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"dog/2.png", "dog/10.jpg", "cat/b.jpg", "cat/a.JPEG", "cat/more/0.jpg",
                             "cat/more-yet/1.webp", "Owl/x.bmp"})
      WriteBelow(dir_, name, name);
  }
  const TempDir dir_;
};

// What torchvision 0.26's ImageFolder gives for the same tree.
TEST_F(FolderTest, NumbersClassesAndFilesAsImageFolderOfTorchvisionDoes) {
  const Result<Dataset> dataset = Source(Folder{.path = dir_.path()});
  STOKER_ASSERT_OK(dataset);
  EXPECT_EQ(dataset->spec().ToString(), "{image: uint8[?], label: int64[]}");
  EXPECT_EQ(dataset->cardinality(), Cardinality::Of(7));
  EXPECT_THAT(SamplesOf(dataset),
              ElementsAre("Owl/x.bmp=0", "cat/a.JPEG=1", "cat/b.jpg=1", "cat/more/0.jpg=1",
                          "cat/more-yet/1.webp=1", "dog/10.jpg=2", "dog/2.png=2"));
}

TEST_F(FolderTest, LeavesOutHiddenNamesAndOtherExtensions) {
  WriteBelow(dir_, "dog/notes.txt", "");
  WriteBelow(dir_, "dog/._10.jpg", "what another system leaves beside it");
  WriteBelow(dir_, ".thumbnails/1.jpg", "");
  WriteBelow(dir_, "dog/jpg", "");
  WriteBelow(dir_, "top.jpg", "");
  const Result<Dataset> dataset = Source(Folder{.path = dir_.path()});
  EXPECT_EQ(dataset->cardinality(), Cardinality::Of(7));
  EXPECT_EQ(dataset->node().Details(),
            dir_.path().string() + ", 3 classes, 2 other files left out");
  EXPECT_THAT(
      SamplesOf(Source(Folder{.path = dir_.path(), .extensions = {".TXT"}, .allow_empty = true})),
      ElementsAre("=2"));
}

TEST_F(FolderTest, FollowsLinksToFilesAndFolders) {
  const TempDir elsewhere;
  WriteBelow(elsewhere, "z/z.jpg", "linked");
  fs::create_directory_symlink(elsewhere.path() / "z", dir_.path() / "zebra");
  fs::create_symlink(elsewhere.path() / "z" / "z.jpg", dir_.path() / "dog" / "z.jpg");
  const std::vector<std::string> samples = SamplesOf(Source(Folder{.path = dir_.path()}));
  ASSERT_EQ(samples.size(), 9u);
  EXPECT_EQ(samples[7], "linked=2");
  EXPECT_EQ(samples[8], "linked=3");
}

TEST_F(FolderTest, ALinkThatLeadsBackIsAnErrorAndNoEndlessWalk) {
  fs::create_directory_symlink(dir_.path() / "dog", dir_.path() / "dog" / "again");
  EXPECT_THAT(Source(Folder{.path = dir_.path()}),
              FailsWith(StatusCode::kInvalidArgument, "does a link lead back?"));
}

TEST_F(FolderTest, GivesThePathsWhereTheyAreWanted) {
  const Result<Dataset> dataset = Source(Folder{.path = dir_.path(), .paths = true});
  EXPECT_EQ(dataset->spec().ToString(), "{image: uint8[?], label: int64[], path: uint8[?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(*dataset, Runtime::Inline()));
  EXPECT_EQ(TextOf(all[3].arrays[2]), dir_ / "cat/more/0.jpg");
}

TEST_F(FolderTest, NamesOfClassesAndFilesAreFoundBehindOtherStages) {
  const Result<Dataset> dataset = Source(Folder{.path = dir_.path()}) | Shuffle{};
  EXPECT_THAT(FindClassNames(*dataset), ElementsAre("Owl", "cat", "dog"));
  const std::shared_ptr<const SampleNames> names = FindSampleNames(*dataset);
  ASSERT_NE(names, nullptr);
  EXPECT_EQ(names->NameOf(0, "image"), dir_ / "Owl/x.bmp");
  EXPECT_EQ(names->NameOf(0, "label"), "");
  EXPECT_EQ(names->NameOf(7, "image"), "");
}

TEST_F(FolderTest, KeepsItsPromises) {
  ExpectKeepsItsPromises(Source(Folder{.path = dir_.path(), .paths = true}));
  ExpectKeepsItsPromises(Source(Folder{.path = dir_.path()}) | Shuffle{});
}

TEST_F(FolderTest, ElementsOfDifferentSizesAreRefusedByBatchWithWhatToDo) {
  EXPECT_THAT(Source(Folder{.path = dir_.path()}) | Batch{},
              FailsWith(StatusCode::kInvalidArgument, "resize or crop before batch"));
}

TEST_F(FolderTest, AFileThatIsGoneIsAnErrorWithItsPath) {
  const Result<Dataset> dataset = Source(Folder{.path = dir_.path()});
  fs::remove(dir_.path() / "cat" / "b.jpg");
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(*dataset, runtime),
                FailsWith(StatusCode::kNotFound, "cat/b.jpg: no such file"));
  }
}

// The files of /proc say that they are empty and give bytes all the same, as a file does that grows
// between two looks at it.
TEST_F(FolderTest, AFileThatGrowsWhileItIsReadIsAnError) {
  fs::create_symlink("/proc/self/status", dir_.path() / "Owl" / "0.jpg");
  EXPECT_THAT(ReadAll(*Source(Folder{.path = dir_.path()}), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "Owl/0.jpg: byte 0: the file has grown"));
}

TEST_F(FolderTest, AFileThatIsFarTooLargeIsRefusedBeforeMemoryIsAskedFor) {
  fs::resize_file(dir_.path() / "Owl" / "x.bmp", (uintmax_t{2} << 30) + 1);  // a hole
  EXPECT_THAT(ReadAll(*Source(Folder{.path = dir_.path()}), Runtime::Inline()),
              FailsWith(StatusCode::kUnimplemented, "x.bmp: the file has 2147483649 bytes"));
}

TEST_F(FolderTest, SaysWhatIsWrongWithTheFolder) {
  const auto error = [](const fs::path& path) { return Source(Folder{.path = path}); };
  EXPECT_THAT(error(dir_.path() / "missing"),
              FailsWith(StatusCode::kNotFound, "missing: cannot list the folder"));
  EXPECT_THAT(error(dir_.path() / "dog" / "2.png"),
              FailsWith(StatusCode::kFailedPrecondition, "holds a folder for each class"));
  EXPECT_THAT(error(dir_.path() / "dog"), FailsWith(StatusCode::kNotFound,
                                                    "has no sub-folders, of which each would be a "
                                                    "class, though 2 pictures lie in it"));
  fs::create_directory(dir_.path() / "none");
  EXPECT_THAT(error(dir_.path()),
              FailsWith(StatusCode::kNotFound, "none: the class has no file called *.jpg"));
  EXPECT_EQ(Source(Folder{.path = dir_.path(), .allow_empty = true})->cardinality(),
            Cardinality::Of(7));
  EXPECT_THAT(Source(Folder{.path = dir_.path(), .extensions = {"gif"}, .allow_empty = true}),
              FailsWith(StatusCode::kNotFound, "no class has a file called *.gif (7 others"));
  EXPECT_THAT(Source(Folder{.path = dir_.path(), .extensions = {"*.gif"}}),
              FailsWith(StatusCode::kInvalidArgument, "an extension is a word such as jpg"));
}

TEST(FolderScan, FindsTheFolderOfEveryFile) {
  const TempDir dir;
  for (const char* name : {"a/1.jpg", "a/b/1.jpg", "a/b/2.jpg", "c/1.jpg"})
    WriteBelow(dir, name, "");
  fs::create_directory(dir.path() / "b");
  STOKER_ASSERT_OK_AND_ASSIGN(const FolderScan scan,
                              ScanFolder(dir.path().string(), {"jpg"}, /*allow_empty=*/true));
  EXPECT_THAT(scan.classes, ElementsAre("a", "b", "c"));
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < scan.names.size(); ++i) labels.push_back(scan.DirectoryOf(i).label);
  EXPECT_THAT(labels, ElementsAre(0, 0, 0, 2));
  EXPECT_EQ(scan.DirectoryOf(2).path, dir / "a/b");
}

}  // namespace stoker::folder_test
