// A line at the bottom of a terminal that is drawn again and again, with plain lines above it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "stoker/base/clock.h"

namespace stoker {

// "=====>    " of `width` columns for a share of 0 to 1.
std::string BarText(double share, size_t width);

// One thread at a time. The line is on standard error; nothing of it is left when it is destroyed.
class StatusLine {
 public:
  // `shown`: false makes every call but PrintAbove do nothing, as suits what is no terminal.
  explicit StatusLine(bool shown) : shown_(shown) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { Clear(); }

  bool shown() const { return shown_; }

  // True where the last drawing is long enough ago for another to be seen.
  bool IsDue() const;

  // Replaces the line. What is longer than the terminal is wide is cut off.
  void Draw(std::string_view text);

  // Writes a line to `stream` for good and takes the drawn one away until the next Draw.
  void PrintAbove(std::FILE* stream, std::string_view line);

  void Clear();

 private:
  const bool shown_;
  bool drawn_ = false;
  int64_t drawn_ns_ = 0;
};

}  // namespace stoker
