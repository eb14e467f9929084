#include "stoker/train/step/out_of_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include "stoker/base/ledger.h"

namespace stoker {
namespace {

// The number that stands at `text`, with its unit: "2.50 GiB", "512.00 MiB", "1048576 bytes".
std::optional<uint64_t> SizeAt(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  for (size_t i = 0; i < std::size(kUnits); ++i) {
    if (unit.starts_with(kUnits[i])) {
      return static_cast<uint64_t>(std::ldexp(number, static_cast<int>(10 * i)));
    }
  }
  return std::nullopt;
}

// The size after the first `words`, or the last one before them.
std::optional<uint64_t> SizeBehind(std::string_view message, std::string_view words) {
  const size_t found = message.find(words);
  if (found == std::string_view::npos) return std::nullopt;
  return SizeAt(message.substr(found + words.size()));
}

std::optional<uint64_t> SizeInFrontOf(std::string_view message, std::string_view words) {
  const size_t found = message.find(words);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view before = message.substr(0, found);  // "... of which 1.20 GiB"
  const size_t unit = before.rfind(' ');
  if (unit == std::string_view::npos || unit == 0) return std::nullopt;
  const size_t number = before.rfind(' ', unit - 1);
  return SizeAt(before.substr(number == std::string_view::npos ? 0 : number + 1));
}

std::string Text(uint64_t bytes) {
  constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
  const auto size = static_cast<double>(bytes);
  if (size < kMiB) return fmt::format("{:.1f} KiB", size / 1024);
  return size < kGiB ? fmt::format("{:.1f} MiB", size / kMiB)
                     : fmt::format("{:.2f} GiB", size / kGiB);
}

}  // namespace

std::optional<MemoryShortage> ParseShortage(std::string_view message) {
  std::optional<uint64_t> wanted = SizeBehind(message, "Tried to allocate ");
  if (!wanted) wanted = SizeBehind(message, "you tried to allocate ");
  if (!wanted) return std::nullopt;
  return MemoryShortage{.wanted = *wanted,
                        .free = SizeInFrontOf(message, " is free"),
                        .in_use = SizeBehind(message, "this process has ")};
}

std::optional<int64_t> BatchThatFits(const MemoryShortage& shortage, int64_t batch,
                                     uint64_t fixed) {
  if (!shortage.free || !shortage.in_use) return std::nullopt;
  const auto there_is = static_cast<double>(*shortage.free) + static_cast<double>(*shortage.in_use);
  const auto needed = static_cast<double>(*shortage.in_use) + static_cast<double>(shortage.wanted);
  const auto kept = static_cast<double>(fixed);
  if (there_is <= kept || needed <= kept) return 0;
  const double share = (there_is - kept) / (needed - kept);
  // It did not fit, whatever the figures say.
  const auto fits = std::min(static_cast<int64_t>(static_cast<double>(batch) * share), batch - 1);
  return fits >= 8 ? fits / 8 * 8 : fits;
}

HostMemory HostMemoryNow() {
  HostMemory host{.limit = static_cast<uint64_t>(MemoryLimitBytes())};
  std::ifstream statm("/proc/self/statm");
  uint64_t mapped = 0, resident = 0;
  if (statm >> mapped >> resident) {
    host.in_use = resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return host;
}

MemoryShortage CompleteOnHost(MemoryShortage shortage, const HostMemory& host) {
  if (shortage.free || shortage.in_use) return shortage;
  const uint64_t free = host.limit - std::min(host.limit, host.in_use);
  if (free >= shortage.wanted) return shortage;
  shortage.free = free;
  shortage.in_use = host.in_use;
  return shortage;
}

Status ExplainOutOfMemory(const Status& failure, int64_t batch, uint64_t fixed,
                          const HostMemory& host) {
  std::optional<MemoryShortage> shortage = ParseShortage(failure.message());
  if (shortage) shortage = CompleteOnHost(*shortage, host);
  std::string text = fmt::format("out of memory with a batch of {} samples", batch);
  if (shortage) text += fmt::format(": {} more were wanted", Text(shortage->wanted));
  if (shortage && shortage->free) text += fmt::format(", {} were free", Text(*shortage->free));
  const std::optional<int64_t> fits =
      shortage ? BatchThatFits(*shortage, batch, fixed) : std::nullopt;
  if (fits && *fits > 0) {
    text += fmt::format("; a batch of at most about {} would fit", *fits);
  } else if (fits) {
    text += "; not even one sample fits beside the weights and the optimizer's state";
  } else {
    text += fmt::format("; try a batch of {}", std::max<int64_t>(batch / 2, 1));
  }
  text += ". With accumulate: N, N smaller batches make one step. (" + failure.message() + ")";
  return {failure.code(), text};
}

}  // namespace stoker
