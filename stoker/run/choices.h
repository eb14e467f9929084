// Choices: what the tuner decided. Written into the run and used again on resume, since most of it
// can change a result's bits (design, invariant 8).
#pragma once

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

enum class MemoryFormat { kContiguous, kChannelsLast };

// "contiguous", "channels_last"
std::string_view MemoryFormatName(MemoryFormat format);
Result<MemoryFormat> ParseMemoryFormat(std::string_view name);

// What convolutions and linear layers compute in (precision.h).
enum class Precision { kFloat32, kBFloat16, kFloat16 };

// "float32", "bf16", "fp16"
std::string_view PrecisionName(Precision precision);
Result<Precision> ParsePrecision(std::string_view name);

struct Choices {
  MemoryFormat memory_format = MemoryFormat::kContiguous;
  Precision precision = Precision::kFloat32;
  int threads = 1;             // that compute; those that feed do not count
  std::string device = "cpu";  // which `device: auto` found: "cpu", "cuda:0"
  bool cudnn_benchmark = false;
  bool graph = false;            // train.graph: auto records passes (graphed_pass.h)
  bool flush_denormals = false;  // on all threads that compute (device/torch_denormals.h)
  // These change no bits.
  int feed_threads = 0;            // that run the input pipeline; 0: as train.feed_threads says
  int device_prefetch = 0;         // batches that are copied to the device ahead of their step
  bool normalize_on_host = false;  // where an accelerator could, and train.normalize_on is auto

  bool operator==(const Choices&) const = default;
  std::string ToString() const;  // "channels_last, bf16, 2 threads, 1 feeding, 2 batches ahead"
  Json ToJson() const;
  static Result<Choices> FromJson(const Json& json);
};

}  // namespace stoker
