#include "stoker/data/transforms/decode.h"

#include <fstream>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/sample.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/sources/files.h"
#include "stoker/data/sources/folder.h"
#include "stoker/data/sources/list.h"
#include "stoker/data/sources/tfrecord.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/data/transforms/center_crop.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/data/transforms/parse_example.h"
#include "stoker/data/transforms/random_resized_crop.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/formats/tfrecord/example_writer.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/image/decode.h"
#include "stoker/image/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::decode_test {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Dataset> Bytes() { return EmptyDataset({{{"image", DType::kUInt8, {kUnknownDim}}}}); }

Array ArrayOf(std::string_view text) {
  return Array::Of(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()),
                   {std::ssize(text)});
}

Result<Array> Decoded(std::string_view file, const Decode& options = {}) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset, Bytes() | options);
  return TransformTester(dataset).Apply(ArrayOf(file));
}

TEST(DecodeTransform, GivesPlanesOfRows) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decoded(SmallPicture(2, 2, 1)));
  EXPECT_EQ(image.shape(), (Shape{3, 2, 2}));
  EXPECT_THAT(image.values<uint8_t>(), ElementsAre(1, 4, 7, 10,  //
                                                   2, 5, 8, 11,  //
                                                   3, 6, 9, 12));
}

TEST(DecodeTransform, GivesTheValuesOfTheDecoderForEveryChoiceOfChannels) {
  const std::string colour = EncodeJpeg(MakePicture(61, 37, 3));
  const std::string grey = EncodeJpeg(MakePicture(61, 37, 1), {.colours = JpegColours::kGrey});
  for (const std::string* file : {&colour, &grey}) {
    for (const auto& [name, channels] :
         {std::pair{"rgb", ImageChannels::kRgb}, std::pair{"grey", ImageChannels::kGrey},
          std::pair{"as_stored", ImageChannels::kAsStored}}) {
      SCOPED_TRACE(name);
      STOKER_ASSERT_OK_AND_ASSIGN(const Array planes, Decoded(*file, {.channels = name}));
      STOKER_ASSERT_OK_AND_ASSIGN(const Array rows,
                                  DecodeImage(BytesOf(*file), "x", {.channels = channels}));
      const int64_t c = rows.shape()[2];
      ASSERT_EQ(planes.shape(), (Shape{c, 37, 61}));
      for (int64_t i = 0; i < rows.num_values(); ++i) {
        ASSERT_EQ(planes.values<uint8_t>()[static_cast<size_t>(i % c * 37 * 61 + i / c)],
                  rows.values<uint8_t>()[static_cast<size_t>(i)]);
      }
    }
  }
}

TEST(DecodeTransform, MasksGiveTheNumbersThatAreStored) {
  const std::string palette =
      EncodePng(3, 1,
                {.color_type = SPNG_COLOR_TYPE_INDEXED,
                 .bit_depth = 2,
                 .palette = {9, 9, 9, 255, 8, 8, 8, 255, 7, 7, 7, 255, 0, 0, 0, 255}},
                {0b00110100});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array indices, Decoded(palette, {.channels = "index"}));
  EXPECT_THAT(indices.values<uint8_t>(), ElementsAre(0, 3, 1));
  EXPECT_EQ(indices.shape(), (Shape{1, 1, 3}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array wide, Decoded(palette, {.channels = "index16"}));
  EXPECT_THAT(wide.values<int32_t>(), ElementsAre(0, 3, 1));
  const std::string deep = EncodePng(
      2, 1, {.color_type = SPNG_COLOR_TYPE_GRAYSCALE, .bit_depth = 16}, {0xe8, 0x03, 0xff, 0xff});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array instances, Decoded(deep, {.channels = "index16"}));
  EXPECT_THAT(instances.values<int32_t>(), ElementsAre(1000, 65535));
  EXPECT_THAT(Decoded(deep, {.channels = "index"}),
              FailsWith(StatusCode::kInvalidArgument, "byte 24: a PNG of 16 bits"));
  EXPECT_THAT(Decoded(SmallPicture(2, 2, 1), {.channels = "index"}),
              FailsWith(StatusCode::kInvalidArgument, "element 7: a PNM picture; values as they"));
}

TEST(DecodeTransform, SaysWhatComesOutBeforeTheFirstPicture) {
  const auto spec = [](const char* channels) {
    return (Bytes() | Decode{.channels = channels})->spec().ToString();
  };
  EXPECT_EQ(spec("rgb"), "{image: uint8[3, ?, ?]}");
  EXPECT_EQ(spec("as_stored"), "{image: uint8[?, ?, ?]}");
  EXPECT_EQ(spec("index"), "{image: uint8[1, ?, ?]}");
  EXPECT_EQ(spec("index16"), "{image: int32[1, ?, ?]}");
}

