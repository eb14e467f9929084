#include "stoker/data/pack/pack.h"

#include <algorithm>
#include <filesystem>

#include "stoker/data/core/class_names.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack_manifest.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/data/testing/packed.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::pack_test {

TEST_F(PackTest, InlineAndThreadedWriteTheSameBytes) {
  for (const PackFormat& format : PackFormats()) {
    SCOPED_TRACE(format.name);
    for (const Dataset& dataset : {NumberedImages(1000), StreamedImages(1000)}) {
      const TempDir one, other;
      const Dataset shuffled = *(Result(dataset) | Shuffle{.buffer = std::nullopt});
      const PackOptions options{.format = &format, .pass = {.seed = 3}};
      STOKER_ASSERT_OK(Pack(shuffled, (one.path() / "x").string(), options, Runtime::Inline()));
      STOKER_ASSERT_OK(
          Pack(shuffled, (other.path() / "x").string(), options, Runtime::Threaded(4)));
      EXPECT_EQ(FilesIn(one.path()), FilesIn(other.path()));
    }
  }
}

TEST_F(PackTest, FilesHoldConsecutiveElementsAndDifferByOneAtMost) {
  const PackOptions options = Into("stoker", 3);
  STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report,
                              Pack(NumberedImages(11), Path("x.stoker"), options));
  std::vector<int64_t> sizes;
  for (const PackReport::File& file : report.files) sizes.push_back(file.elements);
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 3}));
  EXPECT_EQ(report.files[2].path, Path("x-00002-of-00003.stoker"));
  const Dataset back = *Source(Stoker{.files = Path("x@3.stoker")});
  EXPECT_EQ(Labels(*ReadAll(back, Runtime::Inline())),
            Labels(*ReadAll(NumberedImages(11), Runtime::Inline())));
  EXPECT_EQ(FilesIn(directory_.path()).size(), 3u);
}

TEST_F(PackTest, APipelineOfUnknownLengthGoesIntoOneFileOnly) {
  EXPECT_THAT(Pack(StreamedImages(9), Path("x"), Into("stoker", 2)),
              FailsWith(StatusCode::kInvalidArgument, "is not known beforehand"));
  STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report,
                              Pack(StreamedImages(9), Path("x"), Into("stoker")));
  EXPECT_EQ(report.elements(), 9);
}

TEST_F(PackTest, WhatCannotBePackedIsRefusedBeforeAnythingIsWritten) {
  EXPECT_THAT(Pack(*(Result(NumberedImages(3)) | Repeat{}), Path("x"), Into("stoker")),
              FailsWith(StatusCode::kInvalidArgument, "the pipeline has no end"));
  EXPECT_THAT(Pack(NumberedImages(3), Path("x"), Into("stoker", 4)),
              FailsWith(StatusCode::kInvalidArgument, "3 elements cannot be divided among 4"));
  const Dataset doubles = *FromArrays({{"x", Array::Of(std::vector<double>{1, 2})}});
  EXPECT_THAT(Pack(doubles, Path("x"), Into("tfrecord")),
              FailsWith(StatusCode::kInvalidArgument, "field 'x' is float64"));
  EXPECT_THAT(FindPackFormat("tfrecrd"),
              FailsWith(StatusCode::kInvalidArgument, "did you mean 'tfrecord'?"));
  EXPECT_TRUE(FilesIn(directory_.path()).empty());
}

