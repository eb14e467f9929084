#include "stoker/data/pack/pack_target.h"

#include <filesystem>

#include "stoker/data/testing/packed.h"
#include "stoker/io/atomic_file.h"

namespace stoker::pack_target_test {

class PackTargetTest : public PackTest {
 protected:
  void Write(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    STOKER_ASSERT_OK(WriteFileAtomically(Path(name), "mine"));
  }
};

PackOptions Replacing(std::string_view format, int64_t files = 1) {
  PackOptions options = Into(format, files);
  options.overwrite = true;
  return options;
}

TEST_F(PackTargetTest, ADirectoryWithAFileThatNoPackingWritesIsNeverReplaced) {
  for (const PackFormat& format : PackFormats()) {
    SCOPED_TRACE(format.name);
    const std::string target = PackedNames("x", format, 1).front();
    if (format.directory) {
      STOKER_ASSERT_OK(Pack(NumberedImages(4), Path("x"), Into(format.name)));
    }
    Write(target + "/notes.txt");
    Write(target + "/zebra/deep.txt");
    const auto before = FilesIn(directory_.path());
    EXPECT_THAT(Pack(NumberedImages(5), Path("x"), Replacing(format.name)),
                FailsWith(StatusCode::kFailedPrecondition,
                          target + ": this directory holds 'notes.txt', which no packing writes"));
    EXPECT_EQ(FilesIn(directory_.path()), before);
    std::filesystem::remove_all(Path(target));
  }
}

TEST_F(PackTargetTest, ADirectoryThatAPackingMadeIsReplaced) {
  for (const char* format : {"npy", "lmdb"}) {
    SCOPED_TRACE(format);
    STOKER_ASSERT_OK(Pack(NumberedImages(4), Path("x"), Into(format)));
    if (format == std::string_view("lmdb")) Write("x.lmdb/lock.mdb");  // as whoever reads it leaves
    STOKER_ASSERT_OK(Pack(NumberedImages(5), Path("x"), Replacing(format)));
    const std::string made = PackedNames(Path("x"), Format(format), 1).front();
    int64_t elements = 0;
    STOKER_EXPECT_OK(Format(format).read(made, NumberedImages(5).spec(), [&](auto) {
      ++elements;
      return OkStatus();
    }));
    EXPECT_EQ(elements, 5);
  }
}

TEST_F(PackTargetTest, NamesThatPackingsWriteAreForeignWhereTheyAreNoFiles) {
  Write("x/label.npy/inside.txt");
  EXPECT_THAT(CheckTargetsMayGo({Path("x")}),
              FailsWith(StatusCode::kFailedPrecondition, "holds 'label.npy'"));
  Write("kept.npy");
  std::filesystem::create_directory(Path("y"));
  std::filesystem::create_symlink(Path("kept.npy"), Path("y/label.npy"));
  EXPECT_THAT(CheckTargetsMayGo({Path("y")}),
              FailsWith(StatusCode::kFailedPrecondition, "holds 'label.npy'"));
}

TEST_F(PackTargetTest, OfALinkToADirectoryOnlyTheLinkGoes) {
  Write("mine/notes.txt");
  std::filesystem::create_directory_symlink(Path("mine"), Path("x"));
  STOKER_ASSERT_OK(Pack(NumberedImages(4), Path("x"), Replacing("npy")));
  EXPECT_FALSE(std::filesystem::is_symlink(Path("x")));
  EXPECT_EQ(*ReadTextFile(Path("mine/notes.txt")), "mine");
}

TEST_F(PackTargetTest, AFileThatAppearsInATargetMeanwhileStays) {
  STOKER_ASSERT_OK(Pack(NumberedImages(4), Path("x"), Into("npy")));
  PackOptions options = Replacing("npy");
  options.observer = [&](const PackProgress& progress) {
    if (progress.elements == 3) Write("x/notes.txt");
  };
  EXPECT_THAT(Pack(NumberedImages(5), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition, "holds 'notes.txt'"));
  EXPECT_EQ(*ReadTextFile(Path("x/notes.txt")), "mine");
  EXPECT_EQ(FilesIn(directory_.path()).size(), 3u) << "two arrays and the notes; nothing else left";
}

// Reads records back as `format` does, but for one that it takes for damaged.
template <const std::string_view* kFormat>
Status ReadWithDamage(const std::string& path, const Spec& spec, const PackedElement& each) {
  int64_t number = 0;
  return Format(*kFormat).read(path, spec, [&](std::span<const Array> arrays) -> Status {
    if (number++ == 3) return DataLoss("{}: byte 99: damaged", path);
    return each(arrays);
  });
}

constexpr std::string_view kFile = "stoker", kDirectory = "npy";

TEST_F(PackTargetTest, WhatIsReplacedStaysUntilTheNewFileHasBeenReadBack) {
  PackFormat file = Format(kFile), directory = Format(kDirectory);
  file.read = ReadWithDamage<&kFile>;
  directory.read = ReadWithDamage<&kDirectory>;
  for (const PackFormat* damaged : {&file, &directory}) {
    for (const int64_t files : {1, 4}) {
      SCOPED_TRACE(fmt::format("{}, {} files", damaged->name, files));
      const TempDir directory_of_one;
      const std::string to = (directory_of_one.path() / "x").string();
      STOKER_ASSERT_OK(Pack(NumberedImages(40), to, Into(damaged->name, files)));
      const auto before = FilesIn(directory_of_one.path());
      PackOptions options = Replacing(damaged->name, files);
      options.verify = true;
      std::atomic<bool> stop = false;
      options.observer = [&](const PackProgress& progress) { stop = progress.verifying; };
      Runtime runtime = Runtime::Threaded(2);
      runtime.stop = &stop;
      EXPECT_THAT(Pack(NumberedImages(41), to, options, runtime),
                  FailsWith(StatusCode::kCancelled, "verifying was stopped"));
      EXPECT_EQ(FilesIn(directory_of_one.path()), before);
      options.observer = nullptr;
      options.format = damaged;
      const std::string first = PackedNames(to, *damaged, files).front();
      EXPECT_THAT(Pack(NumberedImages(41), to, options),
                  FailsWith(StatusCode::kDataLoss, first + ": byte 99: damaged"));
      EXPECT_EQ(FilesIn(directory_of_one.path()), before);
      options.format = &Format(damaged->name);
      STOKER_ASSERT_OK(Pack(NumberedImages(41), to, options));
      EXPECT_EQ(FilesIn(directory_of_one.path()).size(), before.size()) << "nothing else is left";
      EXPECT_NE(FilesIn(directory_of_one.path()), before);
    }
  }
}

// The directory of an interrupted packing with other options, which goes when the new one is whole.
TEST_F(PackTargetTest, AFileInAShardOfAnotherPackingStays) {
  std::atomic<bool> stop = false;
  PackOptions options = Into("npy", 4);
  options.observer = [&](const PackProgress& progress) { stop = progress.file == 2; };
  Runtime runtime = Runtime::Threaded(2);
  runtime.stop = &stop;
  EXPECT_THAT(Pack(NumberedImages(40), Path("x"), options, runtime),
              FailsWith(StatusCode::kCancelled, ""));
  Write("x-00000-of-00004/notes.txt");
  const auto before = FilesIn(directory_.path());
  EXPECT_THAT(Pack(NumberedImages(40), Path("x"), Replacing("npy", 2)),
              FailsWith(StatusCode::kFailedPrecondition,
                        "x-00000-of-00004: this directory holds 'notes.txt'"));
  EXPECT_EQ(FilesIn(directory_.path()), before);
}

// Names of what is there but for records of packings.
std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& [name, text] : FilesIn(directory)) names.push_back(name);
  return names;
}

