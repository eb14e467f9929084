// LayerTrace: determines the layer of a model that torch is computing.
//
// torch's C++ modules have no hooks. But ATen's RecordFunction reports the inputs of every
// operator, which identify the layer: the one whose parameters or buffers are among them; an
// operator without any belongs to the previous layer. An operator's backward pass has the sequence
// number of its forward pass.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/device/inputs.h"

namespace stoker {

class Model;

// While it lives, follows the computation of the constructing thread, and of autograd for it. Slow:
// for diagnosing errors. One in a process at a time: another thread that makes one waits.
class LayerTrace {
 public:
  enum class Values { kIgnored, kChecked };
  // kChecked: searches every output for values that are not finite, which waits for a device.
  LayerTrace(const Model& model, Values values);
  LayerTrace(const LayerTrace&) = delete;
  LayerTrace& operator=(const LayerTrace&) = delete;
  ~LayerTrace();

  // Returns the operator that began last, so after an exception the one that failed: "layer 'head'
  // (aten::addmm of [2, 784], [64, 16])".
  std::string LastOperator() const;

  // Returns the first operator whose output was not finite (the outermost, because inner ones also
  // pass uninitialised memory), as words to precede "is not finite": "the output of layer 'head'
  // (aten::addmm)", "the gradient in layer 'head' (...)"; empty if there was none.
  const std::string& FirstBroken() const { return first_broken_; }

 private:
  static std::unique_ptr<at::ObserverContext> Started(const at::RecordFunction& function);
  static void Ended(const at::RecordFunction& function, at::ObserverContext* around);
  void Start(const at::RecordFunction& function);
  void Check(const at::RecordFunction& function);
  std::string LayerName() const;

  const bool checked_;
  std::unordered_map<const c10::TensorImpl*, std::string> owners_;  // parameters and buffers
  std::unordered_map<int64_t, std::string> layers_;                 // by autograd's sequence number
  at::CallbackHandle handle_ = 0;

  std::string layer_;  // of the current operator; empty: before the first layer
  bool backward_ = false;
  int64_t depth_ = 0;  // nested operators; in a backward pass those in its node
  std::string last_name_;
  std::vector<std::vector<int64_t>> last_shapes_;
  std::string first_broken_;
};

// Returns the numbers of the rows of `values` that hold a NaN or an infinity, at most `most` of
// them. Waits for a device.
std::vector<int64_t> RowsNotFinite(const at::Tensor& values, int64_t most = 8);
// Returns the same of the samples of one input, ragged or not, each once. REQUIRES: there is
// exactly one.
std::vector<int64_t> SamplesNotFinite(const Inputs& one, int64_t most = 8);

}  // namespace stoker
