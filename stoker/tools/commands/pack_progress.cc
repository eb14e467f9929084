#include "stoker/tools/commands/pack_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kBarWidth = 24;
constexpr double kLineSeconds = 10;  // without a bar
constexpr int64_t kLookEvery = 64;   // elements: the clock is not asked for each

}  // namespace

double PackProgressLine::elements_per_s() const {
  const double seconds = since_start_.ElapsedSeconds();
  return seconds > 0 ? static_cast<double>(last_.elements - last_.kept) / seconds : 0.0;
}

std::string PackProgressLine::Text() const {
  const double rate = elements_per_s();
  std::string text = fmt::format(
      "{} elements  {}/s", WithThousands(static_cast<double>(last_.elements)), WithThousands(rate));
  if (files_ > 1)
    text = fmt::format("file {}/{}  {}", std::min(last_.file + 1, files_), files_, text);
  if (last_.verifying) return text + "  verifying";
  if (last_.total <= 0) return text;
  const double share = static_cast<double>(last_.elements) / static_cast<double>(last_.total);
  text = fmt::format("[{}] {:3.0f}%  {}", BarText(share, kBarWidth), 100 * share, text);
  if (rate <= 0) return text;
  return text + "  eta " + DurationText(static_cast<double>(last_.total - last_.elements) / rate);
}

void PackProgressLine::On(const PackProgress& progress) {
  last_ = progress;
  if (progress.elements % kLookEvery != 0) return;
  if (status_.IsDue()) {
    status_.Draw(Text());
  } else if (!status_.shown() && since_line_.ElapsedSeconds() >= kLineSeconds) {
    status_.PrintAbove(stderr, Text());
    since_line_ = Stopwatch();
  }
}

}  // namespace stoker