TEST_F(PackTest, GivenAgainItFindsThatAllIsDone) {
  for (const PackFormat& format : PackFormats()) {
    SCOPED_TRACE(format.name);
    const TempDir directory;
    const std::string to = (directory.path() / "x").string();
    PackOptions options{.format = &format, .files = 3, .classes = {"cat", "dog"}};
    STOKER_ASSERT_OK(Pack(NumberedImages(10), to, options));
    const auto before = FilesIn(directory.path());
    for (const bool verify : {false, true}) {
      options.verify = verify;
      STOKER_ASSERT_OK_AND_ASSIGN(const PackReport again, Pack(NumberedImages(10), to, options));
      EXPECT_EQ(std::ranges::count_if(again.files, &PackReport::File::kept), 3);
      EXPECT_EQ(again.elements(), 10);
      EXPECT_EQ(FilesIn(directory.path()), before);
    }
    // What was taken away is made again; what is in the way is not replaced unasked.
    const auto names = PackedNames(to, format, 3);
    std::filesystem::remove_all(names[1]);
    EXPECT_THAT(Pack(NumberedImages(10), to, options),
                FailsWith(StatusCode::kFailedPrecondition, "is there already"));
    for (const std::string& name : names) std::filesystem::remove_all(name);
    if (!format.holds_classes) std::filesystem::remove(PackedClassNames(to, format));
    STOKER_ASSERT_OK(Pack(NumberedImages(10), to, options));
    EXPECT_EQ(FilesIn(directory.path()), before);
  }
}

TEST_F(PackTest, WhatIsThereIsReplacedOnlyWhenAsked) {
  STOKER_ASSERT_OK(Pack(NumberedImages(3), Path("x"), Into("stoker")));
  PackOptions options = Into("stoker");
  EXPECT_THAT(Pack(NumberedImages(5), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition, "--overwrite"));
  options.overwrite = true;
  STOKER_ASSERT_OK(Pack(NumberedImages(5), Path("x"), options));
  const Dataset back = *Source(Stoker{.files = Path("x.stoker")});
  EXPECT_EQ(back.cardinality(), Cardinality::Of(5));
}

// Stops after `elements` elements, as a signal would.
Status PackUpTo(int64_t elements, const Dataset& dataset, const std::string& to,
                PackOptions options) {
  std::atomic<bool> stop = false;
  options.observer = [&](const PackProgress& progress) {
    if (progress.elements >= elements) stop = true;
  };
  Runtime runtime = Runtime::Threaded(2);
  runtime.stop = &stop;
  return Pack(dataset, to, options, runtime).status();
}

auto WasStopped() { return FailsWith(StatusCode::kCancelled, ""); }

TEST_F(PackTest, WhatWasInterruptedGoesOnToTheSameBytes) {
  const Dataset shuffled = *(Result(NumberedImages(1000)) | Shuffle{});
  for (const PackFormat& format : PackFormats()) {
    const TempDir whole;
    PackOptions options{.format = &format, .files = 7, .classes = {"cat", "dog"}};
    STOKER_ASSERT_OK(Pack(shuffled, (whole.path() / "x").string(), options));
    for (const int64_t at : {1, 200, 700, 999}) {
      SCOPED_TRACE(fmt::format("{} {}", format.name, at));
      const TempDir parts;
      const std::string to = (parts.path() / "x").string();
      EXPECT_THAT(PackUpTo(at, shuffled, to, options), WasStopped());
      const auto done = std::ranges::count_if(
          PackedNames(to, format, 7), [](const auto& name) { return *BytesOnDisk(name) > 0; });
      STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report,
                                  Pack(shuffled, to, options, Runtime::Inline()));
      EXPECT_EQ(FilesIn(parts.path()), FilesIn(whole.path()));
      EXPECT_EQ(std::ranges::count_if(report.files, &PackReport::File::kept), done);
    }
  }
}

TEST_F(PackTest, AnInterruptedPackingOfSomethingElseIsNotMixedIn) {
  PackOptions options = Into("stoker", 4);
  EXPECT_THAT(PackUpTo(20, NumberedImages(40), Path("x"), options), WasStopped());
  const auto fails = [&](const Dataset& dataset, const char* says) {
    EXPECT_THAT(Pack(dataset, Path("x"), options),
                FailsWith(StatusCode::kFailedPrecondition, says));
  };
  // What differs is named: of the data, of what the user does not give by an option, of the files.
  fails(NumberedImages(41), "(it was \"arrays  40 x {image: ");
  fails(*(Result(NumberedImages(40)) | Shuffle{}), ", it is \"shuffle");
  options.pass.seed = 1;
  fails(NumberedImages(40), "stoker; seed 0, epoch 0; classes ; \", it is \"stoker ");
  options.pass.seed = 0;
  options.files = 2;
  fails(NumberedImages(40), "(files 2 (x-00000-of-00002.stoker, ...), before 4 (x-00000-of-00004.");
  options.given = {{"--shards", "2"}};
  fails(NumberedImages(40), "give those again to finish it, or --overwrite to remove what it made");
  options.pass.seed = 1;
  options.overwrite = true;
  STOKER_ASSERT_OK(Pack(NumberedImages(41), Path("x"), options));
  EXPECT_EQ(FilesIn(directory_.path()).size(), 2u) << "the shards of the other packing went";
}

