#include "stoker/train/kernels/tensor_pieces.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace stoker {
namespace {

// Each of two pieces waits until the other has begun: with one thread neither ends, and after a
// minute the test gives up.
TEST(TensorPieces, TwoThreadsWorkOnThemAtOnce) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const std::vector<at::Tensor> tensors = {torch::zeros({5}), torch::zeros({7})};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::mutex mutex;
  std::set<std::thread::id> workers;
  ForEachPiece(PiecesOf(tensors), [&](size_t, const TensorPiece&) {
    while (std::chrono::steady_clock::now() < give_up) {
      {
        const std::lock_guard lock(mutex);
        workers.insert(std::this_thread::get_id());
        if (workers.size() == 2) return;
      }
      std::this_thread::yield();
    }
  });
  at::set_num_threads(before);
  EXPECT_EQ(workers.size(), 2u);
}

}  // namespace
}  // namespace stoker
