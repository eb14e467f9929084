// The inputs of a model, and what it should say of them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stoker {

// What a model is given of a batch: one tensor, as most take, or several, in the order of their
// names in train.input. Each has the samples along its first dimension. A copy shares the tensors'
// memory.
class Inputs {
 public:
  Inputs() = default;
  Inputs(at::Tensor only) { all_.push_back(std::move(only)); }  // NOLINT: implicit by design
  explicit Inputs(std::vector<at::Tensor> all) : all_(std::move(all)) {}

  const std::vector<at::Tensor>& all() const { return all_; }
  // Throws c10::Error if there is not exactly one.
  const at::Tensor& only() const {
    TORCH_CHECK(all_.size() == 1, "one tensor was wanted, and there are ", all_.size());
    return all_.front();
  }

  bool defined() const { return !all_.empty() && all_.front().defined(); }
  // Both REQUIRE: defined().
  int64_t samples() const { return all_.front().size(0); }
  c10::Device device() const { return all_.front().device(); }

  // Returns the inputs with `change` made of each tensor.
  template <typename F>
  Inputs Each(F&& change) const {
    std::vector<at::Tensor> changed;
    for (const at::Tensor& input : all_) changed.push_back(change(input));
    return Inputs(std::move(changed));
  }
  Inputs Rows(int64_t first, int64_t count) const {
    return Each([&](const at::Tensor& input) { return input.narrow(0, first, count); });
  }
  Inputs Clone() const {
    return Each([](const at::Tensor& input) { return input.clone(); });
  }
  Inputs To(const c10::Device& device) const {
    return Each([&](const at::Tensor& input) { return input.to(device); });
  }
  // Orders the values of inputs with four dimensions so; the others become contiguous.
  Inputs InLayout(at::MemoryFormat format) const;

  // "[64, 1, 28, 28]", of several "[64, 1, 28, 28] and [64, 20]".
  std::string ShapesText() const;

 private:
  std::vector<at::Tensor> all_;
};

// What a model should say of a batch is such a value too: one target, or several in the order of
// their names in train.target.
using Targets = Inputs;

}  // namespace stoker