TEST(DecodeTransform, TurnsPicturesUprightUnlessToldNotTo) {
  const std::string file = EncodeJpeg(MakePicture(40, 20, 3), {.orientation = 6});
  EXPECT_EQ(Decoded(file)->shape(), (Shape{3, 40, 20}));
  EXPECT_EQ(Decoded(file, {.orientation = "ignore"})->shape(), (Shape{3, 20, 40}));
}

TEST(DecodeTransform, DamagedEntropyDataIsAnErrorOrNotAsTheRecipeSays) {
  std::string file = EncodeJpeg(MakePicture(64, 64, 3));
  file.resize(file.size() / 2);
  EXPECT_THAT(Decoded(file), FailsWith(StatusCode::kDataLoss, "element 7: "));
  EXPECT_EQ(Decoded(file, {.jpeg_warnings = "ignore"})->shape(), (Shape{3, 64, 64}));
}

TEST(DecodeTransform, FastScaleKeepsTheShorterSideAtLeastAsLongAsWanted) {
  const std::string file = EncodeJpeg(MakePicture(200, 100, 3));
  EXPECT_EQ(Decoded(file, {.fast_scale_side = 0})->shape(), (Shape{3, 100, 200}));
  EXPECT_EQ(Decoded(file, {.fast_scale_side = 51})->shape(), (Shape{3, 100, 200}));
  EXPECT_EQ(Decoded(file, {.fast_scale_side = 50})->shape(), (Shape{3, 50, 100}));
  EXPECT_EQ(Decoded(file, {.fast_scale_side = 13})->shape(), (Shape{3, 13, 25}));
  EXPECT_EQ(Decoded(file, {.fast_scale_side = 1})->shape(), (Shape{3, 13, 25}));
  EXPECT_EQ(Decoded(SmallPicture(9, 9, 0), {.fast_scale_side = 1})->shape(), (Shape{3, 9, 9}));
}

// The coefficients of a progressive picture are in memory until its last scan, two bytes each.
TEST(DecodeTransform, ChargesItsWorkingMemoryToItsStage) {
  constexpr int64_t kSide = 1200, kPixels = kSide * kSide * 3;
  const std::string file =
      EncodeJpeg(MakePicture(kSide, kSide, 3), {.sampling = Sampling(1, 1), .progressive = true});
  const Array bytes = ArrayOf(file);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      FromArrays({{"image", bytes.Reshaped({1, std::ssize(file)})}}) | Decode{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(iterator->Next().status());
  EXPECT_GE(iterator->GetProfile().stages.back().peak_memory_bytes, kPixels + 2 * kPixels);
}

TEST(DecodeTransform, DescribesWhatComesOut) {
  EXPECT_EQ((Bytes() | Decode{})->spec().ToString(), "{image: uint8[3, ?, ?]}");
  EXPECT_EQ((Bytes() | Decode{.channels = "grey"})->spec().ToString(), "{image: uint8[1, ?, ?]}");
  EXPECT_EQ((Bytes() | Decode{.channels = "as_stored"})->spec().ToString(),
            "{image: uint8[?, ?, ?]}");
  EXPECT_THAT(Bytes() | Decode{} | Batch{},
              FailsWith(StatusCode::kInvalidArgument, "resize or crop before batch"));
}

TEST(DecodeTransform, RefusesWhatCannotBe) {
  EXPECT_THAT(Result<Dataset>(EmptyImages(DType::kUInt8, {3, 5, 5})) | Decode{},
              FailsWith(StatusCode::kInvalidArgument, "it must be uint8[?], the bytes of a file"));
  EXPECT_THAT(Result<Dataset>(EmptyImages(DType::kUInt8, {-1, 5})) | Decode{},
              FailsWith(StatusCode::kInvalidArgument, "put decode before batch"));
  EXPECT_THAT(Result<Dataset>(EmptyImages(DType::kFloat32, {-1})) | Decode{},
              FailsWith(StatusCode::kInvalidArgument, "it must be uint8[?]"));
  EXPECT_THAT(Bytes() | Decode({.background = {1, 2}}),
              FailsWith(StatusCode::kInvalidArgument, "background has 2 values"));
  EXPECT_THAT(Bytes() | Decode{.background = {256}},
              FailsWith(StatusCode::kInvalidArgument, "background"));
}

class DecodeFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string jpeg = EncodeJpeg(MakePicture(48, 32, 3));
    for (int i = 0; i < 6; ++i) {
      WriteBelow(dir_, fmt::format("data/a/{}.ppm", i), SmallPicture(3 + i, 4, i));
      WriteBelow(dir_, fmt::format("data/b/{}.jpg", i), jpeg);
    }
  }

  // What goes wrong in the wild, among the good files.
  void AddBadFiles() {
    const std::string jpeg = EncodeJpeg(MakePicture(48, 32, 3));
    WriteBelow(dir_, "data/a/cut.jpg", std::string_view(jpeg).substr(0, jpeg.size() * 2 / 3));
    WriteBelow(dir_, "data/a/empty.png", "");
    WriteBelow(dir_, "data/b/page.jpg", "<!DOCTYPE html><html>404</html>");
    WriteBelow(dir_, "data/b/bomb.ppm", "P6 64250 64250 255\n");
  }

  Result<Dataset> Pictures() const { return Source(Folder{.path = dir_.path() / "data"}); }
  const TempDir dir_;
};

