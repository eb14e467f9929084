#include "stoker/io/remote/remote_options.h"

#include <charconv>
#include <mutex>
#include <string_view>
#include <utility>

namespace stoker {
namespace {

struct Shared {
  std::mutex mutex;
  std::shared_ptr<const RemoteOptions> options = std::make_shared<const RemoteOptions>();
};

Shared& SharedOptions() {
  static Shared shared;
  return shared;
}

struct Unit {
  std::string_view name;
  int64_t bytes;
};
// From the largest to the smallest.
constexpr Unit kUnits[] = {{"TiB", int64_t{1} << 40}, {"TB", 1'000'000'000'000},
                           {"GiB", int64_t{1} << 30}, {"GB", 1'000'000'000},
                           {"MiB", int64_t{1} << 20}, {"MB", 1'000'000},
                           {"KiB", int64_t{1} << 10}, {"kB", 1'000}};

Status NotASize(const std::string& text) {
  return InvalidArgument("'{}' is not a size in bytes; write it like 50GB, 32MiB or 1000000", text);
}

}  // namespace

std::shared_ptr<const RemoteOptions> CurrentRemoteOptions() {
  Shared& shared = SharedOptions();
  const std::lock_guard lock(shared.mutex);
  return shared.options;
}

void SetRemoteOptions(RemoteOptions options) {
  auto made = std::make_shared<const RemoteOptions>(std::move(options));
  Shared& shared = SharedOptions();
  const std::lock_guard lock(shared.mutex);
  shared.options = std::move(made);
}

Result<int64_t> ParseByteSize(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number >= 0)) return NotASize(text);
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double scale = unit.empty() || unit == "B" ? 1 : 0;
  for (const Unit& known : kUnits) {
    if (unit == known.name || unit == known.name.substr(0, known.name.size() - 1))
      scale = static_cast<double>(known.bytes);
  }
  constexpr double kMost = 9e18;
  if (scale == 0 || !(number * scale < kMost)) return NotASize(text);
  return static_cast<int64_t>(number * scale);
}

std::string ByteSizeText(int64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0)
      return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  }
  return std::to_string(bytes);
}

}  // namespace stoker