TEST_F(PackTest, AFinishedFileThatChangedMeanwhileIsNoticed) {
  EXPECT_THAT(PackUpTo(20, NumberedImages(40), Path("x"), Into("stoker", 4)), WasStopped());
  STOKER_ASSERT_OK(WriteFileAtomically(Path("x-00000-of-00004.stoker"), "other"));
  EXPECT_THAT(Pack(NumberedImages(40), Path("x"), Into("stoker", 4)),
              FailsWith(StatusCode::kFailedPrecondition, "x-00000-of-00004.stoker"));
}

TEST_F(PackTest, WhatThePipelineReadsIsNeverReplaced) {
  STOKER_ASSERT_OK(Pack(NumberedImages(40), Path("x"), Into("stoker", 4)));
  const auto before = FilesIn(directory_.path());
  const Dataset packed = *(Result(Source(Stoker{.files = Path("x@4.stoker")})) | Shuffle{});
  PackOptions options = Into("stoker", 4);
  for (const bool overwrite : {false, true}) {
    options.overwrite = overwrite;
    EXPECT_THAT(Pack(packed, Path("x"), options),
                FailsWith(StatusCode::kFailedPrecondition,
                          "x-00000-of-00004.stoker: is read by this pipeline; give another name"));
  }
  std::filesystem::create_directory_symlink(directory_.path(), Path("link"));
  EXPECT_THAT(Pack(packed, Path("link/x"), options),
              FailsWith(StatusCode::kFailedPrecondition, "is read by this pipeline"));
  std::filesystem::remove(Path("link"));
  // A directory that holds an input is as good as the input.
  options = Into("npy");
  options.overwrite = true;
  EXPECT_THAT(Pack(packed, directory_.path().string(), options),
              FailsWith(StatusCode::kFailedPrecondition, "is read by this pipeline"));
  EXPECT_EQ(FilesIn(directory_.path()), before);
}

TEST_F(PackTest, FilesOfAnInterruptedPackingThatAreReadAreNotRemovedForAnother) {
  EXPECT_THAT(PackUpTo(20, NumberedImages(40), Path("x"), Into("stoker", 4)), WasStopped());
  const auto before = FilesIn(directory_.path());
  PackOptions options = Into("stoker", 2);
  options.overwrite = true;
  EXPECT_THAT(Pack(*Source(Stoker{.files = Path("x-00000-of-00004.stoker")}), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition, "x-00000-of-00004.stoker: is read"));
  EXPECT_EQ(FilesIn(directory_.path()), before);
}

TEST_F(PackTest, WhatIsReplacedStaysUntilTheNewFileIsWhole) {
  for (const char* format : {"stoker", "npy"}) {
    SCOPED_TRACE(format);
    const TempDir directory;
    const std::string to = (directory.path() / "x").string();
    STOKER_ASSERT_OK(Pack(NumberedImages(40), to, Into(format, 4)));
    const auto before = FilesIn(directory.path());
    PackOptions options = Into(format, 4);
    options.overwrite = true;
    options.pass.seed = 1;  // another packing, of the same elements
    EXPECT_THAT(PackUpTo(15, NumberedImages(40), to, options), WasStopped());
    auto after = FilesIn(directory.path());
    EXPECT_EQ(std::erase_if(after, [](const auto& file) { return file.first[0] == '.'; }), 1u);
    EXPECT_EQ(after, before);
    options.overwrite = false;
    EXPECT_THAT(Pack(NumberedImages(40), to, options),
                FailsWith(StatusCode::kFailedPrecondition, "give --overwrite again to finish"));
    options.overwrite = true;
    STOKER_ASSERT_OK(Pack(NumberedImages(40), to, options));
    EXPECT_EQ(FilesIn(directory.path()), before) << "and nothing else is left";
  }
}

