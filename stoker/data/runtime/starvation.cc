#include "stoker/data/runtime/starvation.h"

#include <fmt/format.h>

namespace stoker {

std::string Starvation::Sentence() const {
  if (stage.empty()) {
    return fmt::format(
        "{:.0f}% of the time went into waiting for data, which the work of no stage "
        "explains ({})",
        100 * waited, why);
  }
  return fmt::format("{:.0f}% of the time went into waiting for data, most of all for `{}` ({})",
                     100 * waited, stage, why);
}

std::string Starvation::Brief() const {
  return fmt::format("waits {:.0f}% for {}", 100 * waited,
                     stage.empty() ? "data" : fmt::format("`{}`", stage));
}

Json Starvation::ToJson() const {
  return {{"waited", waited}, {"stage", stage}, {"why", why}, {"try", advice}};
}

std::optional<Starvation> Starvation::FromJson(const Json& json) {
  const auto is_text = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  if (!json.is_object() || !json.value("waited", Json()).is_number() || !is_text("stage") ||
      !is_text("why") || !is_text("try")) {
    return std::nullopt;
  }
  return Starvation{
      .waited = json["waited"], .stage = json["stage"], .why = json["why"], .advice = json["try"]};
}

}  // namespace stoker
