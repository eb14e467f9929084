#include "stoker/tools/trainer/data_check_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kBarWidth = 24;
constexpr double kLineSeconds = 10;  // without a bar

std::string TextOf(const CheckProgress& progress) {
  const double share = progress.total == 0 ? 1
                                           : std::min(1.0, static_cast<double>(progress.bytes) /
                                                               static_cast<double>(progress.total));
  return fmt::format("checking data [{}] {:3.0f}%  {} of {}", BarText(share, kBarWidth),
                     100 * share, ByteText(progress.bytes), ByteText(progress.total));
}

}  // namespace

void DataCheckProgress::On(const CheckProgress& progress) {
  if (quiet_) return;
  if (status_.IsDue()) {
    status_.Draw(TextOf(progress));
  } else if (!status_.shown() && since_line_.ElapsedSeconds() >= kLineSeconds) {
    status_.PrintAbove(stderr, TextOf(progress));
    since_line_ = Stopwatch();
  }
}

}  // namespace stoker
