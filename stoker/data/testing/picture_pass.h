// Small pictures, and whether a pipeline puts them through one pass. Only tests include it.
#pragma once

#include <filesystem>
#include <string>

#include "stoker/data/options/registry.h"
#include "stoker/data/sources/folder.h"
#include "stoker/data/sources/list.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/stream.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/image/testing.h"

namespace stoker {

// Twelve pictures of two classes, sizes and formats that differ.
class PicturePass : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 12; ++i) {
      const int width = 20 + 3 * i, height = 37 - 2 * i;
      const std::string name = fmt::format("{}/{:02}", i % 2 == 0 ? "even" : "odd", i);
      if (i % 3 == 0) {
        WriteBelow(dir_, name + ".ppm", SmallPicture(width, height, 7 * i));
      } else {
        const TestPicture picture = MakePicture(width, height, 3, static_cast<uint32_t>(i));
        WriteBelow(dir_, name + ".jpg", EncodeJpeg(picture));
      }
    }
  }

  Result<Dataset> Pictures() const { return Source(Folder{.path = dir_.path().string()}); }
  Result<Dataset> Decoded() const { return Pictures() | Decode{}; }
  // Returns the same, readable only in order.
  Result<Dataset> Streamed() const {
    STOKER_ASSIGN_OR_RETURN(const Dataset source, Pictures());
    return StreamOf(source);
  }
  // Returns each picture and, as its mask, itself; both decoded.
  Result<Dataset> Pairs() const {
    std::string lines;
    for (const auto& file : std::filesystem::recursive_directory_iterator(dir_.path())) {
      const std::string path = file.path().string();
      if (file.is_regular_file() && !path.ends_with(".txt")) lines += path + "\t" + path + "\n";
    }
    WriteBelow(dir_, "pairs.txt", lines);
    return Source(List{.path = dir_.path() / "pairs.txt", .pairs = true}) |
           Decode{.channels = "grey", .field = "mask"} | Decode{};
  }

  TempDir dir_;
};

inline const Normalize kNormalize{.mean = {0.4, 0.5, 0.6}, .std = {0.2, 0.3, 0.25}};

inline int OnePassesIn(const Dataset& dataset) {
  int passes = dataset.node().name() == "one_pass" ? 1 : 0;
  for (const Dataset& input : dataset.node().inputs()) passes += OnePassesIn(input);
  return passes;
}
inline bool HoldsOnePass(const Dataset& dataset) { return OnePassesIn(dataset) > 0; }

}  // namespace stoker
