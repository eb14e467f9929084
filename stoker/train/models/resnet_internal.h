// Shared by resnet18, resnet34 and resnet50: torchvision's residual networks, "v1.5", whose
// bottlenecks halve the image in their 3 x 3 convolution.
//
// He et al., "Deep Residual Learning for Image Recognition", arXiv 1512.03385; the last norm of a
// block at zero: Goyal et al., "Accurate, Large Minibatch SGD", arXiv 1706.02677, 5.1.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "stoker/base/options.h"
#include "stoker/run/registry.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker::internal {

struct ResnetDesign {
  std::array<int64_t, 4> blocks;  // of each stage; all stages except the first halve the image
  bool bottleneck = false;        // blocks of 1 x 1, 3 x 3, 1 x 1 instead of two of 3 x 3
};

// The options of all of them: each struct has these fields.
struct ResnetOptions {
  int64_t classes = 1000;
  std::string stem = "imagenet";
  bool zero_init_residual = false;
  double dropout = 0;
};

// Parameters and buffers have torchvision's names and shapes, and from the same seed its first
// values.
std::shared_ptr<Model> BuildResnet(const ResnetDesign& design, const ResnetOptions& options,
                                   const ModelInput& input);

template <typename T>
ResnetOptions ResnetOptionsOf(const T& options) {
  return {.classes = options.classes,
          .stem = options.stem,
          .zero_init_residual = options.zero_init_residual,
          .dropout = options.dropout};
}

template <typename T>
void DescribeResnet(OptionTable<T>& table) {
  table
      .Field("classes", &T::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("stem", &T::stem,
             "how it begins: imagenet brings images to a quarter of their size (7x7 convolution "
             "and max pool), small keeps them (3x3 convolution), for images of 32 x 32",
             OneOf{{"imagenet", "small"}})
      .Field("zero_init_residual", &T::zero_init_residual,
             "whether the last norm of a block begins at zero, so that the block does nothing at "
             "first; helps large batches")
      .Field("dropout", &T::dropout, "share of values dropped before the last layer",
             OptionRange{.low = 0, .high = 0.99});
}

}  // namespace stoker::internal