TEST_F(PackTest, AnotherPackingsFilesGoOnlyWhenAllNewOnesAreWhole) {
  EXPECT_THAT(PackUpTo(20, NumberedImages(40), Path("x"), Into("stoker", 4)), WasStopped());
  PackOptions options = Into("stoker", 2);
  options.overwrite = true;
  for (const int64_t at : {1, 30}) {
    EXPECT_THAT(PackUpTo(at, NumberedImages(41), Path("x"), options), WasStopped());
    EXPECT_TRUE(std::filesystem::exists(Path("x-00000-of-00004.stoker"))) << at;
  }
  STOKER_ASSERT_OK(Pack(NumberedImages(41), Path("x"), options));
  EXPECT_EQ(FilesIn(directory_.path()).size(), 2u);
}

TEST_F(PackTest, AFileThatItHasNotMadeIsNotReplacedByAnInterruptedPackingThatGoesOn) {
  for (const char* format : {"stoker", "npy"}) {
    SCOPED_TRACE(format);
    const TempDir directory;
    const std::string to = (directory.path() / "x").string();
    const std::vector<std::string> names = PackedNames(to, Format(format), 4);
    EXPECT_THAT(PackUpTo(15, NumberedImages(40), to, Into(format, 4)), WasStopped());
    STOKER_ASSERT_OK(Pack(NumberedImages(9), names[2], Into(format)));
    const auto before = FilesIn(directory.path());
    EXPECT_THAT(Pack(NumberedImages(40), to, Into(format, 4)),
                FailsWith(StatusCode::kFailedPrecondition, "is there already with other content"));
    for (const auto& [name, content] : before) {
      if (name[0] == '.') continue;
      EXPECT_EQ(FilesIn(directory.path()).at(name), content) << name;
    }
    PackOptions options = Into(format, 4);
    options.overwrite = true;
    STOKER_ASSERT_OK(Pack(NumberedImages(40), to, options));
  }
}

TEST_F(PackTest, ClassNamesThatItHasNotWrittenAreNotReplacedByAnInterruptedPackingThatGoesOn) {
  for (const std::vector<std::string>& classes : {std::vector<std::string>{}, {"cat", "dog"}}) {
    const TempDir directory;
    const std::string to = (directory.path() / "x").string();
    PackOptions options = Into("tfrecord", 4);
    options.classes = classes;
    EXPECT_THAT(PackUpTo(15, NumberedImages(40), to, options), WasStopped());
    const std::string file = ClassNamesFileOf(PackedNames(to, Format("tfrecord"), 4).front());
    STOKER_ASSERT_OK(WriteClassNames(file, {"hand", "written"}));
    EXPECT_THAT(Pack(NumberedImages(40), to, options),
                FailsWith(StatusCode::kFailedPrecondition, "is there already with other content"));
    EXPECT_EQ(*ReadTextFile(file), "hand\nwritten\n");
    options.overwrite = true;
    STOKER_ASSERT_OK(Pack(NumberedImages(40), to, options));
    EXPECT_EQ(std::filesystem::exists(file), !classes.empty());
  }
}

TEST_F(PackTest, APackingThatWasKilledBeforeItsFirstFileStandsInNobodysWay) {
  STOKER_ASSERT_OK(
      PackManifest::Begin(
          {.destination = Path("x.stoker"), .files = {Path("x.stoker")}, .origin = "killed"})
          .status());
  STOKER_ASSERT_OK(Pack(NumberedImages(4), Path("x"), Into("stoker")));
  EXPECT_EQ(FilesIn(directory_.path()).size(), 1u);
}

