#include "stoker/data/transforms/decode_raw.h"

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::decode_raw_test {

using namespace std::string_literals;
using testing::ElementsAre;

Result<Dataset> BytesOf(Shape shape = {kUnknownDim}) {
  return EmptyDataset({{{"value", DType::kUInt8, std::move(shape)}}});
}

Array BytesIn(const std::string& text) {
  return Array::Of(std::vector<uint8_t>(text.begin(), text.end()));
}

Result<Array> Decoded(const DecodeRaw& options, const std::string& bytes) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset, BytesOf() | options);
  TransformTester tester(dataset);
  Element element{.key = {.epoch = 0, .index = 7}, .arrays = {BytesIn(bytes)}};
  STOKER_ASSIGN_OR_RETURN(element, tester.Apply(std::move(element)));
  return element.arrays[0];
}

TEST(DecodeRaw, GivesTheValuesThatTheBytesAre) {
  EXPECT_EQ((BytesOf() | DecodeRaw{.type = "int16", .shape = {2, 2}})->spec().ToString(),
            "{value: int16[2, 2]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Array shorts,
                              Decoded({.type = "int16", .shape = {2, 2}}, "\1\0\2\0\xff\xff\0\1"s));
  EXPECT_EQ(shorts.shape(), (Shape{2, 2}));
  EXPECT_THAT(shorts.values<int16_t>(), ElementsAre(1, 2, -1, 256));
  EXPECT_THAT(Decoded({.type = "float32", .shape = {}}, "\0\0\x80\x3f"s)->values<float>(),
              ElementsAre(1));
  EXPECT_THAT(
      Decoded({.type = "int32", .shape = {1}, .big_endian = true}, "\0\0\1\2"s)->values<int32_t>(),
      ElementsAre(258));
  EXPECT_THAT(Decoded({.type = "uint16"}, "\xff\xff\1\0"s)->values<int32_t>(),
              ElementsAre(65535, 1));
  EXPECT_THAT(Decoded({.type = "bool"}, "\0\1\2"s)->values<bool>(), ElementsAre(false, true, true));
}

TEST(DecodeRaw, AFirstExtentOfMinusOneIsAsLongAsTheBytesLast) {
  EXPECT_EQ((BytesOf() | DecodeRaw{.shape = {-1, 3}})->spec().ToString(), "{value: uint8[?, 3]}");
  EXPECT_EQ(Decoded({.shape = {-1, 3}}, "abcdef")->shape(), (Shape{2, 3}));
  EXPECT_EQ(Decoded({.shape = {-1, 3}}, "")->shape(), (Shape{0, 3}));
}

TEST(DecodeRaw, CopiesNothingWhereTheValuesAreUsedAsTheyLie) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BytesOf() | DecodeRaw{.type = "int64"});
  TransformTester tester(dataset);
  const Array bytes = BytesIn(std::string(16, '\1'));
  Element element{.key = {}, .arrays = {bytes}};
  STOKER_ASSERT_OK_AND_ASSIGN(element, tester.Apply(std::move(element)));
  EXPECT_EQ(element.arrays[0].data(), bytes.data());
  // One byte further they lie where no int64 may.
  element.arrays = {BytesIn(std::string(17, '\1')).Rows(1, 17)};
  STOKER_ASSERT_OK_AND_ASSIGN(element, tester.Apply(std::move(element)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(element.arrays[0].data()) % 8, 0u);
  EXPECT_THAT(element.arrays[0].values<int64_t>(),
              ElementsAre(0x0101010101010101, 0x0101010101010101));
}

TEST(DecodeRaw, BytesOfAnotherLengthAreAnErrorThatNamesTheSampleAndCanBeLeftOut) {
  EXPECT_THAT(Decoded({.type = "int16", .shape = {2}}, "abc"),
              FailsWith(StatusCode::kDataLoss,
                        "element 7: decode_raw: 3 bytes are there, int16 "
                        "values of shape [2] take 4"));
  EXPECT_THAT(Decoded({.type = "int16", .shape = {-1, 2}}, "abc"),
              FailsWith(StatusCode::kDataLoss, "shape [?, 2] take a multiple of 4"));
  EXPECT_THAT(Decoded({.type = "uint64"}, std::string(8, '\xff')),
              FailsWith(StatusCode::kOutOfRange, "element 7: decode_raw: the number 1844674407"));
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a.tar", TarOf({{"1.v", "ab"}, {"2.v", "c"}})));
  const Result<Dataset> dataset = Source(Webdataset{.files = dir / "a.tar", .index = "memory"}) |
                                  DecodeRaw{.field = "v", .type = "int16"};
  EXPECT_THAT(ReadAll(*dataset, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "a.tar: record 1 (byte 1024): .v: decode_raw: 1"));
  const QuietLog quiet;
  EXPECT_EQ(ReadAll(*(dataset | IgnoreErrors{.share = 1}), Runtime::Inline())->size(), 1u);
}

TEST(DecodeRaw, RefusesWhatDoesNotGoTogetherWhenItIsBuilt) {
  const auto fails = [](const Result<Dataset>& input, const DecodeRaw& options, const char* says) {
    EXPECT_THAT(input | options, FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails(BytesOf({}), {}, "field 'value' is uint8[]; it must be uint8[?]");
  fails(BytesOf({4, 8}), {}, "put decode_raw before batch");
  fails(BytesOf(), {.field = "image"}, "image");
  fails(BytesOf(), {.type = "int128"}, "int128");
  fails(BytesOf(), {.shape = {2, -1}}, "extent 1 of the shape is -1");
  fails(BytesOf(), {.shape = {1 << 30, 1 << 30, 1 << 30}}, "more values than can be");
}

}  // namespace stoker::decode_raw_test
