#include "stoker/train/loop/tensorboard_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include "stoker/base/array.h"
#include "stoker/device/torch_error.h"
#include "stoker/image/encode_png.h"
#include "stoker/train/core/row_gradient.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

constexpr int64_t kMostPictures = 64;
constexpr int64_t kInARow = 8;
constexpr int64_t kGap = 2;  // pixels between pictures

constexpr int64_t kConfusionPixels = 256;
constexpr int64_t kMostClasses = 2048;

bool ArePictures(const at::Tensor& input) {
  return input.dim() == 4 && input.is_floating_point() && input.size(0) > 0 &&
         (input.size(1) == 1 || input.size(1) == 3) && input.size(2) > 1 && input.size(3) > 1;
}

// 0 to 1; what is not finite is as the lowest.
uint8_t Grey(double share) {
  return std::isfinite(share) ? static_cast<uint8_t>(std::lround(share * 255)) : uint8_t{0};
}

// The lowest value and how far it is to the highest, of those that are finite.
struct Range {
  float low = 0, extent = 1;
};
Range RangeOf(std::span<const float> values) {
  float low = INFINITY, high = -INFINITY;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > low ? Range{low, high - low} : Range{std::isfinite(low) ? low : 0, 1};
}

// uint8 [height, width, channels] of pictures in rows, float [n, channels, h, w] on the CPU.
Array GridOf(const at::Tensor& pictures) {
  const int64_t n = pictures.size(0), channels = pictures.size(1);
  const int64_t h = pictures.size(2), w = pictures.size(3);
  const int64_t columns = std::min(n, kInARow), rows = (n - 1) / kInARow + 1;
  Array grid = Array::Allocate(DType::kUInt8,
                               {rows * (h + kGap) - kGap, columns * (w + kGap) - kGap, channels});
  std::memset(grid.data(), 255, grid.num_bytes());
  const std::span<const float> values(pictures.data_ptr<float>(),
                                      static_cast<size_t>(pictures.numel()));
  const Range range = RangeOf(values);
  const int64_t width = grid.shape()[1];
  size_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t top = i / kInARow * (h + kGap), left = i % kInARow * (w + kGap);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t pixel = 0; pixel < h * w; ++pixel) {
        const int64_t y = top + pixel / w, x = left + pixel % w;
        grid.values<uint8_t>()[static_cast<size_t>((y * width + x) * channels + c)] =
            Grey((values[at++] - range.low) / range.extent);
      }
    }
  }
  return grid;
}

Status AddGrid(std::string_view tag, const Array& grid, Summary& summary) {
  STOKER_ASSIGN_OR_RETURN(const std::string png, EncodePng(grid));
  summary.AddImage(tag, grid.shape()[0], grid.shape()[1], grid.shape()[2], png);
  return OkStatus();
}

// The counts of a square matrix, row by row; nothing if it is none.
std::vector<double> CountsOf(const Json& confusion) {
  std::vector<double> counts;
  if (!confusion.is_array() || confusion.size() > kMostClasses) return counts;
  for (const Json& row : confusion) {
    if (!row.is_array() || row.size() != confusion.size()) return {};
    for (const Json& count : row) {
      if (!count.is_number()) return {};
      counts.push_back(count.get<double>());
    }
  }
  return counts;
}

Histogram HistogramOf(const at::Tensor& tensor, double scale) {
  at::Tensor values = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  if (scale != 1) values = values / scale;
  return MakeHistogram({values.data_ptr<float>(), static_cast<size_t>(values.numel())});
}

class Tensors final : public Callback {
 public:
  Tensors(const TensorboardOptions& options, TensorboardLog& log) : options_(options), log_(log) {}

  Status OnBatch(RunView& view, const TensorBatch& batch) override {
    if (!options_.pictures || view.step != 0 || shown_) return OkStatus();
    shown_ = true;
    Summary summary;
    const std::vector<at::Tensor>& inputs = batch.input.all();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<std::string>& names = view.learner.input_names();
      const std::string name = names.empty() ? "input" : names[i];
      STOKER_RETURN_IF_ERROR(AddPictures("batch/" + name, inputs[i], summary));
    }
    return Write(summary, 0);
  }

  Status OnBackward(RunView& view) override {
    const int64_t step = view.step + 1;
    if (!options_.histograms) return OkStatus();
    if (step % *options_.histograms != 0 && step != view.total_steps) return OkStatus();
    Summary summary;
    STOKER_RETURN_IF_ERROR(AddHistograms(view.model, view.gradient_scale, summary));
    return Write(summary, step);
  }

  Status OnEvaluate(RunView& view, const Evaluation& evaluation) override {
    if (!options_.pictures || !evaluation.metrics.is_object()) return OkStatus();
    Summary summary;
    for (const auto& [name, value] : evaluation.metrics.items()) {
      if (name != "confusion" && !name.ends_with(FigureOfTarget("", "confusion"))) continue;
      STOKER_RETURN_IF_ERROR(AddConfusion("eval/" + name, value, summary));
    }
    return Write(summary, view.step);
  }

 private:
  Status Write(const Summary& summary, int64_t step) {
    return summary.empty() ? OkStatus() : log_.Write(summary, step);
  }

  const TensorboardOptions options_;
  TensorboardLog& log_;
  bool shown_ = false;
};

}  // namespace

Status AddPictures(std::string_view tag, const at::Tensor& input, Summary& summary) {
  if (!ArePictures(input)) return OkStatus();
  Array grid;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    const at::Tensor some = input.narrow(0, 0, std::min(input.size(0), kMostPictures));
    grid = GridOf(some.to(at::kCPU, at::kFloat).contiguous());
  }));
  return AddGrid(tag, grid, summary);
}

Status AddConfusion(std::string_view tag, const Json& confusion, Summary& summary) {
  const std::vector<double> counts = CountsOf(confusion);
  if (counts.empty()) return OkStatus();
  const size_t classes = confusion.size();
  const size_t cell = std::max<size_t>(kConfusionPixels / classes, 1);
  const size_t side = cell * classes;
  Array grid =
      Array::Allocate(DType::kUInt8, {static_cast<int64_t>(side), static_cast<int64_t>(side), 1});
  for (size_t y = 0; y < side; ++y) {
    const std::span<const double> row(&counts[y / cell * classes], classes);
    double samples = 0;
    for (const double count : row) samples += count;
    for (size_t x = 0; x < side; ++x) {
      const double share = samples > 0 ? row[x / cell] / samples : 0;
      grid.values<uint8_t>()[y * side + x] = Grey(1 - share);
    }
  }
  return AddGrid(tag, grid, summary);
}

Status AddHistograms(const Model& model, double gradient_scale, Summary& summary) {
  return CatchTorchErrors([&] {
    for (const auto& [name, parameter] : ParametersOf(model)) {
      summary.AddHistogram(fmt::format("weights/{}", name), HistogramOf(parameter, 1));
      if (!parameter.grad().defined()) continue;
      const at::Tensor gradient = ValuesOfGradient(parameter.grad());
      if (gradient.numel() == 0) continue;
      summary.AddHistogram(fmt::format("gradients/{}", name),
                           HistogramOf(gradient, gradient_scale));
    }
  });
}

std::shared_ptr<Callback> TensorboardTensors(const TensorboardOptions& options,
                                             TensorboardLog& log) {
  return std::make_shared<Tensors>(options, log);
}

}  // namespace stoker
