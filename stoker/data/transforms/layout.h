#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Puts the channels of images last, [C, H, W] to [H, W, C], or first again; any dtype. Networks on
// many accelerators and CPUs compute on channels-last batches (NHWC), and so do TensorFlow and JAX;
// Stoker's stages need channels first, so put this after them, before or after `batch`. After
// `decode` and image transforms it costs nothing, because pixels are written directly in this
// order.
struct Layout {
  static constexpr std::string_view kName = "layout";
  static constexpr std::string_view kHelp = "Puts the channels of images last, or first.";
  static constexpr bool kArranges = false;
  std::string to = "channels_last";
  std::string field = "image";

  static void Describe(OptionTable<Layout>& table);
  Result<Dataset> Build(Dataset input) const;
};

// Returns whether the channels of the images in this field are last, by the last `layout` of the
// pipeline.
bool HasChannelsLast(const Dataset& dataset, std::string_view field);

}  // namespace stoker
