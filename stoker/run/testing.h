// A small problem to train on, for tests: images of 8 x 8 whose class is the quadrant that is
// bright. Only tests include it.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/formats/idx/idx.h"
#include "stoker/run/recipe.h"

namespace stoker {

inline std::string ReadFileForTest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void WriteFileForTest(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
}

// n such images, uint8 [n, 8, 8]: dim noise everywhere, bright in quadrant (i % 4).
inline Array QuadrantImages(int64_t n) {
  Array images = Array::Allocate(DType::kUInt8, {n, 8, 8});
  for (int64_t i = 0; i < n; ++i) {
    Rng rng(/*seed=*/7, /*epoch=*/0, static_cast<uint64_t>(i), /*stage=*/0);
    for (int64_t y = 0; y < 8; ++y) {
      for (int64_t x = 0; x < 8; ++x) {
        const bool bright = (y / 4) * 2 + x / 4 == i % 4;
        images.values<uint8_t>()[static_cast<size_t>((i * 8 + y) * 8 + x)] =
            static_cast<uint8_t>(rng.Below(100) + (bright ? 100 : 0));
      }
    }
  }
  return images;
}
inline Array QuadrantLabels(int64_t n) {
  Array labels = Array::Allocate(DType::kUInt8, {n});
  for (int64_t i = 0; i < n; ++i) {
    labels.values<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(i % 4);
  }
  return labels;
}

// 96 samples to train on, 6 steps an epoch, 3 epochs; 32 to evaluate on. The model drops values at
// random, so that torch's random state matters.
inline constexpr const char* kSmallRecipe = R"(
data:
  root: .
  classes: [northwest, northeast, southwest, southeast]
  train:
    - idx: {images: train-images, labels: train-labels}
    - shuffle
    - normalize: {mean: 0.5, std: 0.25}
    - batch: {size: 16, drop_remainder: true}
    - prefetch
  eval:
    - idx: {images: eval-images, labels: eval-labels}
    - normalize: {mean: 0.5, std: 0.25}
    - batch: {size: 10}
model: {mlp: {classes: 4, hidden: [16], dropout: 0.25}}
train:
  epochs: 3
  device: cpu
  threads: 1
  log_every: 2
  schedule: {one_cycle: {max_lr: 0.02}}
)";

// Returns the recipe with the device STOKER_TEST_DEVICE instead of the CPU, so that a machine with
// an accelerator runs the same tests on it.
inline std::string OnTestDevice(std::string recipe) {
  constexpr std::string_view kCpu = "device: cpu";
  const char* const wanted = std::getenv("STOKER_TEST_DEVICE");
  if (wanted == nullptr) return recipe;
  const size_t place = recipe.find(kCpu);
  EXPECT_NE(place, std::string::npos) << recipe;
  return recipe.replace(place, kCpu.size(), "device: " + std::string(wanted));
}

inline bool TestsOnTheCpu() { return std::getenv("STOKER_TEST_DEVICE") == nullptr; }

// Returns the code of the error for a class number that does not exist: the loss reports it, or the
// feeder before copying it to an accelerator.
inline StatusCode CodeOfAWrongClass() {
  return TestsOnTheCpu() ? StatusCode::kDataLoss : StatusCode::kOutOfRange;
}

// The recipe and its data in a directory of its own, where runs may go too.
class SmallProblem {
 public:
  SmallProblem() {
    EXPECT_THAT(WriteIdx(directory_ / "train-images", QuadrantImages(96)), IsOk());
    EXPECT_THAT(WriteIdx(directory_ / "train-labels", QuadrantLabels(96)), IsOk());
    EXPECT_THAT(WriteIdx(directory_ / "eval-images", QuadrantImages(32)), IsOk());
    EXPECT_THAT(WriteIdx(directory_ / "eval-labels", QuadrantLabels(32)), IsOk());
    WriteFileForTest(directory_ / "small.yaml", OnTestDevice(kSmallRecipe));
  }

  Result<Recipe> Load(const std::vector<std::string>& assignments = {}) const {
    return LoadRecipe(directory_ / "small.yaml", assignments);
  }
  std::string operator/(std::string_view name) const { return directory_ / name; }

 private:
  TempDir directory_;
};

}  // namespace stoker
