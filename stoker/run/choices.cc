#include "stoker/run/choices.h"

namespace stoker {
namespace {

constexpr std::string_view kContiguousName = "contiguous";
constexpr std::string_view kChannelsLastName = "channels_last";

// Runs of before there was a choice have none, of this kind and the next.
Status ReadFlag(const Json& json, const char* key, bool& flag) {
  const auto found = json.find(key);
  if (found == json.end()) return OkStatus();
  if (!found->is_boolean()) {
    return DataLoss("{} must be true or false, here is {}", key, found->dump());
  }
  flag = found->get<bool>();
  return OkStatus();
}

Status ReadNumber(const Json& json, const char* key, int64_t most, int& number) {
  const auto found = json.find(key);
  if (found == json.end()) return OkStatus();
  if (!found->is_number_integer() || found->get<int64_t>() < 0 || found->get<int64_t>() > most) {
    return DataLoss("{} must be 0 to {}, here is {}", key, most, found->dump());
  }
  number = found->get<int>();
  return OkStatus();
}

}  // namespace

std::string_view MemoryFormatName(MemoryFormat format) {
  return format == MemoryFormat::kChannelsLast ? kChannelsLastName : kContiguousName;
}

Result<MemoryFormat> ParseMemoryFormat(std::string_view name) {
  if (name == kContiguousName) return MemoryFormat::kContiguous;
  if (name == kChannelsLastName) return MemoryFormat::kChannelsLast;
  return InvalidArgument("memory format '{}' is unknown; it must be {} or {}", name,
                         kContiguousName, kChannelsLastName);
}

std::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFloat32: return "float32";
    case Precision::kBFloat16: return "bf16";
    case Precision::kFloat16: return "fp16";
  }
  return "float32";
}

Result<Precision> ParsePrecision(std::string_view name) {
  for (const Precision precision :
       {Precision::kFloat32, Precision::kBFloat16, Precision::kFloat16}) {
    if (name == PrecisionName(precision)) return precision;
  }
  return InvalidArgument("precision '{}' is unknown; it must be float32, bf16 or fp16", name);
}

std::string Choices::ToString() const {
  std::string text = fmt::format("{}, {}, {} thread{}", MemoryFormatName(memory_format),
                                 PrecisionName(precision), threads, threads == 1 ? "" : "s");
  if (feed_threads > 0) text += fmt::format(", {} feeding", feed_threads);
  if (device_prefetch > 0) text += fmt::format(", {} batches ahead", device_prefetch);
  if (cudnn_benchmark) text += ", cuDNN benchmark";
  if (graph) text += ", recorded passes";
  if (!flush_denormals) text += ", denormals kept";
  if (normalize_on_host) text += ", normalised on the host";
  return text;
}

Json Choices::ToJson() const {
  return {{"memory_format", MemoryFormatName(memory_format)},
          {"precision", PrecisionName(precision)},
          {"threads", threads},
          {"device", device},
          {"cudnn_benchmark", cudnn_benchmark},
          {"graph", graph},
          {"flush_denormals", flush_denormals},
          {"feed_threads", feed_threads},
          {"device_prefetch", device_prefetch},
          {"normalize_on_host", normalize_on_host}};
}

Result<Choices> Choices::FromJson(const Json& json) {
  const auto format = json.find("memory_format");
  const auto threads = json.find("threads");
  const auto device = json.find("device");
  if (format == json.end() || !format->is_string() || threads == json.end() ||
      !threads->is_number_integer() || threads->get<int64_t>() < 1 ||
      threads->get<int64_t>() > 4096 || device == json.end() || !device->is_string()) {
    return DataLoss(
        "choices must have a memory_format, a number of threads and a device, here is {}; delete "
        "the file, and the resumed run chooses again",
        json.dump());
  }
  Choices choices;
  STOKER_ASSIGN_OR_RETURN(choices.memory_format, ParseMemoryFormat(format->get<std::string>()));
  // Runs of before there was a choice have none.
  if (const auto precision = json.find("precision"); precision != json.end()) {
    STOKER_ASSIGN_OR_RETURN(
        choices.precision,
        ParsePrecision(precision->is_string() ? precision->get<std::string>() : precision->dump()));
  }
  choices.threads = threads->get<int>();
  choices.device = device->get<std::string>();
  STOKER_RETURN_IF_ERROR(ReadFlag(json, "cudnn_benchmark", choices.cudnn_benchmark));
  STOKER_RETURN_IF_ERROR(ReadFlag(json, "graph", choices.graph));
  STOKER_RETURN_IF_ERROR(ReadFlag(json, "flush_denormals", choices.flush_denormals));
  STOKER_RETURN_IF_ERROR(ReadNumber(json, "feed_threads", 4096, choices.feed_threads));
  STOKER_RETURN_IF_ERROR(ReadNumber(json, "device_prefetch", 64, choices.device_prefetch));
  STOKER_RETURN_IF_ERROR(ReadFlag(json, "normalize_on_host", choices.normalize_on_host));
  return choices;
}

}  // namespace stoker
