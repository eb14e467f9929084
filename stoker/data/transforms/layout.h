#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Puts the channels of images last, [C, H, W] to [H, W, C], or first again; any dtype. Networks on
// many accelerators and CPUs compute on channels-last batches (NHWC), and so do TensorFlow and JAX;
// Stoker's stages want channels first, so this stands behind them, in front of `batch` or behind
// it. Behind `decode` and its like it costs nothing: pixels are written in this order at once.
struct Layout {
  static constexpr std::string_view kName = "layout";
  static constexpr std::string_view kHelp = "Puts the channels of images last, or first.";
  static constexpr bool kArranges = false;
  std::string to = "channels_last";
  std::string field = "image";

  static void Describe(OptionTable<Layout>& table);
  Result<Dataset> Build(Dataset input) const;
};

// Whether the channels of the images in this field stand last, as the last `layout` on their way
// says.
bool HasChannelsLast(const Dataset& dataset, std::string_view field);

}  // namespace stoker
