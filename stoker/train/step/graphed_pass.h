// GraphedPass: the forward and backward pass of a step, recorded as a DeviceGraph and launched as a
// whole. The update is not recorded, because it is only a few launches and its rate differs from
// step to step.
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

// Returns what in the recipe prevents recording, for people; empty: nothing.
std::string GraphObstacle(const TrainOptions& options);

// One thread at a time.
class GraphedPass {
 public:
  // Batches to run in the usual way first. torch recommends this number: by then cuDNN has chosen
  // its algorithms, and cuBLAS has made its handles.
  static constexpr int64_t kStepsBefore = 3;

  // Runs a batch forward and backward; returns all its results: the loss and the gradients.
  using Pass = std::function<DeviceGraph::Tensors(const TensorBatch& batch)>;

  GraphedPass(std::unique_ptr<DeviceGraph> graph, Pass pass)
      : graph_(std::move(graph)), pass_(std::move(pass)) {}
  GraphedPass(const GraphedPass&) = delete;
  GraphedPass& operator=(const GraphedPass&) = delete;

  // Returns the results of the pass for `batch`, valid until the next call, always at the same
  // addresses. Returns nothing if the caller must run it in the usual way: for the first
  // kStepsBefore batches; for one of another shape; and always after recording has failed. Throws
  // c10::Error if the device fails.
  std::optional<DeviceGraph::Tensors> Run(const TensorBatch& batch);

  // Returns why an eligible batch was not launched as a whole; each reason once, then empty.
  std::string TakeNote() { return std::exchange(note_, {}); }

 private:
  bool Fits(const TensorBatch& batch) const;
  void CopyIn(const TensorBatch& batch);
  void Record(const TensorBatch& batch);

  std::unique_ptr<DeviceGraph> graph_;  // null once recording has failed
  const Pass pass_;
  int64_t warm_ = 0;    // batches of one shape that were done in the usual way
  TensorBatch inputs_;  // the graph's inputs; before recording, a batch of its shape
  std::optional<DeviceGraph::Tensors> results_;
  bool told_shape_ = false;
  std::string note_;
};

}  // namespace stoker