TEST_F(DecodeFolderTest, KeepsItsPromises) {
  ExpectKeepsItsPromises(Pictures() | Shuffle{} | Decode{});
  ExpectKeepsItsPromises(Pictures() | Decode{.channels = "as_stored"} | Cache{} | Shuffle{});
  // Sizes differ up to the crop, so batches are gathered from single elements.
  ExpectKeepsItsPromises(Pictures() | Shuffle{} | Decode{} | RandomResizedCrop{.size = 5} |
                         Batch{.size = 5});
  ExpectKeepsItsPromises(Pictures() | Decode{} | CenterCrop{.size = 7} | Normalize{} | Prefetch{} |
                         Batch{.size = 5});
}

TEST_F(DecodeFolderTest, BadPicturesAreSkippedAndEachIsLoggedWithItsFile) {
  AddBadFiles();
  const QuietLog quiet;
  const std::string log = dir_ / "bad.jsonl";
  const Result<Dataset> dataset =
      Pictures() | Shuffle{} | Decode{} | IgnoreErrors{.policy = "skip", .share = 1, .log = log};
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    std::filesystem::remove(log);
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(*dataset, runtime));
    EXPECT_EQ(all.size(), 12u);
    std::set<std::string> files;
    std::ifstream lines(log);
    for (std::string line; std::getline(lines, line);) {
      const Json bad = Json::parse(line);
      EXPECT_EQ(bad["stage"], "decode");
      files.insert(bad.value("file", "none: " + line));
    }
    EXPECT_THAT(files, ElementsAre(dir_ / "data/a/cut.jpg", dir_ / "data/a/empty.png",
                                   dir_ / "data/b/bomb.ppm", dir_ / "data/b/page.jpg"));
  }
  ExpectKeepsItsPromises(dataset);
}

TEST_F(DecodeFolderTest, BadPicturesAreReplacedByGoodOnesTheSameUnderBothRuntimes) {
  AddBadFiles();
  const QuietLog quiet;
  const Result<Dataset> dataset =
      Pictures() | Shuffle{} | Decode{} | IgnoreErrors{.policy = "replace", .share = 1};
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(*dataset, Runtime::Inline()));
  EXPECT_EQ(all.size(), 16u);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> threaded,
                              ReadAll(*dataset, Runtime::Threaded(2)));
  EXPECT_EQ(Fingerprint(all), Fingerprint(threaded));
}

TEST_F(DecodeFolderTest, ABombIsRefusedFromItsHeader) {
  WriteBelow(dir_, "bombs/x/bomb.ppm", "P6 64250 64250 255\n");
  EXPECT_THAT(
      ReadAll(*(Source(Folder{.path = dir_.path() / "bombs"}) | Decode{}), Runtime::Inline()),
      FailsWith(StatusCode::kOutOfRange, "bombs/x/bomb.ppm"));
  EXPECT_THAT(ReadAll(*(Pictures() | Decode{.max_pixels = 48 * 32 - 1}), Runtime::Threaded(2)),
              FailsWith(StatusCode::kOutOfRange, "data/b/0.jpg"));
}

TEST_F(DecodeFolderTest, ErrorsNameTheFileHoweverItCameHere) {
  WriteBelow(dir_, "bad/x/cut.ppm", "P6 3 3 255\n");
  WriteBelow(dir_, "good.ppm", SmallPicture(2, 2, 0));
  WriteBelow(dir_, "pairs.txt", "good.ppm bad/x/cut.ppm\n");
  const Folder folder{.path = dir_.path() / "bad"};
  Folder with_paths = folder;
  with_paths.paths = true;
  const Result<Dataset> pipelines[] = {
      Source(folder) | Cache{} | Shuffle{} | Decode{},
      Source(folder) | Sample{.count = 3} | Decode{},
      Source(with_paths) | Shuffle{} | Sample{.count = 3} | Decode{},  // by the path beside it
      Source(Files{.path = dir_ / "bad/x/*.ppm", .read = true}) | Decode{.field = "bytes"},
      Source(List{.path = dir_.path() / "pairs.txt", .pairs = true}) | Decode{} |
          Decode{.field = "mask"},
  };
  for (const Result<Dataset>& pipeline : pipelines) {
    STOKER_ASSERT_OK(pipeline);
    EXPECT_THAT(ReadAll(*pipeline, Runtime::Inline()),
                FailsWith(StatusCode::kDataLoss, dir_ / "bad/x/cut.ppm: "));
  }
  // Which element of a shuffled order was drawn is not looked up.
  EXPECT_THAT(
      ReadAll(*(Source(folder) | Shuffle{} | Sample{.count = 3} | Decode{}), Runtime::Inline()),
      FailsWith(StatusCode::kDataLoss, "element 0: "));
}

