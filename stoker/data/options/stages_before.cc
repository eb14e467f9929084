#include "stoker/data/options/stages_before.h"

#include <fmt/format.h>

#include <cstddef>

#include "stoker/io/checksum.h"

namespace stoker {
namespace {

thread_local const StagesBefore* innermost = nullptr;

// Options may list thousands of files.
std::string Shortened(const std::string& line) {
  constexpr size_t kLongest = 1000;
  if (line.size() <= kLongest) return line;
  return fmt::format("{}... {} characters with checksum {:08x}", line.substr(0, kLongest),
                     line.size(), Crc32c(line));
}

}  // namespace

StagesBefore::StagesBefore(std::span<const ConfigNode> entries)
    : entries_(entries), around_(innermost) {
  innermost = this;
}

StagesBefore::~StagesBefore() { innermost = around_; }

std::string StagesBefore::Lines() {
  std::string lines;
  if (innermost == nullptr) return lines;
  for (const ConfigNode& entry : innermost->entries_) lines += Shortened(ToYamlLine(entry)) + "\n";
  return lines;
}

}  // namespace stoker
