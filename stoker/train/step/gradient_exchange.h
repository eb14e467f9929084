// GradientExchange: sums the gradients of several ranks while the backward pass makes them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"

namespace stoker {

// Gradients travel in buckets: of consecutive parameters, the last of the model first, because
// these have their gradients first. Which parameter is in which bucket follows from the parameters
// and the size alone and never changes, so the same ranks with the same gradients get the same
// bits, on every rank and in every run. Buckets are sent in their order on every rank, each as soon
// as its last gradient is there.
//
// They may travel in 16 bits, which halves what is sent: each rank's gradients are rounded, and
// Gloo rounds the sum again whenever it has added another rank's. Small gradients would be lost in
// fp16, so they travel times 1024. A bucket in which something is too large for fp16 travels once
// more, in float32: all ranks see it by the sums.
//
// One thread at a time; backward passes run on the thread that calls it, which is so on the CPU.
class GradientExchange {
 public:
  //   group       must outlive it
  //   parameters  of the model, on the CPU, in the same order and layout on every rank
  //   bytes       of gradients in a bucket; a larger gradient has a bucket of its own
  //   travel      kFloat, kBFloat16 or kHalf: what float32 gradients are sent as
  GradientExchange(Group& group, std::vector<at::Tensor> parameters, int64_t bytes,
                   at::ScalarType travel = at::kFloat);
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  int64_t rank() const { return group_.membership().rank; }
  Group& group() const { return group_; }

  // Call it before the last backward pass of a step: each parameter's gradient is complete once
  // that pass has reached it, and is sent.
  //   step   its number, for messages
  //   scale  by which the gradients are multiplied (grad_scaler.h), the same on all ranks
  void Begin(int64_t step, double scale = 1);

  // Sends what Begin and the backward pass have not sent, so also on a rank that ran none, and
  // waits for all. Then each parameter's gradient is the sum over all ranks (in memory of the
  // exchange, until the next Begin), or undefined if no rank has one, and `totals`, float64, the
  // sum of all ranks' too. Errors: those of Group.
  Status Finish(int64_t step, at::Tensor totals);

 private:
  struct Bucket {
    at::Tensor values;      // the gradients, and for each whether this rank has it
    at::Tensor sent;        // the same as they travel; undefined: as they are
    int64_t gradients = 0;  // of the values
    std::vector<size_t> parameters;
    int64_t waiting = 0;  // gradients that are not there yet
  };
  // Where a parameter's gradient is in its bucket.
  struct Place {
    size_t bucket = 0;
    at::Tensor gradient;  // with the layout of the parameter
    at::Tensor there;     // 1 if this rank has it; then the number of ranks
    bool ready = false;
  };
  class Hook;

  void Arrange(int64_t bytes);
  void MakeBucket(const std::vector<size_t>& parameters);
  void Ready(size_t parameter);
  void SendReady();
  void Narrow(Bucket& bucket) const;
  Status Widen();
  void TakeSums();

  Group& group_;
  const std::vector<at::Tensor> parameters_;
  const at::ScalarType travel_;
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;  // of parameters_
  // Of the step under way.
  int64_t step_ = 0;
  double factor_ = 1;  // of gradients that travel in fp16
  bool begun_ = false;
  size_t sent_ = 0;  // buckets
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  Status failed_;  // of starting one
};

}  // namespace stoker