TEST_F(PackTest, VerifyReadsBackTheFilesOfAnInterruptedPackingToo) {
  EXPECT_THAT(PackUpTo(25, NumberedImages(40), Path("x"), Into("stoker", 4)), WasStopped());
  const std::string first = Path("x-00000-of-00004.stoker");
  const std::string content = *ReadTextFile(first);
  const std::string other = *ReadTextFile(Path("x-00001-of-00004.stoker"));
  ASSERT_EQ(content.size(), other.size());
  PackOptions options = Into("stoker", 4);
  options.verify = true;
  // Whole, but with other elements; then damaged.
  for (std::string wrong : {other, content}) {
    if (wrong == content) wrong[wrong.size() / 2] ^= 1;
    STOKER_ASSERT_OK(WriteFileAtomically(first, wrong));
    EXPECT_THAT(Pack(NumberedImages(40), Path("x"), options),
                FailsWith(StatusCode::kDataLoss, "an interrupted packing had made this file"));
  }
  STOKER_ASSERT_OK(WriteFileAtomically(first, content));
  STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report,
                              Pack(NumberedImages(40), Path("x"), options));
  EXPECT_TRUE(report.files[0].kept);
}

TEST_F(PackTest, ProgressBeginsWithWhatIsWholeAlready) {
  EXPECT_THAT(PackUpTo(25, NumberedImages(40), Path("x"), Into("stoker", 4)), WasStopped());
  std::vector<PackProgress> seen;
  PackOptions options = Into("stoker", 4);
  options.observer = [&](const PackProgress& progress) { seen.push_back(progress); };
  const std::atomic<bool> stop = true;
  Runtime runtime = Runtime::Threaded(2);
  runtime.stop = &stop;
  EXPECT_THAT(Pack(NumberedImages(40), Path("x"), options, runtime), WasStopped());
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().file, 2);
  EXPECT_EQ(seen.back().elements, 20);
  EXPECT_EQ(seen.back().kept, 20);
  EXPECT_EQ(seen.back().total, 40);
  STOKER_ASSERT_OK(Pack(NumberedImages(40), Path("x"), options));
  EXPECT_EQ(seen.back().file, 4) << "all are whole";
}

TEST_F(PackTest, AManifestThatIsNoneIsRefused) {
  for (const char* text : {"", "{}", "[1]", "{\"stoker_pack\": 2, \"origin\": 3}",
                           "{\"stoker_pack\": 2, \"origin\": \"\", \"files\": [\"x\"], "
                           "\"replaces\": [], \"done\": [{}], \"state\": null}",
                           "{\"stoker_pack\": 2, \"origin\": \"\", \"files\": [\"../x\"], "
                           "\"replaces\": [], \"done\": [], \"state\": null}"}) {
    STOKER_ASSERT_OK(WriteFileAtomically(Path(".x.stoker.stoker-pack"), text));
    EXPECT_THAT(
        Pack(NumberedImages(4), Path("x"), Into("stoker")),
        FailsWith(StatusCode::kFailedPrecondition,
                  ".x.stoker.stoker-pack: this tells of an interrupted packing, but is damaged"));
  }
}

TEST_F(PackTest, AFailedPackingLeavesNothing) {
  const Dataset broken = *(Result(NumberedImages(40)) |
                           Filter{.predicate = [](const Element& element) -> Result<bool> {
                             if (element.key.index == 20) return DataLoss("bad sample");
                             return true;
                           }});
  EXPECT_THAT(Pack(broken, Path("x"), Into("stoker")),
              FailsWith(StatusCode::kDataLoss, "bad sample"));
  EXPECT_TRUE(FilesIn(directory_.path()).empty());
}

// A format that forgets what it was given.
TEST_F(PackTest, VerifyFindsAnElementThatIsReadBackDifferently) {
  PackFormat forgetful = Format("stoker");
  forgetful.read = [](const std::string& path, const Spec& spec, const PackedElement& each) {
    int64_t number = 0;
    return Format("stoker").read(path, spec, [&](std::span<const Array> arrays) {
      std::vector<Array> changed(arrays.begin(), arrays.end());
      if (number++ == 7) changed[1] = Array::Of(std::vector<int64_t>{-1}).Reshaped({});
      return each(changed);
    });
  };
  const PackOptions options{.format = &forgetful, .verify = true};
  EXPECT_THAT(Pack(NumberedImages(10), Path("x"), options),
              FailsWith(StatusCode::kDataLoss, "element 7 is read back with other values"));
  EXPECT_TRUE(FilesIn(directory_.path()).empty());
}

}  // namespace stoker::pack_test
