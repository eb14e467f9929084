#include "stoker/formats/tensorboard/summary.h"

namespace stoker {
namespace {

// Field numbers of the messages; README.md.
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr uint32_t kValue = 1;
constexpr uint32_t kTag = 1, kScalar = 2, kImage = 4, kHistogram = 5, kTensor = 8, kMetadata = 9;
constexpr uint32_t kPlugin = 1, kPluginName = 1, kPluginContent = 2, kDataClass = 4;
constexpr uint64_t kTensorClass = 2, kStringType = 7, kSessionStart = 1;

WireWriter EventAt(double wall_time, int64_t step) {
  WireWriter event;
  event.Double(kWallTime, wall_time);
  if (step != 0) event.Int(kStep, step);
  return event;
}

WireWriter MetadataFor(std::string_view plugin, std::string_view content) {
  WireWriter data;
  data.Bytes(kPluginName, plugin);
  if (!content.empty()) data.Bytes(kPluginContent, content);
  return WireWriter().Message(kPlugin, data);
}

// google.protobuf.Value.
WireWriter ValueOf(const HyperParameter& hparam) {
  constexpr uint32_t kNumber = 2, kText = 3, kBool = 4;
  WireWriter value;
  if (const auto* truth = std::get_if<bool>(&hparam.value)) value.Varint(kBool, *truth ? 1 : 0);
  if (const auto* number = std::get_if<double>(&hparam.value)) value.Double(kNumber, *number);
  if (const auto* text = std::get_if<std::string>(&hparam.value)) value.Bytes(kText, *text);
  return value;
}

uint64_t TypeOf(const HyperParameter& hparam) {
  constexpr uint64_t kText = 1, kBool = 2, kNumber = 3;
  if (std::holds_alternative<bool>(hparam.value)) return kBool;
  return std::holds_alternative<double>(hparam.value) ? kNumber : kText;
}

}  // namespace

void Summary::Add(std::string_view tag, const WireWriter& rest) {
  values_.Bytes(kValue, WireWriter().Bytes(kTag, tag).bytes() + rest.bytes());
}

Summary& Summary::AddScalar(std::string_view tag, double value) {
  Add(tag, WireWriter().Float(kScalar, static_cast<float>(value)));
  return *this;
}

Summary& Summary::AddHistogram(std::string_view tag, const Histogram& histogram) {
  WireWriter message;
  message.Double(1, histogram.min)
      .Double(2, histogram.max)
      .Double(3, histogram.num)
      .Double(4, histogram.sum)
      .Double(5, histogram.sum_squares)
      .PackedDoubles(6, histogram.limits)
      .PackedDoubles(7, histogram.counts);
  Add(tag, WireWriter().Message(kHistogram, message));
  return *this;
}

Summary& Summary::AddImage(std::string_view tag, int64_t height, int64_t width, int64_t channels,
                           std::string_view png) {
  WireWriter image;
  image.Int(1, height).Int(2, width).Int(3, channels).Bytes(4, png);
  Add(tag, WireWriter().Message(kImage, image));
  return *this;
}

Summary& Summary::AddText(std::string_view tag, std::string_view text) {
  const WireWriter shape = WireWriter().Message(2, WireWriter().Int(1, 1));  // one text
  const WireWriter tensor = WireWriter().Varint(1, kStringType).Message(2, shape).Bytes(8, text);
  WireWriter metadata = MetadataFor("text", "");
  metadata.Varint(kDataClass, kTensorClass);
  Add(tag, WireWriter().Message(kTensor, tensor).Message(kMetadata, metadata));
  return *this;
}

void Summary::AddForPlugin(std::string_view tag, const WireWriter& message) {
  Add(tag, WireWriter().Message(kMetadata, MetadataFor("hparams", message.bytes())));
}

Summary& Summary::AddExperiment(std::span<const HyperParameter> hparams,
                                std::span<const std::string> metric_tags) {
  WireWriter experiment;
  for (const HyperParameter& hparam : hparams) {
    experiment.Message(4, WireWriter().Bytes(1, hparam.name).Varint(4, TypeOf(hparam)));
  }
  for (const std::string& tag : metric_tags) {
    experiment.Message(5, WireWriter().Message(1, WireWriter().Bytes(2, tag)));
  }
  AddForPlugin("_hparams_/experiment", WireWriter().Message(2, experiment));
  return *this;
}

Summary& Summary::AddSessionStart(std::span<const HyperParameter> hparams, double wall_time) {
  WireWriter start;
  for (const HyperParameter& hparam : hparams) {
    start.Message(1, WireWriter().Bytes(1, hparam.name).Message(2, ValueOf(hparam)));
  }
  start.Double(5, wall_time);
  AddForPlugin("_hparams_/session_start_info", WireWriter().Message(3, start));
  return *this;
}

Summary& Summary::AddSessionEnd(SessionStatus status, double wall_time) {
  WireWriter end;
  end.Varint(1, static_cast<uint64_t>(status)).Double(2, wall_time);
  AddForPlugin("_hparams_/session_end_info", WireWriter().Message(4, end));
  return *this;
}

std::string Summary::Event(double wall_time, int64_t step) const {
  return EventAt(wall_time, step).Message(kSummary, values_).bytes();
}

std::string FileVersionEvent(double wall_time) {
  return EventAt(wall_time, 0).Bytes(kFileVersion, "brain.Event:2").bytes();
}

std::string RestartEvent(double wall_time, int64_t step) {
  return EventAt(wall_time, step)
      .Message(kSessionLog, WireWriter().Varint(1, kSessionStart))
      .bytes();
}

}  // namespace stoker
