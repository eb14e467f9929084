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

Json Choices::ToJson() const {
  return {
      {"memory_format", MemoryFormatName(memory_format)}, {"threads", threads}, {"device", device}};
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
  choices.threads = threads->get<int>();
  choices.device = device->get<std::string>();
  return choices;
}

}  // namespace stoker
