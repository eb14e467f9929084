// Lists of tensors cut into pieces, for kernels that walk over the values of many tensors on all of
// torch's threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace stoker {

// Values begin to begin + size of tensor number `tensor`, as they lie in memory.
struct TensorPiece {
  size_t tensor = 0;
  int64_t begin = 0;
  int64_t size = 0;
};

// True where every tensor is dense float in CPU memory, so that kernels can be used.
bool ArePlainFloats(const std::vector<at::Tensor>& tensors);

// Pieces that a core's cache can hold, in order. How tensors are cut depends on their sizes alone,
// so sums over pieces do not depend on the threads.
std::vector<TensorPiece> PiecesOf(const std::vector<at::Tensor>& tensors);

// The pieces of as many tensors as the last-level cache may hold, then those of the next, and so
// on; no tensor is divided between two runs. For kernels that need a sum over a tensor before they
// can change it: the second time over a run, from its end, they find much of it in the cache.
std::vector<std::vector<TensorPiece>> RunsOf(const std::vector<at::Tensor>& tensors);

enum class PieceOrder { kForwards, kBackwards };

// Calls work(i, pieces[i]) for each i, on torch's threads. Each thread has the same pieces at each
// call with equal pieces, whatever the order, and goes over them in that order: so it finds in its
// core's caches what it read or changed last. Pieces of few values are all the calling thread's.
void ForEachPiece(const std::vector<TensorPiece>& pieces, PieceOrder order,
                  const std::function<void(size_t index, const TensorPiece& piece)>& work);

// Where a piece of plain floats lies.
inline float* ValuesOf(const std::vector<at::Tensor>& tensors, const TensorPiece& piece) {
  return tensors[piece.tensor].data_ptr<float>() + piece.begin;
}

// The sum of the squares of all values of all tensors, which are plain floats: the same bits on any
// CPU and number of threads.
double SumSquares(const std::vector<at::Tensor>& tensors);

}  // namespace stoker