TEST_F(PackTargetTest, ShardsOfAnotherNumberGoWhenTheNewOnesAreWholeWhoeverMadeThem) {
  using testing::ElementsAre;
  for (const bool recorded : {true, false}) {
    for (const int64_t before : {3, 1}) {
      const TempDir directory;
      const std::string to = (directory.path() / "x").string();
      STOKER_ASSERT_OK(Pack(NumberedImages(9), to, Into("stoker", before)));
      STOKER_ASSERT_OK(WriteFileAtomically(to + "y-00000-of-00003.stoker", "of another name"));
      if (!recorded) std::filesystem::remove(directory.path() / ".x.stoker.stoker-pack");
      if (!recorded && before == 1) continue;  // then it is a file of another name
      SCOPED_TRACE(fmt::format("{} files, recorded {}", before, recorded));
      std::atomic<bool> stop = false;
      PackOptions options = Replacing("stoker", 2);
      options.observer = [&](const PackProgress& progress) { stop = progress.file == 1; };
      Runtime runtime = Runtime::Threaded(2);
      runtime.stop = &stop;
      EXPECT_THAT(Pack(NumberedImages(8), to, options, runtime),
                  FailsWith(StatusCode::kCancelled, ""));
      // Until then all of the old ones are there, and stay unless they may go.
      for (const std::string& old : PackedNames(to, Format("stoker"), before))
        EXPECT_TRUE(std::filesystem::exists(old)) << old;
      const auto until_then = FilesIn(directory.path());
      EXPECT_THAT(Pack(NumberedImages(8), to, Into("stoker", 2)),
                  FailsWith(StatusCode::kFailedPrecondition, "give --overwrite again to finish"));
      EXPECT_EQ(FilesIn(directory.path()), until_then);
      STOKER_ASSERT_OK(Pack(NumberedImages(8), to, Replacing("stoker", 2)));
      EXPECT_THAT(NamesIn(directory.path()),
                  ElementsAre("x-00000-of-00002.stoker", "x-00001-of-00002.stoker",
                              "xy-00000-of-00003.stoker"));
      STOKER_ASSERT_OK(Pack(NumberedImages(8), to, Replacing("stoker")));
      EXPECT_THAT(NamesIn(directory.path()), ElementsAre("x.stoker", "xy-00000-of-00003.stoker"));
    }
  }
}

