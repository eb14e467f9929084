#include "stoker/device/inputs.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/device/tensor.h"

namespace stoker {
namespace {

at::Tensor RepeatedRows(const at::Tensor& rows, int64_t count) {
  const int64_t times = (count - 1) / rows.size(0) + 1;
  std::vector<int64_t> repeats(static_cast<size_t>(rows.dim()), 1);
  repeats.front() = times;
  return rows.repeat(repeats).narrow(0, 0, count);
}

// The samples of one ragged input, `times` times.
Inputs Times(const at::Tensor& values, const at::Tensor& offsets, int64_t times) {
  const at::Tensor begins = offsets.narrow(0, 0, offsets.size(0) - 1);
  std::vector<at::Tensor> parts, places;
  for (int64_t i = 0; i < times; ++i) {
    parts.push_back(values);
    places.push_back(begins + i * values.size(0));
  }
  places.push_back(offsets.narrow(0, offsets.size(0) - 1, 1) + (times - 1) * values.size(0));
  return Inputs::WithOffsets(at::cat(parts), at::cat(places));
}

}  // namespace

std::vector<at::Tensor> Inputs::Tensors() const {
  std::vector<at::Tensor> tensors = all_;
  for (const at::Tensor& offsets : offsets_) {
    if (offsets.defined()) tensors.push_back(offsets);
  }
  return tensors;
}

at::Tensor Inputs::Padded(const at::Scalar& padding) const {
  TORCH_CHECK(all_.size() == 1, "one input was wanted, and there are ", all_.size());
  TORCH_CHECK(ragged(0), "a ragged input was wanted, and this one has samples of one length");
  const at::Tensor& values = all_.front();
  const at::Tensor lengths = offsets_.front().diff();
  const int64_t longest = lengths.size(0) > 0 ? lengths.max().item<int64_t>() : 0;
  std::vector<int64_t> shape = values.sizes().vec();
  shape.insert(shape.begin(), lengths.size(0));
  shape[1] = longest;
  at::Tensor there = at::arange(longest, lengths.options()).unsqueeze(0).lt(lengths.unsqueeze(1));
  while (there.dim() < std::ssize(shape)) there = there.unsqueeze(-1);
  return values.new_full(shape, padding).masked_scatter_(there, values);
}

Inputs Inputs::Rows(int64_t first, int64_t count) const {
  Inputs rows;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (!ragged(i)) {
      rows.Add(all_[i].narrow(0, first, count));
      continue;
    }
    const at::Tensor places = offsets_[i].narrow(0, first, count + 1);
    const auto begin = places[0].item<int64_t>(), end = places[count].item<int64_t>();
    rows.Add(all_[i].narrow(0, begin, end - begin), places - begin);
  }
  return rows;
}

Inputs Inputs::Repeated(int64_t count) const {
  Inputs repeated;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (!ragged(i)) {
      repeated.Add(RepeatedRows(all_[i], count));
      continue;
    }
    const int64_t times = (count - 1) / (offsets_[i].size(0) - 1) + 1;
    const Inputs rows = Times(all_[i], offsets_[i], times).Rows(0, count);
    repeated.Add(rows.all_.front(), rows.offsets_.front());
  }
  return repeated;
}

Inputs Inputs::InLayout(at::MemoryFormat format) const {
  return Each([&](const at::Tensor& input) { return stoker::InLayout(input, format); });
}

std::string Inputs::ShapesText() const {
  std::vector<std::string> shapes;
  for (size_t i = 0; i < all_.size(); ++i) {
    shapes.push_back(ragged(i)
                         ? fmt::format("{} of {} values", offsets_[i].size(0) - 1, all_[i].size(0))
                         : fmt::format("[{}]", fmt::join(all_[i].sizes(), ", ")));
  }
  return fmt::format("{}", fmt::join(shapes, " and "));
}

}  // namespace stoker
