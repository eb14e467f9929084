#include "stoker/train/core/layers.h"

#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stoker/base/random.h"
#include "stoker/device/torch_threads.h"

namespace stoker {
namespace {

constexpr uint64_t kDropoutTag = 0x64726f706f757421;  // apart from the draws of pipelines
constexpr double kDrawsAValue = 65536;                // 2^16

// The key of one call in one pass.
std::array<uint32_t, 2> KeyOf(const PlaceOfPass& place, int64_t draw) {
  uint64_t key = Mix64(place.seed + kDropoutTag);
  key = Mix64(key + static_cast<uint64_t>(place.step));
  key = Mix64(key + static_cast<uint64_t>(place.part));
  key = Mix64(key + static_cast<uint64_t>(draw));
  return {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
}

// What one row is multiplied by.
struct DropoutRow {
  std::array<uint32_t, 2> key;
  uint32_t dropped;  // of 2^16
  float kept;        // the factor of what is kept

  void Fill(uint64_t row, float* out, int64_t size) const {
    std::array<uint32_t, 4> counter = {0, static_cast<uint32_t>(row),
                                       static_cast<uint32_t>(row >> 32), 0};
    constexpr int64_t kOfBlock = 8;  // values
    for (int64_t begin = 0; begin < size; begin += kOfBlock, ++counter[0]) {
      const std::array<uint32_t, 4> words = Philox4x32(counter, key);
      const int64_t count = std::min(kOfBlock, size - begin);
      for (int64_t i = 0; i < count; ++i) {
        const uint32_t draw = (words[static_cast<size_t>(i / 2)] >> (16 * (i % 2))) & 0xffff;
        out[begin + i] = draw < dropped ? 0.0F : kept;
      }
    }
  }
};

// Whether the values of a row lie together, and rows in their order.
bool RowsLieInOrder(const at::Tensor& x) {
  return x.is_non_overlapping_and_dense() &&
         (x.size(0) == 1 || x.stride(0) * x.size(0) == x.numel());
}

at::Tensor DropoutFactors(const at::Tensor& x, double probability, TrainingPass& pass) {
  const auto options = x.options().dtype(at::kFloat).requires_grad(false);
  at::Tensor factors =
      RowsLieInOrder(x) ? at::empty_like(x, options) : at::empty(x.sizes(), options);
  const DropoutRow row{.key = KeyOf(pass.place(), pass.NextDraw()),
                       .dropped = static_cast<uint32_t>(std::lround(probability * kDrawsAValue)),
                       .kept = static_cast<float>(1 / (1 - probability))};
  if (x.numel() == 0) return factors;
  const int64_t size = x.numel() / x.size(0);
  auto* const out = factors.data_ptr<float>();
  const auto first = static_cast<uint64_t>(pass.place().first_row);
  ForRangesOnTorchThreads(x.size(0), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      row.Fill(first + static_cast<uint64_t>(i), out + i * size, size);
  });
  return factors;
}

}  // namespace

void CheckValuesOfChannels(const at::Tensor& x) {
  TORCH_CHECK_VALUE(x.numel() != x.size(1) || x.numel() == 0, kOneValueOfAChannel, ", here is ",
                    x.sizes(), "; ", kMoreSamplesForNorms);
}

bool MeetsOneValueOfAChannel(const Status& status) {
  for (const std::string_view said : {kOneValueOfAChannel, "more than 1 value per channel"}) {
    if (status.message().find(said) != std::string::npos) return true;
  }
  return false;
}

int64_t CountBatchNorms(const Model& model) {
  int64_t count = 0;
  for (const auto& module : model.modules()) {
    const bool norm = module->as<torch::nn::BatchNorm1dImpl>() != nullptr ||
                      module->as<torch::nn::BatchNorm2dImpl>() != nullptr ||
                      module->as<torch::nn::BatchNorm3dImpl>() != nullptr;
    count += norm && module->is_training();
  }
  return count;
}

at::Tensor Dropout(const at::Tensor& x, double probability, bool training) {
  TrainingPass* const pass = TrainingPass::Now();
  if (!training || probability == 0 || pass == nullptr || !x.is_cpu() || x.dim() == 0)
    return at::dropout(x, probability, training);
  return x * DropoutFactors(x, probability, *pass).to(x.scalar_type());
}

}  // namespace stoker