TEST_F(PackTargetTest, BesideShardsOfAnotherNumberNothingIsPackedUnlessTheyMayGo) {
  STOKER_ASSERT_OK(Pack(NumberedImages(9), Path("x"), Into("stoker", 3)));
  const auto before = FilesIn(directory_.path());
  for (const int64_t files : {1, 2, 4}) {
    EXPECT_THAT(Pack(NumberedImages(9), Path("x"), Into("stoker", files)),
                FailsWith(StatusCode::kFailedPrecondition,
                          "x-00000-of-00003.stoker: a shard of another set is there already"));
    EXPECT_EQ(FilesIn(directory_.path()), before);
  }
  // What is read is never replaced, whatever it is called.
  PackOptions options = Replacing("stoker", 2);
  options.inputs = {Path("x-00002-of-00003.stoker")};
  EXPECT_THAT(Pack(NumberedImages(9), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition,
                        "x-00002-of-00003.stoker: is read by this pipeline"));
  EXPECT_EQ(FilesIn(directory_.path()), before);
}

TEST_F(PackTargetTest, WhatSaysWhatIsPackedIsAnInputToo) {
  Write("recipe.npy");
  PackOptions options = Replacing("npy");
  options.inputs = {Path("recipe.npy")};
  EXPECT_THAT(Pack(NumberedImages(4), Path("recipe.npy"), options),
              FailsWith(StatusCode::kFailedPrecondition, "recipe.npy: is read by this pipeline"));
  EXPECT_EQ(*ReadTextFile(Path("recipe.npy")), "mine");
}

TEST_F(PackTargetTest, DirectoriesAboveATargetAreNotMade) {
  EXPECT_THAT(Pack(NumberedImages(4), Path("missing/x"), Into("stoker")),
              FailsWith(StatusCode::kNotFound, "missing: there is no such directory"));
  EXPECT_FALSE(std::filesystem::exists(Path("missing")));
}

TEST_F(PackTargetTest, AnInterruptedPackingThatDiffersIsToldByTheOptionsThatDiffer) {
  std::atomic<bool> stop = false;
  PackOptions options = Into("stoker", 4);
  options.given = {{"--shards", "4"}, {"--shuffle", "no"}, {"--seed", "0"}};
  options.observer = [&](const PackProgress& progress) { stop = progress.file == 2; };
  Runtime runtime = Runtime::Threaded(2);
  runtime.stop = &stop;
  EXPECT_THAT(Pack(NumberedImages(40), Path("x"), options, runtime),
              FailsWith(StatusCode::kCancelled, ""));
  options.files = 5;
  options.given = {{"--shards", "5"}, {"--shuffle", "yes"}, {"--seed", "0"}};
  EXPECT_THAT(Pack(NumberedImages(40), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition,
                        "(--shards 5, before 4; --shuffle yes, before no)"));
}

TEST(PackFormatFor, IsToldByTheEndingAndNothingIsGuessed) {
  const auto name = [](const char* destination, const char* format) {
    const Result<const PackFormat*> found = PackFormatFor(destination, format);
    return found.ok() ? std::string((*found)->name) : found.status().message();
  };
  EXPECT_EQ(name("x", ""), "stoker");
  EXPECT_EQ(name("a.dir/x", ""), "stoker");
  EXPECT_EQ(name("x.tfrecord", ""), "tfrecord");
  EXPECT_EQ(name("x.lmdb/", ""), "lmdb");
  EXPECT_EQ(name("x.zip", "tar"), "tar");
  for (const char* wrong : {"x.zip", "e1.csv", "zz.tfrecord.gz", "x.stokr"}) {
    EXPECT_THAT(name(wrong, ""), testing::HasSubstr("is not packed to; formats: stoker, tfrecord"))
        << wrong;
  }
  for (const char* format : {"", "npy"})
    EXPECT_THAT(name("q.npy", format), testing::HasSubstr("into a directory")) << format;
  for (const char* wrong : {"/dev/full", "/dev/null"})
    EXPECT_THAT(name(wrong, ""), testing::HasSubstr("is a device or a pipe")) << wrong;
  for (const char* wrong : {"-", ".", "a/..", "", "/"})
    EXPECT_THAT(name(wrong, ""), testing::HasSubstr("names no file to pack into")) << wrong;
  EXPECT_THAT(name("s3://bucket/x.stoker", ""), testing::HasSubstr("on this machine"));
}

}  // namespace stoker::pack_target_test
