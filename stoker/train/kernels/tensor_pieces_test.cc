#include "stoker/train/kernels/tensor_pieces.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "stoker/base/mutex.h"

namespace stoker::tensor_pieces_test {

// Each of two pieces waits until the other has begun: with one thread neither ends, and after a
// minute the test gives up.
TEST(TensorPieces, TwoThreadsWorkOnThemAtOnce) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const std::vector<at::Tensor> tensors = {torch::zeros({5000}), torch::zeros({7000})};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  Mutex mutex;
  std::set<std::thread::id> workers;
  ForEachPiece(PiecesOf(tensors), PieceOrder::kForwards, [&](size_t, const TensorPiece&) {
    while (std::chrono::steady_clock::now() < give_up) {
      {
        const MutexLock lock(mutex);
        workers.insert(std::this_thread::get_id());
        if (workers.size() == 2) return;
      }
      std::this_thread::yield();
    }
  });
  at::set_num_threads(before);
  EXPECT_EQ(workers.size(), 2u);
}

TEST(TensorPieces, EachPieceIsWorkedOnOnceInBothOrdersOnAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  std::vector<at::Tensor> tensors;
  for (const int64_t n : {0, 1, 4095, 1, 4096, 300000, 20, 4097, 131072, 3, 2}) {
    tensors.push_back(torch::zeros({n}));
  }
  const std::vector<TensorPiece> pieces = PiecesOf(tensors);
  for (const int threads : {1, 2, 3, 16}) {
    at::set_num_threads(threads);
    for (const PieceOrder order : {PieceOrder::kForwards, PieceOrder::kBackwards}) {
      std::vector<std::atomic<int>> calls(pieces.size());
      ForEachPiece(pieces, order, [&](size_t i, const TensorPiece& piece) {
        EXPECT_EQ(piece.tensor, pieces[i].tensor);
        EXPECT_EQ(piece.begin, pieces[i].begin);
        ++calls[i];
      });
      for (size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i], 1) << i << " of " << threads;
    }
  }
  at::set_num_threads(before);
}

// Which pieces the calling thread has where there are two.
std::vector<char> PiecesOfCaller(const std::vector<TensorPiece>& pieces, PieceOrder order) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<char> mine(pieces.size());
  ForEachPiece(pieces, order, [&](size_t i, const TensorPiece&) {
    mine[i] = std::this_thread::get_id() == caller;
  });
  at::set_num_threads(before);
  return mine;
}

TEST(TensorPieces, AThreadHasTheSamePiecesAtEachCallInEitherOrder) {
  const std::vector<TensorPiece> pieces =
      PiecesOf(std::vector<at::Tensor>(40, torch::zeros({2000})));
  const std::vector<char> mine = PiecesOfCaller(pieces, PieceOrder::kForwards);
  EXPECT_EQ(std::ranges::count(mine, 1), 20);
  EXPECT_EQ(mine, PiecesOfCaller(pieces, PieceOrder::kBackwards));
}

TEST(TensorPieces, OfAFewLayersEachOfTwoThreadsHasSome) {
  const std::vector<int64_t> sizes[] = {{200704, 256, 2560, 10}, {150000}, {262144}, {10, 200000}};
  for (const std::vector<int64_t>& of_tensors : sizes) {
    std::vector<at::Tensor> tensors;
    for (const int64_t n : of_tensors) tensors.push_back(torch::zeros({n}));
    const std::vector<char> mine = PiecesOfCaller(PiecesOf(tensors), PieceOrder::kForwards);
    EXPECT_GT(std::ranges::count(mine, 1), 0) << of_tensors[0];
    EXPECT_GT(std::ranges::count(mine, 0), 0) << of_tensors[0];
  }
}

}  // namespace stoker::tensor_pieces_test
