#include "stoker/base/problems.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace stoker {
namespace {

// Stands between the messages. U+FDD0 is a noncharacter: Unicode keeps it for such internal use,
// and no text that is exchanged has one.
constexpr std::string_view kBetween = "\xef\xb7\x90";

}  // namespace

void Problems::Add(const Status& status) {
  for (std::string& message : ProblemsIn(status)) {
    const bool known = std::ranges::any_of(
        statuses_, [&](const Status& earlier) { return earlier.message() == message; });
    if (!known) statuses_.emplace_back(status.code(), std::move(message));
  }
}

Status Problems::ToStatus() const {
  if (statuses_.empty()) return OkStatus();
  std::vector<std::string> messages;
  for (const Status& status : statuses_) messages.push_back(status.message());
  return {statuses_.front().code(), fmt::format("{}", fmt::join(messages, kBetween))};
}

Status WithPrefix(std::string_view prefix, const Status& status) {
  Problems prefixed;
  for (const std::string& message : ProblemsIn(status)) {
    prefixed.Add({status.code(), fmt::format("{}{}", prefix, message)});
  }
  return prefixed.ToStatus();
}

std::vector<std::string> ProblemsIn(const Status& status) {
  std::vector<std::string> messages;
  if (status.ok()) return messages;
  std::string_view rest = status.message();
  for (size_t end = rest.find(kBetween); end != std::string_view::npos; end = rest.find(kBetween)) {
    messages.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + kBetween.size());
  }
  messages.emplace_back(rest);
  return messages;
}

}  // namespace stoker
