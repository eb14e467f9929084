#include "stoker/train/core/named_tensor.h"

#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

using ArraysByName = std::unordered_map<std::string_view, const Array*>;

ArraysByName Index(std::span<const NamedArray> arrays, std::string_view prefix) {
  ArraysByName by_name;
  for (const NamedArray& named : arrays) {
    const std::string_view name = named.name;
    if (name.starts_with(prefix)) by_name[name.substr(prefix.size())] = &named.array;
  }
  return by_name;
}

// What keeps the arrays from being the tensors' values.
std::vector<std::string> Misfits(const NamedTensors& tensors, ArraysByName by_name) {
  std::vector<std::string> misfits;
  for (const auto& [name, tensor] : tensors) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      misfits.push_back(fmt::format("{} is missing", name));
      continue;
    }
    const Array& array = *found->second;
    const Shape shape = tensor.sizes().vec();
    if (array.shape() != shape || ToScalarType(array.dtype()) != tensor.scalar_type()) {
      misfits.push_back(fmt::format("{} is {}, the model has {}{}", name, array.ToString(),
                                    DTypeName(*FromScalarType(tensor.scalar_type())),
                                    ShapeToString(shape)));
    }
    by_name.erase(found);
  }
  for (const auto& [name, array] : by_name) {
    misfits.push_back(fmt::format("{} belongs to nothing here", name));
  }
  return misfits;
}

}  // namespace

Result<std::vector<NamedArray>> ToNamedArrays(const NamedTensors& tensors,
                                              std::string_view prefix) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : tensors) {
    STOKER_ASSIGN_OR_RETURN(Array array, ToArray(tensor));
    arrays.push_back({std::string(prefix) + name, std::move(array)});
  }
  return arrays;
}

Status CopyArraysInto(const NamedTensors& tensors, std::span<const NamedArray> arrays,
                      std::string_view prefix, std::string_view source) {
  const ArraysByName by_name = Index(arrays, prefix);
  std::vector<std::string> misfits = Misfits(tensors, by_name);
  if (!misfits.empty()) {
    constexpr size_t kShown = 5;
    const size_t more = misfits.size() > kShown ? misfits.size() - kShown : 0;
    misfits.resize(misfits.size() - more);
    return FailedPrecondition("{} does not fit the recipe's model or optimizer: {}{}", source,
                              fmt::join(misfits, "; "),
                              more == 0 ? "" : fmt::format("; and {} more", more));
  }
  return CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    for (const auto& [name, tensor] : tensors) {
      at::Tensor destination = tensor;
      destination.copy_(ToTensor(*by_name.at(name)));
    }
  });
}

}  // namespace stoker
