// LayerTrace: tells which layer of a model torch is at work for.
//
// torch's C++ modules have no hooks. But every operator tells what it is given (ATen's
// RecordFunction), and what it is given tells the layer: the one whose parameters or buffers are
// among its inputs; an operator without any belongs to the layer before it. An operator's backward
// pass bears the number of the forward pass that it belongs to.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stoker {

class Model;

// Follows what the constructing thread computes, and what autograd computes for it, for as long as
// it lives. Slow: for finding out what went wrong. One in a process at a time.
class LayerTrace {
 public:
  enum class Values { kIgnored, kChecked };
  // kChecked: every output is searched for values that are not finite, which waits for a device.
  LayerTrace(const Model& model, Values values);
  LayerTrace(const LayerTrace&) = delete;
  LayerTrace& operator=(const LayerTrace&) = delete;
  ~LayerTrace();

  // The operator that began last, so after an exception the one that failed:
  // "layer 'head' (aten::addmm of [2, 784], [64, 16])".
  std::string LastOperator() const;

  // The first whose output was not finite (of operators made of others the outer one, since inner
  // ones also hand memory around that has no values yet), in words that go on with "is not finite":
  // "the output of layer 'head' (aten::addmm)", "the gradient in layer 'head' (...)"; empty where
  // there was none.
  const std::string& FirstBroken() const { return first_broken_; }

 private:
  static std::unique_ptr<at::ObserverContext> Started(const at::RecordFunction& function);
  static void Ended(const at::RecordFunction& function, at::ObserverContext* around);
  void Start(const at::RecordFunction& function);
  void Check(const at::RecordFunction& function);
  std::string LayerName() const;

  const bool checked_;
  std::unordered_map<const c10::TensorImpl*, std::string> owners_;  // parameters and buffers
  std::unordered_map<int64_t, std::string> layers_;                 // by autograd's number
  at::CallbackHandle handle_ = 0;

  std::string layer_;  // of the operator at work; empty: before the first layer
  bool backward_ = false;
  int64_t depth_ = 0;  // operators at work inside each other; of a backward pass those in its node
  std::string last_name_;
  std::vector<std::vector<int64_t>> last_shapes_;
  std::string first_broken_;
};

// The numbers of the rows of `values` that hold a NaN or an infinity, at most `most` of them. Waits
// for a device.
std::vector<int64_t> RowsNotFinite(const at::Tensor& values, int64_t most = 8);

}  // namespace stoker
