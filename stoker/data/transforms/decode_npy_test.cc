#include "stoker/data/transforms/decode_npy.h"

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::decode_npy_test {

using testing::ElementsAre;

Result<Dataset> BytesOf(Shape shape = {kUnknownDim}) {
  return EmptyDataset({{{"npy", DType::kUInt8, std::move(shape)}}});
}

std::string NpyOf(const Array& array) {
  return *NpyHeaderOf(array.dtype(), array.shape(), "") +
         std::string(reinterpret_cast<const char*>(array.data()), array.num_bytes());
}

class DecodeNpyTest : public testing::Test {
 protected:
  // An archive with these contents as `npy` of its samples.
  Result<Dataset> Archive(const std::vector<std::string>& contents) {
    std::vector<std::pair<std::string, std::string>> members;
    for (size_t i = 0; i < contents.size(); ++i)
      members.emplace_back(fmt::format("{}.npy", i), contents[i]);
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.tar", TarOf(members)), IsOk());
    return Source(Webdataset{.files = dir_ / "a.tar", .index = "memory"});
  }

  const TempDir dir_;
  const Array pair_ = Array::Of(std::span<const float>(std::vector<float>{1, 2.5f}), {1, 2});
  const Array three_ = Array::Of(std::span<const float>(std::vector<float>{3, 4, 5}), {1, 3});
};

TEST_F(DecodeNpyTest, GivesTheArraysOfMembersOfAForeignArchive) {
  const Result<Dataset> dataset =
      Archive({NpyOf(pair_), NpyOf(three_)}) | DecodeNpy{.shape = {1, -1}};
  EXPECT_EQ(dataset->spec().ToString(), "{npy: float32[1, ?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(*dataset, Runtime::Inline()));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(SameBytes(all[0].arrays[0], pair_));
  EXPECT_TRUE(SameBytes(all[1].arrays[0], three_));
  ExpectKeepsItsPromises(dataset);
}

TEST_F(DecodeNpyTest, AnArrayOfAnotherTypeOrShapeOrNoneIsAnErrorThatNamesTheSample) {
  const auto fails = [&](const std::string& content, const char* says) {
    const Result<Dataset> dataset = Archive({NpyOf(pair_), content}) | DecodeNpy{.shape = {1, 2}};
    EXPECT_THAT(ReadAll(*dataset, Runtime::Inline()), FailsWith(StatusCode::kDataLoss, says));
    const QuietLog quiet;
    EXPECT_EQ(ReadAll(*(dataset | IgnoreErrors{.share = 1}), Runtime::Inline())->size(), 1u);
  };
  fails(NpyOf(three_), ".npy: decode_npy: it is float32[1, 3], wanted are float32[1, 2]");
  fails(NpyOf(Array::Of(std::vector<int16_t>{1, 2})), "it is int16[2], wanted are");
  fails("text", "a.tar: record 1 (byte 1024): .npy: byte 0: this is text, not a NumPy array");
  fails(NpyOf(pair_).substr(0, 130), "takes 8 bytes, 2 are there");
}

TEST(DecodeNpy, RefusesWhatIsNoFieldOfBytesWhenItIsBuilt) {
  EXPECT_THAT(BytesOf({}) | DecodeNpy{.shape = {1}},
              FailsWith(StatusCode::kInvalidArgument, "field 'npy' is uint8[]; it must be"));
  EXPECT_THAT(BytesOf({2, 3}) | DecodeNpy{.shape = {1}},
              FailsWith(StatusCode::kInvalidArgument, "put decode_npy before batch"));
  const DecodeNpy other{.field = "image", .shape = {1}};
  EXPECT_THAT(BytesOf() | other, FailsWith(StatusCode::kInvalidArgument, "image"));
}

}  // namespace stoker::decode_npy_test
