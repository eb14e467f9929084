#include "stoker/run/weights_file.h"

#include "stoker/base/testing.h"
#include "stoker/run/testing.h"

namespace stoker::weights_file_test {

std::vector<NamedArray> SomeWeights() {
  return {{"b.weight", Array::Of<float>({1, 2, 3})}, {"a.bias", Array::Of<int64_t>({7})}};
}

TEST(WeightsFile, GivesBackWhatWasWritten) {
  const TempDir dir;
  ASSERT_THAT(WriteWeights(dir / "w", {.arrays = SomeWeights(), .sample = "1 x 2 x 3"}), IsOk());
  STOKER_ASSERT_OK_AND_ASSIGN(const Weights read, ReadWeights(dir / "w"));
  EXPECT_EQ(read.sample, "1 x 2 x 3");
  const std::vector<NamedArray>& got = read.arrays;
  ASSERT_EQ(got.size(), 2u);
  for (const NamedArray& want : SomeWeights()) {
    const auto found = std::ranges::find(got, want.name, &NamedArray::name);
    ASSERT_NE(found, got.end()) << want.name;
    EXPECT_EQ(found->array.dtype(), want.array.dtype());
    EXPECT_EQ(std::memcmp(found->array.data(), want.array.data(), want.array.num_bytes()), 0);
  }
}

TEST(WeightsFile, EveryFlippedBitOfAValueIsFound) {
  const TempDir dir;
  ASSERT_THAT(WriteWeights(dir / "w", {.arrays = SomeWeights(), .sample = "1 x 2 x 3"}), IsOk());
  const std::string whole = ReadFileForTest(dir / "w");
  const size_t value_bytes = 8 + 3 * 4;
  for (size_t bit = (whole.size() - value_bytes) * 8; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    WriteFileForTest(dir / "w", damaged);
    EXPECT_THAT(ReadWeights(dir / "w"), FailsWith(StatusCode::kDataLoss, "CRC-32C")) << bit;
  }
}

TEST(WeightsFile, WithoutAChecksumIsTakenAsItIs) {
  const TempDir dir;
  ASSERT_THAT(WriteSafetensors(dir / "w", SomeWeights()), IsOk());
  EXPECT_THAT(ReadWeights(dir / "w"), IsOk());
}

TEST(WeightsFile, TheShapeOfASampleIsReadBackFromItsText) {
  const ModelInput shape{.channels = 3, .height = 224, .width = 1};
  EXPECT_EQ(SampleShapeIn(shape.ToString()), shape);
  ModelInput picture = shape, words{.channels = 0, .tokens = true, .name = "words"};
  picture.name = "picture";
  const ModelInput both{.parts = {picture, words}};
  EXPECT_EQ(both.ToString(), "picture: 3 x 224 x 1, words: tokens");
  EXPECT_EQ(SampleShapeIn(both.ToString()), both);
  const ModelInput steps{.channels = 12, .steps = true};
  EXPECT_EQ(steps.ToString(), "12 numbers a step");
  EXPECT_EQ(SampleShapeIn(steps.ToString()), steps);
  const ModelInput one{.channels = 1, .steps = true};
  EXPECT_EQ(one.ToString(), "1 number a step");
  EXPECT_EQ(SampleShapeIn(one.ToString()), one);
  for (const char* other : {"", "text", "0 numbers a step", " numbers a step",
                            "1 x 2 numbers a step", "3", "3 x 224", "3 x 224 x", "3 x 224 x 1 x 1",
                            "0 x 1 x 1", "3 x -1 x 1", "3x224x1", "99999999999999999999 x 1 x 1",
                            "a: 3", "a: 3 x 4 x 5, ", "a: 3 x 4 x 5, b", "a, b: tokens"})
    EXPECT_EQ(SampleShapeIn(other), std::nullopt) << other;
}

// Safetensors of other programs may hold what is no weight at all, such as indices as U32.
TEST(WeightsFile, ArraysOfTypesThatStokerLacksAreNamedAndTheOthersRead) {
  const TempDir dir;
  const std::string header = R"({"ids":{"dtype":"U32","shape":[1,2],"data_offsets":[0,8]},)"
                             R"("w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}} )";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  WriteFileForTest(dir / "w",
                   file + header + std::string(8, '\7') + std::string("\0\0\x80\x3f", 4));
  STOKER_ASSERT_OK_AND_ASSIGN(const Weights read, ReadWeights(dir / "w"));
  ASSERT_EQ(read.arrays.size(), 1u);
  EXPECT_EQ(read.arrays[0].name, "w");
  EXPECT_THAT(read.arrays[0].array.values<float>(), testing::ElementsAre(1));
  ASSERT_EQ(read.unread.size(), 1u);
  EXPECT_EQ(read.unread[0].name, "ids");
  EXPECT_EQ(read.unread[0].type, "U32");
}

}  // namespace stoker::weights_file_test
