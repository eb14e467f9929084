// Pictures for random pipelines (random_pipeline.h), of several formats and sizes. Included by
// tests only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/random_draws.h"
#include "stoker/data/testing/stream.h"
#include "stoker/data/transforms/center_crop.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/encode.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_flip.h"
#include "stoker/data/transforms/random_resized_crop.h"
#include "stoker/data/transforms/resize.h"
#include "stoker/image/testing.h"

namespace stoker {

// Written once for all pipelines of a test program, and removed at its end: thirty files in two
// folders of classes, with masks beside them, and two lists.
class RandomPictures {
 public:
  static const RandomPictures& Get() {
    static const RandomPictures pictures;
    return pictures;
  }

  std::filesystem::path folder() const { return dir_.path() / "classes"; }
  std::filesystem::path list() const { return dir_.path() / "list.txt"; }    // with labels
  std::filesystem::path pairs() const { return dir_.path() / "pairs.txt"; }  // with masks

 private:
  static constexpr int kPictures = 30;

  RandomPictures() {
    std::string list, pairs;
    for (int i = 0; i < kPictures; ++i) {
      const std::string stem = fmt::format("{}/{:02}", i % 3 == 0 ? "a" : "b", i);
      const int width = 6 + i * 7 % 13, height = 7 + i * 5 % 11;
      const std::string picture = "classes/" + stem + WritePicture(stem, width, height, i);
      const std::string mask = "masks/" + stem + ".png";
      WriteBelow(dir_, mask, Mask(width, height, i));
      list += fmt::format("{}\t{}\n", picture, i % 7);
      pairs += fmt::format("{}\t{}\n", picture, mask);
    }
    WriteBelow(dir_, "list.txt", list);
    WriteBelow(dir_, "pairs.txt", pairs);
  }

  // Gives the extension.
  std::string WritePicture(const std::string& stem, int width, int height, int number) const {
    const TestPicture picture = MakePicture(width, height, 3, static_cast<uint32_t>(number));
    switch (number % 3) {
      case 0:
        WriteBelow(dir_, "classes/" + stem + ".ppm", SmallPicture(width, height, number));
        return ".ppm";
      case 1:
        WriteBelow(dir_, "classes/" + stem + ".jpg",
                   EncodeJpeg(picture, {.progressive = number % 2 == 0}));
        return ".jpg";
      default:
        WriteBelow(dir_, "classes/" + stem + ".png", EncodePng(width, height, {}, picture.samples));
        return ".png";
    }
  }

  static std::string Mask(int width, int height, int number) {
    std::vector<uint8_t> classes;
    for (int i = 0; i < width * height; ++i)
      classes.push_back(static_cast<uint8_t>(i / 3 + number));
    return EncodePng(width, height, {.color_type = SPNG_COLOR_TYPE_GRAYSCALE}, classes);
  }

  TempDir dir_;
};

// Pictures of any size, decoded and brought to uint8[1, 4, 4] one way or another.
inline Result<Dataset> SmallGreyPictures(Result<Dataset> files, Draws& draws,
                                         const std::vector<std::string>& masks = {}) {
  if (draws.Coin()) files = std::move(files) | Shuffle{.seed = draws.Below(1000)};
  if (draws.Below(3) == 0) files = StreamOf(*files);
  Result<Dataset> pictures = std::move(files) | Decode{.channels = "grey"};
  if (draws.Below(4) == 0) {
    pictures = std::move(pictures) | Encode{.format = draws.Coin() ? "jpeg" : "png"} |
               Decode{.channels = "grey"};
  }
  if (!masks.empty()) pictures = std::move(pictures) | Decode{.channels = "index", .field = "mask"};
  switch (draws.Below(4)) {
    case 0:
      return std::move(pictures) | RandomResizedCrop{.size = 4, .masks = masks} |
             RandomFlip{.masks = masks};
    case 1:
      return std::move(pictures) | Resize{.shorter_side = 5, .masks = masks} |
             CenterCrop{.size = 4, .masks = masks};
    case 2:
      return std::move(pictures) |
             RandomCrop{.size = 6, .padding = draws.Below(3), .masks = masks} |
             RandomFlip{.direction = "vertical", .masks = masks} |
             RandomCrop{.size = 4, .padding = 0, .masks = masks};
    default:
      return std::move(pictures) | Resize{.size = 4,
                                          .interpolation = draws.Coin() ? "nearest" : "lanczos",
                                          .masks = masks};
  }
}

}  // namespace stoker
