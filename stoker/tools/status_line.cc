#include "stoker/tools/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "stoker/tools/terminal.h"

namespace stoker {
namespace {

constexpr int64_t kBetweenDrawingsNs = 100'000'000;
// ECMA-48: to the first column, then erase to the end of the line.
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

std::string BarText(double share, size_t width) {
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const size_t done = static_cast<size_t>(std::floor(filled));
  std::string bar(done, '=');
  if (done < width) bar += '>';
  bar.resize(width, ' ');
  return bar;
}

bool StatusLine::IsDue() const { return shown_ && NowNs() - drawn_ns_ >= kBetweenDrawingsNs; }

void StatusLine::Draw(std::string_view text) {
  if (!shown_) return;
  // One column is left free: some terminals wrap when the last one is written to.
  const std::string_view visible = text.substr(0, TerminalWidth(STDERR_FILENO) - 1);
  fmt::print(stderr, "{}{}", kEraseLine, visible);
  std::fflush(stderr);
  drawn_ = true;
  drawn_ns_ = NowNs();
}

void StatusLine::PrintAbove(std::FILE* stream, std::string_view line) {
  Clear();
  fmt::print(stream, "{}\n", line);
  std::fflush(stream);
}

void StatusLine::Clear() {
  if (!drawn_) return;
  fmt::print(stderr, "{}", kEraseLine);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace stoker