// Two files of pictures each, by position or in order, of which the last picture is damaged.
class DecodeFromArchives : public testing::Test {
 protected:
  using Members = std::vector<std::pair<std::string, std::string>>;

  void Write(const std::string& name, const std::string& bytes) const {
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / name, bytes));
    STOKER_ASSERT_OK(
        WriteFileAtomically(dir_ / (name + ".gz"), *GzipCompress(std::as_bytes(std::span(bytes)))));
  }
  // What the log of a pass over it that leaves such out says.
  Json Logged(const Result<Dataset>& pictures, const Runtime& runtime, std::string field) const {
    const QuietLog quiet;
    std::filesystem::remove(dir_ / "log");
    const Result<Dataset> dataset = pictures | Decode{.field = std::move(field)} |
                                    IgnoreErrors{.share = 1, .log = dir_ / "log"};
    EXPECT_THAT(dataset, IsOk());
    EXPECT_EQ(ReadAll(*dataset, runtime)->size(), 3u);
    std::ifstream log(dir_ / "log");
    std::string line;
    std::getline(log, line);
    return Json::parse(line);
  }
  const TempDir dir_;
  const std::string good_ = SmallPicture(2, 2, 1);
};

TEST_F(DecodeFromArchives, ADamagedPictureIsNamedByArchiveAndRecordHoweverTheyAreRead) {
  Write("a.tar", TarOf({{"0.ppm", good_}, {"1.ppm", good_}}));
  Write("b.tar", TarOf({{"2.ppm", good_}, {"x/3.ppm", "P6"}}));
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    for (const std::string name : {"b.tar", "b.tar.gz"}) {
      const std::string first = name == "b.tar" ? "a.tar" : "a.tar.gz";
      const Json line = Logged(
          Source(Webdataset{.files = {dir_ / first, dir_ / name}, .key = true, .index = "memory"}),
          runtime, "ppm");
      EXPECT_EQ(line["file"], dir_ / name) << line;
      EXPECT_EQ(line["record"], 1) << line;
      EXPECT_EQ(line.contains("offset"), name == "b.tar") << line;
      EXPECT_THAT(std::string(line["reason"]), HasSubstr(": 'x/3': "));
    }
  }
}

TEST_F(DecodeFromArchives, ADamagedPictureOfAnExampleIsNamedByFileAndRecordHoweverTheyAreRead) {
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    const std::string path = dir_ / (compression == Compression::kNone ? "a" : "a.gz");
    STOKER_ASSERT_OK_AND_ASSIGN(TfRecordWriter records, TfRecordWriter::Create(path, compression));
    for (const std::string& picture : {good_, good_, std::string("P6"), good_}) {
      STOKER_ASSERT_OK(
          records.Append(ExampleBuilder().Add("image", BytesFeature(picture)).Example()));
    }
    STOKER_ASSERT_OK(records.Commit());
    const Result<Dataset> pictures = Source(Tfrecord{.files = path, .index = "memory"}) |
                                     ParseExample{.features = {{.name = "image", .type = "bytes"}}};
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      const Json line = Logged(pictures, runtime, "image");
      EXPECT_EQ(line["file"], path) << line;
      EXPECT_EQ(line["record"], 2) << line;
    }
  }
}

TEST_F(DecodeFromArchives, ARestoredPassNamesRecordsAsTheWholeOneDoes) {
  Write("a.tar", TarOf({{"0.ppm", good_}, {"1.ppm", good_}}));
  Write("b.tar", TarOf({{"2.ppm", good_}, {"3.ppm", "P6"}}));
  const auto open = [&] {
    return *(Source(Webdataset{.files = {dir_ / "a.tar.gz", dir_ / "b.tar.gz"}}) |
             Decode{.field = "ppm"})
                ->Open(Runtime::Inline());
  };
  const std::unique_ptr<Iterator> whole = open();
  for (int i = 0; i < 3; ++i) STOKER_ASSERT_OK(whole->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, whole->Save());
  const std::unique_ptr<Iterator> restored = open();
  STOKER_ASSERT_OK(restored->Restore(state));
  EXPECT_THAT(restored->Next(), FailsWith(StatusCode::kDataLoss, "b.tar.gz: record 1: "));
}

}  // namespace stoker::decode_test
