// GraphedPass: the forward and backward pass of a step, recorded as a DeviceGraph and launched as a
// whole. The update follows as ever: it is a few launches, and its rate differs from step to step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/device/device_graph.h"
#include "stoker/device/feeder.h"
#include "stoker/run/recipe.h"

namespace stoker {

// What in the recipe keeps passes from being recorded, for people; empty: nothing does.
std::string GraphObstacle(const TrainOptions& options);

// One thread at a time.
class GraphedPass {
 public:
  // Batches that are done in the usual way first. As many as torch advises: cuDNN has chosen its
  // algorithms by then, and cuBLAS made its handles.
  static constexpr int64_t kStepsBefore = 3;

  // Puts a batch forward and back; gives all its results: the loss and the gradients.
  using Pass = std::function<DeviceGraph::Tensors(const TensorBatch& batch)>;

  GraphedPass(std::unique_ptr<DeviceGraph> graph, Pass pass)
      : graph_(std::move(graph)), pass_(std::move(pass)) {}
  GraphedPass(const GraphedPass&) = delete;
  GraphedPass& operator=(const GraphedPass&) = delete;

  // The results of the pass for `batch`, until the next call; they stay where they are. Nothing
  // where the caller must do it in the usual way: for the first kStepsBefore batches; for one of
  // another shape than those were; and from then on where recording has failed. Throws c10::Error
  // where the device fails.
  std::optional<DeviceGraph::Tensors> Run(const TensorBatch& batch);

  // Why a batch was not launched as a whole though it was its turn; each reason is told once, then
  // empty.
  std::string TakeNote() { return std::exchange(note_, {}); }

 private:
  bool Fits(const TensorBatch& batch) const;
  void Record(const TensorBatch& batch);

  std::unique_ptr<DeviceGraph> graph_;  // null once recording has failed
  const Pass pass_;
  int64_t warm_ = 0;    // batches of one shape that were done in the usual way
  TensorBatch inputs_;  // what the graph reads; before it is recorded, a batch of its shape
  std::optional<DeviceGraph::Tensors> results_;
  bool told_shape_ = false;
  std::string note_;
};

}  // namespace stoker
