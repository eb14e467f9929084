// Graphs of launches for tests without a device.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "stoker/device/device_graph.h"

namespace stoker {

// Simulates a device on the CPU: recording changes nothing, and replaying does the work again and
// writes its results to the tensors of the recording.
class FakeGraph final : public DeviceGraph {
 public:
  // `state`: the tensors that the work changes beside its results.
  FakeGraph(std::vector<at::Tensor> state, int& replays)
      : state_(std::move(state)), replays_(replays) {}

  Tensors Capture(const std::function<Tensors()>& work) override {
    std::vector<at::Tensor> before;
    for (const at::Tensor& tensor : state_) before.push_back(tensor.clone());
    work_ = work;
    results_ = work();
    for (size_t i = 0; i < state_.size(); ++i) state_[i].copy_(before[i]);
    for (at::Tensor& result : results_) result.fill_(NAN);
    return results_;
  }
  void Replay() override {
    const Tensors fresh = work_();
    for (size_t i = 0; i < results_.size(); ++i) results_[i].copy_(fresh[i]);
    ++replays_;
  }

 private:
  const std::vector<at::Tensor> state_;
  int& replays_;
  std::function<Tensors()> work_;
  Tensors results_;
};

class UnrecordableGraph final : public DeviceGraph {
 public:
  Tensors Capture(const std::function<Tensors()>& work) override {
    work();
    TORCH_CHECK(false, "operation not permitted while recording");
  }
  void Replay() override { ADD_FAILURE() << "nothing was recorded"; }
};

}  // namespace stoker
