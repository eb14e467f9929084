// Splits lists of tensors into pieces, for kernels that process many tensors on all of torch's
// threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace stoker {

// Values begin to begin + size of tensor number `tensor`, in memory order.
struct TensorPiece {
  size_t tensor = 0;
  int64_t begin = 0;
  int64_t size = 0;
};

// Returns true if every tensor is dense float in CPU memory, so that kernels can be used.
bool ArePlainFloats(const std::vector<at::Tensor>& tensors);

// Returns pieces that fit into a core's cache, in order. They depend only on the sizes of tensors,
// so sums over pieces do not depend on the threads.
std::vector<TensorPiece> PiecesOf(const std::vector<at::Tensor>& tensors);

// Returns runs of pieces, each of as many tensors as may fit into the last-level cache; no tensor
// is divided between two runs. For kernels that need a sum over a tensor before they can change it:
// a second pass over a run, from its end, finds much of it in the cache.
std::vector<std::vector<TensorPiece>> RunsOf(const std::vector<at::Tensor>& tensors);

enum class PieceOrder { kForwards, kBackwards };

// Calls work(i, pieces[i]) for each i, on torch's threads. Each thread gets the same pieces at each
// call with equal pieces, in either order, so it finds in its core's caches what it used last. The
// calling thread processes all of a small number of values.
void ForEachPiece(const std::vector<TensorPiece>& pieces, PieceOrder order,
                  const std::function<void(size_t index, const TensorPiece& piece)>& work);

// Returns the address of a piece of plain floats.
inline float* ValuesOf(const std::vector<at::Tensor>& tensors, const TensorPiece& piece) {
  return tensors[piece.tensor].data_ptr<float>() + piece.begin;
}

// Returns the sum of the squares of all values of all tensors, which are plain floats: the same
// bits on any CPU and number of threads.
double SumSquares(const std::vector<at::Tensor>& tensors);

}  // namespace stoker
