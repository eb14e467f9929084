#include "stoker/train/kernels/tensor_pieces.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "stoker/device/torch_threads.h"
#include "stoker/train/kernels/optimizer_kernel.h"

namespace stoker {
namespace {

// 512 KiB of each array: long enough that a core's prefetchers are rarely interrupted, short enough
// that threads end at nearly the same time.
constexpr int64_t kPiece = 131072;
// 4 MiB of each array.
constexpr int64_t kRun = 1 << 20;
// Threads get whole units of so many values: fewer are not worth waking another thread for.
constexpr int64_t kUnit = 4096;

}  // namespace

bool ArePlainFloats(const std::vector<at::Tensor>& tensors) {
  return std::ranges::all_of(tensors, [](const at::Tensor& tensor) {
    return tensor.is_cpu() && tensor.scalar_type() == at::kFloat &&
           tensor.is_non_overlapping_and_dense();
  });
}

std::vector<TensorPiece> PiecesOf(const std::vector<at::Tensor>& tensors) {
  std::vector<TensorPiece> pieces;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t n = tensors[i].numel();
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      pieces.push_back({.tensor = i, .begin = begin, .size = std::min(kPiece, n - begin)});
    }
  }
  return pieces;
}

std::vector<std::vector<TensorPiece>> RunsOf(const std::vector<at::Tensor>& tensors) {
  std::vector<std::vector<TensorPiece>> runs;
  int64_t values = kRun;  // of the last run; as if one were full
  for (const TensorPiece& piece : PiecesOf(tensors)) {
    if (piece.begin == 0 && values >= kRun) {
      runs.emplace_back();
      values = 0;
    }
    runs.back().push_back(piece);
    values += piece.size;
  }
  return runs;
}

void ForEachPiece(const std::vector<TensorPiece>& pieces, PieceOrder order,
                  const std::function<void(size_t index, const TensorPiece& piece)>& work) {
  // A piece belongs to the range that its middle lies in, so that two pieces of different sizes are
  // not both in the last range.
  std::vector<int64_t> middles;
  middles.reserve(pieces.size());
  int64_t values = 0;
  for (const TensorPiece& piece : pieces) {
    middles.push_back((values + piece.size / 2) / kUnit);
    values += piece.size;
  }
  const auto first_of = [&](int64_t unit) {
    return static_cast<size_t>(std::ranges::lower_bound(middles, unit) - middles.begin());
  };
  ForRangesOnTorchThreads((values + kUnit - 1) / kUnit, [&](int64_t begin, int64_t end) {
    const size_t first = first_of(begin), last = first_of(end);
    for (size_t i = first; i < last; ++i) {
      const size_t piece = order == PieceOrder::kForwards ? i : last - 1 - (i - first);
      work(piece, pieces[piece]);
    }
  });
}

double SumSquares(const std::vector<at::Tensor>& tensors) {
  const std::vector<TensorPiece> pieces = PiecesOf(tensors);
  std::vector<double> sums(pieces.size());
  ForEachPiece(pieces, PieceOrder::kForwards, [&](size_t i, const TensorPiece& piece) {
    sums[i] = SumSquares(ValuesOf(tensors, piece), static_cast<size_t>(piece.size));
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace stoker
