#include "stoker/tools/formats/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kMostLines = 20;  // of damages, for people

}  // namespace

std::string Verification::ToText() const {
  if (!failure.empty())
    return fmt::format("{}: not read\n  {}\n", Printable(file), Printable(failure));
  if (!unchecked.empty())
    return fmt::format("{}: not checked: {}\n", Printable(file), Printable(unchecked));
  std::string text = fmt::format("{}: {}", Printable(file), whole() ? "whole" : "damaged");
  if (!format.empty()) text += ", " + format;
  if (count) text += ", " + CountText(*count, "record");
  if (pictures) text += fmt::format("; {} decoded", CountText(*pictures, "picture"));
  if (pictures_too_large > 0)
    text += fmt::format(", {} too large to be decoded", pictures_too_large);
  if (whole() && !checks.empty()) text += "; checked: " + checks;
  text += '\n';
  if (!error.empty()) text += fmt::format("  {}\n", Printable(error));
  for (size_t i = 0; i < std::min(damages.size(), kMostLines); ++i) {
    const Damage& damage = damages[i];
    text += damage.bytes == 1
                ? fmt::format("  byte {}", damage.begin)
                : fmt::format("  bytes {} to {}", damage.begin, damage.begin + damage.bytes - 1);
    text += ": " + damage.what;
    if (!damage.records) {
      text += fmt::format("; {} before\n", CountText(damage.first, "record"));
    } else if (*damage.records == 1) {
      text += fmt::format("; record {}\n", damage.first);
    } else if (*damage.records > 1) {
      text += fmt::format("; part of records {} to {}\n", damage.first,
                          damage.first + *damage.records - 1);
    } else {
      text += "; in the header\n";
    }
  }
  if (damages.size() > kMostLines)
    text += fmt::format("  and {} more; --json lists all\n", damages.size() - kMostLines);
  return text;
}

Json Verification::ToJson() const {
  Json list = Json::array();
  for (const Damage& damage : damages) {
    Json entry{{"begin", damage.begin}, {"bytes", damage.bytes}, {"what", damage.what}};
    entry[damage.records ? "first_record" : "records_before"] = damage.first;
    if (damage.records) entry["records"] = *damage.records;
    list.push_back(std::move(entry));
  }
  Json json{{"file", file}, {"format", format}, {"whole", whole()}, {"damages", std::move(list)}};
  if (count) json["count"] = *count;
  if (pictures) json["pictures"] = *pictures;
  if (pictures_too_large > 0) json["pictures_too_large"] = pictures_too_large;
  if (!error.empty()) json["error"] = error;
  if (!checks.empty()) json["checked"] = checks;
  if (!unchecked.empty()) json["not_checked"] = unchecked;
  if (!failure.empty()) json["not_read"] = failure;
  return json;
}

}  // namespace stoker
