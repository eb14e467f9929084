// A line at the bottom of a terminal that is redrawn, with plain lines above it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "stoker/base/clock.h"

namespace stoker {

// "=====>    " of `width` columns for a share of 0 to 1.
std::string BarText(double share, size_t width);

// One thread at a time. The line is on standard error; the destructor erases it.
class StatusLine {
 public:
  // `shown`: if false, every call except PrintAbove does nothing; for streams other than terminals.
  explicit StatusLine(bool shown) : shown_(shown) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { Clear(); }

  bool shown() const { return shown_; }

  // Returns true if enough time has passed since the last drawing.
  bool IsDue() const;

  // Replaces the line, truncated to the width of the terminal.
  void Draw(std::string_view text);

  // Writes a permanent line to `stream` and erases the drawn one until the next Draw.
  void PrintAbove(std::FILE* stream, std::string_view line);

  void Clear();

 private:
  const bool shown_;
  bool drawn_ = false;
  int64_t drawn_ns_ = 0;
};

}  // namespace stoker
