#include "stoker/data/pack/pack.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/pack/pack_manifest.h"
#include "stoker/data/registry.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/data/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

const PackFormat& Format(std::string_view name) { return **FindPackFormat(name); }

PackOptions Into(std::string_view format, int64_t files = 1) {
  return {.format = &Format(format), .files = files};
}

// Names and contents of the files in a directory.
std::map<std::string, std::string> FilesIn(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    files[std::filesystem::relative(entry.path(), directory)] = *ReadTextFile(entry.path());
  }
  return files;
}

// Elements of every dtype that all formats have, and of every kind of shape.
Dataset MixedElements(int64_t n) {
  Spec spec{{{"flag", DType::kBool, {}},
             {"label", DType::kUInt8, {}},
             {"text", DType::kUInt8, {kUnknownDim}},
             {"fixed", DType::kUInt8, {3}},
             {"ids", DType::kInt32, {kUnknownDim}},
             {"small", DType::kInt8, {2}},
             {"short", DType::kInt16, {1, 2}},
             {"long", DType::kInt64, {}},
             {"box", DType::kFloat32, {2, 2}},
             {"half", DType::kFloat16, {2}},
             {"brain", DType::kBFloat16, {kUnknownDim}},
             {"picture", DType::kUInt8, {3, kUnknownDim, kUnknownDim}},
             {"grid", DType::kInt64, {kUnknownDim, 2}}}};
  return FromGenerator(spec, [spec, n](uint64_t) {
    return [spec, n, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == n) return std::nullopt;
      Element element{.key = {0, i}};
      for (const Field& field : spec.fields) {
        Shape shape = field.shape;
        for (size_t d = 0; d < shape.size(); ++d) {
          if (shape[d] == kUnknownDim) shape[d] = (i + static_cast<int64_t>(d)) % 4;
        }
        Array array = Array::Allocate(field.dtype, shape);
        for (size_t b = 0; b < array.num_bytes(); ++b) {
          const auto value = static_cast<uint8_t>(static_cast<size_t>(i) * 31 + b * 7);
          // Truths are 0 or 1; floats keep clear of what is no number.
          array.data()[b] = static_cast<std::byte>(field.dtype == DType::kBool ? value & 1
                                                   : IsFloating(field.dtype)   ? value & 0x3f
                                                                               : value);
        }
        element.arrays.push_back(std::move(array));
      }
      ++i;
      return element;
    };
  });
}

// The elements of a file, without their keys.
std::string ReadBack(const PackFormat& format, const std::string& path, const Spec& spec) {
  std::vector<Element> elements;
  STOKER_EXPECT_OK(format.read(path, spec, [&](std::span<const Array> arrays) {
    elements.push_back({.arrays = {arrays.begin(), arrays.end()}});
    return OkStatus();
  }));
  return Fingerprint(elements);
}

std::string WithoutKeys(std::vector<Element> elements) {
  for (Element& element : elements) element.key = {};
  return Fingerprint(elements);
}

class PackTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }
  const TempDir directory_;
};

TEST_F(PackTest, EveryFormatThatTakesAnySpecGivesBackWhatWasPacked) {
  const Dataset dataset = MixedElements(50);
  const std::string wanted = WithoutKeys(*ReadAll(dataset, Runtime::Inline()));
  for (const char* name : {"stoker", "tfrecord"}) {
    SCOPED_TRACE(name);
    PackOptions options = Into(name);
    options.verify = true;
    STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report, Pack(dataset, Path("x"), options));
    ASSERT_EQ(report.files.size(), 1u);
    EXPECT_EQ(report.elements(), 50);
    EXPECT_EQ(report.bytes(), std::filesystem::file_size(report.files[0].path));
    EXPECT_EQ(ReadBack(*options.format, report.files[0].path, dataset.spec()), wanted);
  }
}

TEST_F(PackTest, ArraysOfOneShapeAreAFileEachInADirectory) {
  PackOptions options = Into("npy");
  options.verify = true;
  for (const Dataset& dataset : {NumberedImages(9), StreamedImages(0), StreamedImages(12)}) {
    options.overwrite = true;
    STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report, Pack(dataset, Path("x"), options));
    EXPECT_EQ(report.files[0].path, Path("x"));
    EXPECT_GT(report.bytes(), 0u);
    EXPECT_EQ(ReadBack(*options.format, Path("x"), dataset.spec()),
              WithoutKeys(*ReadAll(dataset, Runtime::Inline())));
  }
  EXPECT_EQ(FilesIn(directory_.path()).size(), 2u) << "image.npy and label.npy, and no manifest";
  EXPECT_THAT(Pack(MixedElements(2), Path("y"), options),
              FailsWith(StatusCode::kInvalidArgument, "field 'text' has shape [?]"));
}

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
  EXPECT_EQ(FilesIn(directory_.path()).size(), 3u) << "the manifest went";
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
  const TempDir whole;
  STOKER_ASSERT_OK(Pack(shuffled, (whole.path() / "x").string(), Into("tfrecord", 7)));
  for (const int64_t at : {1, 200, 700, 999}) {
    SCOPED_TRACE(at);
    const TempDir parts;
    const std::string to = (parts.path() / "x").string();
    EXPECT_THAT(PackUpTo(at, shuffled, to, Into("tfrecord", 7)), WasStopped());
    const size_t done = std::ranges::count_if(
        FilesIn(parts.path()), [](const auto& file) { return file.first.ends_with(".tfrecord"); });
    STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report,
                                Pack(shuffled, to, Into("tfrecord", 7), Runtime::Inline()));
    EXPECT_EQ(FilesIn(parts.path()), FilesIn(whole.path()));
    EXPECT_EQ(std::ranges::count_if(report.files, &PackReport::File::kept), done);
  }
}

TEST_F(PackTest, AnInterruptedPackingOfSomethingElseIsNotMixedIn) {
  PackOptions options = Into("stoker", 4);
  EXPECT_THAT(PackUpTo(20, NumberedImages(40), Path("x"), options), WasStopped());
  EXPECT_THAT(Pack(NumberedImages(41), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition, "of other data or with other options"));
  options.pass.seed = 1;
  EXPECT_THAT(Pack(NumberedImages(40), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition, "--overwrite"));
  options.files = 2;
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
    options.overwrite = false;  // what was begun with it goes on
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
  options.overwrite = false;
  STOKER_ASSERT_OK(Pack(NumberedImages(41), Path("x"), options));
  EXPECT_EQ(FilesIn(directory_.path()).size(), 2u);
}

TEST_F(PackTest, APackingThatWasKilledBeforeItsFirstFileStandsInNobodysWay) {
  STOKER_ASSERT_OK(
      PackManifest::Begin(Path("x.stoker"), {Path("x.stoker")}, "killed", false, {}).status());
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
    EXPECT_THAT(Pack(NumberedImages(4), Path("x"), Into("stoker")),
                FailsWith(StatusCode::kFailedPrecondition, ".x.stoker.stoker-pack"));
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

}  // namespace
}  // namespace stoker
