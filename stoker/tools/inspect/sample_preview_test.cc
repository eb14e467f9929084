#include "stoker/tools/inspect/sample_preview.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::sample_preview_test {

Array BytesOf(std::string_view text) {
  return Array::Of(std::vector<uint8_t>(text.begin(), text.end()));
}

const Field kBytes{"x", DType::kUInt8, {kUnknownDim}};

std::string TextOf(Array array, const Field& field) {
  return PreviewText({.arrays = {std::move(array)}}, {{field}});
}

TEST(SamplePreview, NumbersAreThemselves) {
  const std::vector<int64_t> label = {-7};
  EXPECT_EQ(TextOf(Array::Of(std::span(label), {}), {"label", DType::kInt64, {}}), "label -7");
  const std::vector<float> rate = {0.5F};
  EXPECT_EQ(TextOf(Array::Of(std::span(rate), {}), {"rate", DType::kFloat32, {}}), "rate 0.5");
}

TEST(SamplePreview, LongArraysHaveTheirFirstValues) {
  const std::vector<int32_t> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const Field field{"v", DType::kInt32, {2, 4}};
  EXPECT_EQ(TextOf(Array::Of(std::span(values), {2, 4}), field), "v int32[2, 4] 1 2 3 4 5 6 ...");
  const Json json = PreviewJson({.arrays = {Array::Of(std::span(values), {2, 4})}}, {{field}});
  EXPECT_EQ(json["v"]["shape"], (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(json["v"]["first"], (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(SamplePreview, BytesAreTextWhereTheyAreTextAndElseAKindOfFile) {
  EXPECT_EQ(TextOf(BytesOf("a \"b\"\n"), kBytes), "x \"a \\\"b\\\"\\n\"");
  EXPECT_EQ(TextOf(BytesOf("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), kBytes), "x a PNG image of 8 B");
  EXPECT_EQ(TextOf(BytesOf("\x01\x02\xff"), kBytes), "x 3 B");
  EXPECT_EQ(TextOf(BytesOf(""), kBytes), "x \"\"");
}

TEST(SamplePreview, LongTextIsCutBetweenCharacters) {
  std::string text(59, 'a');
  text += "\xc3\xa9 and more";  // the character has bytes 59 and 60
  EXPECT_EQ(PreviewJson({.arrays = {BytesOf(text)}}, {{kBytes}})["x"],
            std::string(59, 'a') + "...");
}

TEST(SamplePreview, ValuesThatJsonLacksAreTexts) {
  const std::vector<double> values = {std::numeric_limits<double>::infinity(), 1};
  const Json json = PreviewJson({.arrays = {Array::Of(values)}}, {{{"v", DType::kFloat64, {2}}}});
  EXPECT_EQ(json["v"]["first"], Json::parse("[\"inf\", 1.0]"));
}

}  // namespace stoker::sample_preview_test
