#include "stoker/train/plan/channel_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/data/transforms/layout.h"

namespace stoker {
namespace {

// Grey, RGB, RGBA. Two channels are as rare in files as two columns.
bool IsUsualChannelCount(int64_t extent) { return extent == 1 || extent == 3 || extent == 4; }

}  // namespace

std::optional<ChannelDoubt> DoubtChannels(const Dataset& batches, std::string_view name) {
  const auto field = std::ranges::find(batches.spec().fields, name, &Field::name);
  if (field == batches.spec().fields.end() || field->shape.size() != 4) return std::nullopt;
  if (HasChannelsLast(batches, name)) return std::nullopt;
  const int64_t first = field->shape[1], second = field->shape[2], last = field->shape[3];
  if (!IsUsualChannelCount(last) || last >= first || last >= second || IsUsualChannelCount(first)) {
    return std::nullopt;
  }
  return ChannelDoubt{
      .problem =
          fmt::format("its samples of {} x {} x {} are taken as {} channels of {} x {} pixels",
                      first, second, last, first, second, last),
      .advice = fmt::format(
          "where their channels stand last, put `layout: {{to: channels_first, field: {}}}` after "
          "the source, in data.train and data.eval",
          name)};
}

}  // namespace stoker
