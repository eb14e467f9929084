// A run of linear layers at the end of a model.
#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <vector>

namespace stoker {

// Adds a layer for each width of `hidden`, then one with `classes` outputs, to `list`, and returns
// them.
//   width  of the input of the first
inline std::vector<torch::nn::Linear> AddLinearLayers(torch::nn::ModuleList list, int64_t width,
                                                      std::vector<int64_t> hidden,
                                                      int64_t classes) {
  std::vector<torch::nn::Linear> layers;
  hidden.push_back(classes);
  for (const int64_t next : hidden) {
    layers.emplace_back(width, next);
    list->push_back(layers.back());
    width = next;
  }
  return layers;
}

}  // namespace stoker
