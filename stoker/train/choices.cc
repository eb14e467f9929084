#include "stoker/train/choices.h"

namespace stoker {
namespace {

constexpr std::string_view kContiguousName = "contiguous";
constexpr std::string_view kChannelsLastName = "channels_last";

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
  return fmt::format("{}, {}, {} threads", MemoryFormatName(memory_format),
                     PrecisionName(precision), threads);
}

Json Choices::ToJson() const {
  return {{"memory_format", MemoryFormatName(memory_format)},
          {"precision", PrecisionName(precision)},
          {"threads", threads},
          {"device", device}};
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
  return choices;
}

}  // namespace stoker
