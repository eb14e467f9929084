#include "stoker/device/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/device/tensor.h"

namespace stoker {

Inputs Inputs::InLayout(at::MemoryFormat format) const {
  return Each([&](const at::Tensor& input) { return stoker::InLayout(input, format); });
}

std::string Inputs::ShapesText() const {
  std::vector<std::string> shapes;
  for (const at::Tensor& input : all_)
    shapes.push_back(fmt::format("[{}]", fmt::join(input.sizes(), ", ")));
  return fmt::format("{}", fmt::join(shapes, " and "));
}

}  // namespace stoker
