#include "stoker/data/pack/pack_pictures.h"

#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/encode.h"

namespace stoker::pack_pictures_test {

// {image: the bytes of PNGs of these heights, twice as wide}.
Dataset PngsOf(std::vector<int64_t> heights) {
  const Dataset planes = FromGenerator(
      {{{"image", DType::kUInt8, {3, kUnknownDim, kUnknownDim}}}}, [heights](uint64_t) {
        return [heights, i = size_t{0}]() mutable -> Result<std::optional<Element>> {
          if (i == heights.size()) return std::nullopt;
          Array image = Array::Allocate(DType::kUInt8, {3, heights[i], heights[i] * 2});
          std::fill_n(image.values<uint8_t>().data(), image.num_bytes(), uint8_t{99});
          return Element{.key = {0, static_cast<int64_t>(i++)}, .arrays = {std::move(image)}};
        };
      });
  return *(Result(planes) | Encode{.format = "png"});
}

std::vector<Shape> ShapesOf(const Dataset& files) {
  std::vector<Shape> shapes;
  const Dataset pictures = *(Result(files) | Decode{});
  for (const Element& element : *ReadAll(pictures, Runtime::Inline()))
    shapes.push_back(element.arrays[0].shape());
  return shapes;
}

TEST(PackPictures, LargeOnesAreMadeSmallerAndSmallOnesKeepTheirSize) {
  STOKER_ASSERT_OK_AND_ASSIGN(const PackSource made,
                              Reencode({PngsOf({5, 16, 17, 40}), {}, "pngs"}, {.resize = 16}));
  EXPECT_EQ(ShapesOf(made.dataset),
            (std::vector<Shape>{{3, 5, 10}, {3, 16, 32}, {3, 16, 32}, {3, 16, 32}}));
  EXPECT_EQ(made.settings, "pngs, resized to 16, as JPEG of quality 90");
}

TEST(PackPictures, AreLeftAsTheyAreWhereNothingIsAskedFor) {
  const Dataset pngs = PngsOf({5});
  STOKER_ASSERT_OK_AND_ASSIGN(const PackSource made, Reencode({pngs, {}, "pngs"}, {}));
  EXPECT_EQ(Fingerprint(*ReadAll(made.dataset, Runtime::Inline())),
            Fingerprint(*ReadAll(pngs, Runtime::Inline())));
  EXPECT_EQ(made.settings, "pngs");
}

TEST(PackPictures, WhatIsNoPictureIsRefused) {
  const Dataset numbers = *FromArrays({{"x", Array::Of(std::vector<int64_t>{1, 2})}});
  EXPECT_THAT(Reencode({numbers, {}, ""}, {.quality = 50}),
              FailsWith(StatusCode::kInvalidArgument, "--resize and --quality"));
}

}  // namespace stoker::pack_pictures_test
