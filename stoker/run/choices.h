// Choices: the tuner's decisions. The run stores them and uses them again on resume, because most
// of them can change a result's bits.
#pragma once

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

enum class MemoryFormat { kContiguous, kChannelsLast };

// Returns "contiguous", "channels_last"
std::string_view MemoryFormatName(MemoryFormat format);
Result<MemoryFormat> ParseMemoryFormat(std::string_view name);

// The type in which convolutions and linear layers compute (precision.h).
enum class Precision { kFloat32, kBFloat16, kFloat16 };

// Returns "float32", "bf16", "fp16"
std::string_view PrecisionName(Precision precision);
Result<Precision> ParsePrecision(std::string_view name);

struct Choices {
  MemoryFormat memory_format = MemoryFormat::kContiguous;
  Precision precision = Precision::kFloat32;
  int threads = 1;             // that compute, without those of the feed
  std::string device = "cpu";  // the result of `device: auto`: "cpu", "cuda:0"
  bool cudnn_benchmark = false;
  bool graph = false;            // train.graph: auto records passes (graphed_pass.h)
  bool flush_denormals = false;  // on all threads that compute (device/torch_denormals.h)
  // These change no bits.
  int feed_threads = 0;            // of the input pipeline; 0: by train.feed_threads
  int device_prefetch = 0;         // batches copied to the device ahead of their step
  bool normalize_on_host = false;  // although an accelerator could, and train.normalize_on is auto

  bool operator==(const Choices&) const = default;
  std::string ToString() const;  // "channels_last, bf16, 2 threads, 1 feeding, 2 batches ahead"
  Json ToJson() const;
  static Result<Choices> FromJson(const Json& json);
};

}  // namespace stoker
