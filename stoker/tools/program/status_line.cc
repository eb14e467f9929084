#include "stoker/tools/program/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/printable.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/terminal.h"

namespace stoker {
namespace {

constexpr int64_t kBetweenDrawingsNs = 100'000'000;

// At most so many bytes of UTF-8 text; a character that does not fit in whole is left out.
std::string FirstColumns(std::string text, size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [&](size_t at) { return (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80; };
  while (most > 0 && continues(most)) --most;
  text.resize(most);
  return text;
}

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
  const std::string visible = FirstColumns(Printable(text), TerminalWidth(STDERR_FILENO) - 1);
  PrintProgress(stderr, fmt::format("{}{}", kEraseLine, visible));
  drawn_ = true;
  drawn_ns_ = NowNs();
}

void StatusLine::PrintAbove(std::FILE* stream, std::string_view line) {
  Clear();
  PrintProgress(stream, fmt::format("{}\n", line));
}

void StatusLine::Clear() {
  if (!drawn_) return;
  PrintProgress(stderr, kEraseLine);
  drawn_ = false;
}

}  // namespace stoker
