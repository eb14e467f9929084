// The inputs of a model, and what it should say of them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stoker {

// What a model is given of a batch: one tensor, as most take, or several, in the order of their
// names in train.input. Each has the samples along its first dimension, unless it is ragged: then
// it holds the values of all samples, one sample's after the other's, and offsets beside it say
// where each sample's begin and the last one's end (`batch` with ragged). A copy shares the
// tensors' memory.
class Inputs {
 public:
  Inputs() = default;
  Inputs(at::Tensor only) { Add(std::move(only)); }  // NOLINT: implicit by design
  explicit Inputs(std::vector<at::Tensor> all) : all_(std::move(all)), offsets_(all_.size()) {}
  // `offsets`: int64 [samples + 1] on the device of `values`; undefined of an input that is not
  // ragged.
  static Inputs WithOffsets(at::Tensor values, at::Tensor offsets) {
    Inputs one;
    one.Add(std::move(values), std::move(offsets));
    return one;
  }
  void Add(at::Tensor values, at::Tensor offsets = {}) {
    all_.push_back(std::move(values));
    offsets_.push_back(std::move(offsets));
  }

  const std::vector<at::Tensor>& all() const { return all_; }
  // Returns those of input `i`; undefined if it is not ragged.
  const at::Tensor& offsets(size_t i) const { return offsets_[i]; }
  bool ragged(size_t i) const { return offsets_[i].defined(); }
  bool any_ragged() const {
    return std::ranges::any_of(offsets_, [](const at::Tensor& each) { return each.defined(); });
  }
  // Throws c10::Error if there is not exactly one, with the samples along its first dimension.
  const at::Tensor& only() const {
    TORCH_CHECK(all_.size() == 1, "one tensor was wanted, and there are ", all_.size());
    TORCH_CHECK(!ragged(0), "samples of one length were wanted, and the input is ragged");
    return all_.front();
  }
  // Returns the only one, which is ragged, with a row for each sample: [samples, longest, ...], the
  // shorter ones filled up with `padding`. Throws c10::Error if there are several, or it is not
  // ragged.
  at::Tensor Padded(const at::Scalar& padding) const;
  // Returns input `i` alone.
  Inputs One(size_t i) const { return WithOffsets(all_[i], offsets_[i]); }
  // Returns all tensors, offsets too.
  std::vector<at::Tensor> Tensors() const;

  bool defined() const { return !all_.empty() && all_.front().defined(); }
  // Both REQUIRE: defined().
  int64_t samples() const { return ragged(0) ? offsets_[0].size(0) - 1 : all_.front().size(0); }
  c10::Device device() const { return all_.front().device(); }

  // Returns the inputs with `change` made of each tensor, offsets too.
  template <typename F>
  Inputs Each(F&& change) const {
    Inputs changed;
    for (size_t i = 0; i < all_.size(); ++i)
      changed.Add(change(all_[i]), ragged(i) ? change(offsets_[i]) : at::Tensor());
    return changed;
  }
  Inputs Clone() const {
    return Each([](const at::Tensor& input) { return input.clone(); });
  }
  Inputs To(const c10::Device& device) const {
    return Each([&](const at::Tensor& input) { return input.to(device); });
  }
  // Returns `count` samples, which share the memory of the values.
  Inputs Rows(int64_t first, int64_t count) const;
  // Returns the samples again and again, `count` in all. REQUIRES: there is at least one.
  Inputs Repeated(int64_t count) const;
  // Orders the values of inputs with four dimensions so; the others become contiguous.
  Inputs InLayout(at::MemoryFormat format) const;

  // "[64, 1, 28, 28]", of several "[64, 1, 28, 28] and [64, 20]"; of a ragged one "64 of 1280
  // values".
  std::string ShapesText() const;

 private:
  std::vector<at::Tensor> all_;
  std::vector<at::Tensor> offsets_;  // of each, undefined where it is not ragged
};

// What a model should say of a batch is such a value too: one target, or several in the order of
// their names in train.target.
using Targets = Inputs;

}  // namespace stoker
