#include "stoker/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "stoker/base/config_scalar.h"
#include "stoker/base/foreign_names.h"
#include "stoker/base/path_check.h"
#include "stoker/base/problems.h"
#include "stoker/base/remote_path.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

using Kind = ConfigNode::Kind;

constexpr std::string_view kSwitchType = "true or false";

Status NotA(const ConfigNode& value, std::string_view type) {
  if (value.kind == Kind::kNull)
    return InvalidArgument("there is no value; give {} or leave the option out", type);
  if (value.kind != Kind::kScalar) return InvalidArgument("{} is not {}", value.KindName(), type);
  const bool is_meant =
      type == kSwitchType ? LooksLikeBool(value.scalar) : LooksLikeNumber(value.scalar);
  if (value.quoted && is_meant)
    return InvalidArgument("'{}' in quotes is text, not {}; take the quotes away",
                           ShortText(value.scalar), type);
  return InvalidArgument("'{}' is not {}", ShortText(value.scalar), type);
}

// The text of an unquoted scalar; from_chars takes no plus sign, so it goes.
std::optional<std::string_view> NumberText(const ConfigNode& value) {
  if (value.kind != Kind::kScalar || value.quoted || !LooksLikeNumber(value.scalar))
    return std::nullopt;
  std::string_view text = value.scalar;
  if (text.starts_with('+')) text.remove_prefix(1);
  return text;
}

template <typename T>
Status ReadList(const ConfigNode& value, std::vector<T>& out) {
  if (value.kind != Kind::kList) {  // a bare value is a list of one
    T item{};
    STOKER_RETURN_IF_ERROR(ReadOption(value, item));
    out = {std::move(item)};
    return OkStatus();
  }
  std::vector<T> read;
  for (const ConfigNode& item : value.items) {
    T converted{};
    if (const Status status = ReadOption(item, converted); !status.ok()) {
      return InvalidArgument("item {}: {}", read.size() + 1, status.message());
    }
    read.push_back(std::move(converted));
  }
  out = std::move(read);
  return OkStatus();
}

template <typename T>
ConfigNode WriteList(const std::vector<T>& values) {
  std::vector<ConfigNode> items;
  for (const T& value : values) items.push_back(WriteOption(value));
  return ConfigNode::List(std::move(items));
}

constexpr std::string_view kAuto = "auto";

template <typename T>
Status ReadOptional(const ConfigNode& value, std::optional<T>& out) {
  if (value.kind == Kind::kScalar && value.scalar == kAuto) {
    out.reset();
    return OkStatus();
  }
  T read{};
  if (const Status status = ReadOption(value, read); !status.ok()) {
    // Before what to do, which follows the value.
    std::string text = status.message();
    const size_t value_end = text.rfind('\'');
    text.insert(std::min(text.find(';', value_end == text.npos ? 0 : value_end), text.size()),
                ", nor auto");
    return InvalidArgument("{}", text);
  }
  out = read;
  return OkStatus();
}

template <typename T>
ConfigNode WriteOptional(const std::optional<T>& value) {
  return value ? WriteOption(*value) : ConfigNode::Scalar(std::string(kAuto));
}

bool Contains(const OptionRange& range, double value) {
  return (range.low_open ? value > range.low : value >= range.low) && value <= range.high;
}

std::string MustBe(const OptionRange& range) {
  const bool two_sided = std::isfinite(range.low) && std::isfinite(range.high);
  return fmt::format("must {} {}", two_sided ? "lie in" : "be", RangeText(range));
}

template <typename T>
Status CheckOne(T value, const OptionRange& range) {
  if (Contains(range, static_cast<double>(value))) return OkStatus();
  return InvalidArgument("is {}; it {}", value, MustBe(range));
}

template <typename T>
Status CheckEach(const std::vector<T>& values, const OptionRange& range) {
  for (const T value : values) {
    if (!Contains(range, static_cast<double>(value))) {
      return InvalidArgument("has {} among its values; each {}", value, MustBe(range));
    }
  }
  return OkStatus();
}

std::string Join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> NamesOf(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.name);
  return names;
}

// What the older YAML 1.1 has beside true and false for one of the words on and off.
std::optional<bool> ReadOldBool(std::string_view text) {
  constexpr std::string_view kOn[] = {"on", "On", "ON", "yes", "Yes", "YES"};
  constexpr std::string_view kOff[] = {"off", "Off", "OFF", "no", "No", "NO"};
  if (LooksLikeBool(text)) return IsTrue(text);
  if (std::ranges::find(kOn, text) != std::end(kOn)) return true;
  if (std::ranges::find(kOff, text) != std::end(kOff)) return false;
  return std::nullopt;
}

// Many programs that write YAML turn the words on and off, or yes and no, into true and false, or
// another of the words that YAML 1.1 takes for them.
bool TakeAsWord(const Option& option, const ConfigNode& value, void* object) {
  if (value.kind != Kind::kScalar || value.quoted) return false;
  const std::optional<bool> on = ReadOldBool(value.scalar);
  if (!on) return false;
  const auto takes = [&](const char* word) {
    return option.set(object, ConfigNode::Scalar(word)).ok() && option.check(object).ok();
  };
  return takes(*on ? "on" : "off") || takes(*on ? "yes" : "no");
}

// "recipe.yaml:3:9: csv.fields: ...", by the place of the value, or by that of what is wrong in it
// where the message begins with one.
Status InOption(const ConfigLocation& location, std::string_view option, const Status& status) {
  Problems problems;
  for (const std::string& message : ProblemsIn(status)) {
    std::string_view rest = message;
    std::string place = location.ToString();
    const size_t end = message.find(": ");
    if (location.file != nullptr && end != std::string::npos &&
        message.starts_with(*location.file + (location.line == 0 ? ": " : ":"))) {
      place = message.substr(0, end);
      rest.remove_prefix(end + 2);
    }
    problems.Add({status.code(), fmt::format("{}: {}: {}", place, option, rest)});
  }
  return problems.ToStatus();
}

// Converts and checks; the message begins with the place.
Status SetOption(const Option& option, std::string_view what, const ConfigNode& value,
                 void* object) {
  if (const Status status = option.set(object, value); !status.ok())
    return InOption(value.location, fmt::format("{}.{}", what, option.name), status);
  if (const Status status = option.check(object); !status.ok()) {
    if (TakeAsWord(option, value, object)) return OkStatus();
    return {status.code(), fmt::format("{}: {}.{} {}", value.location.ToString(), what, option.name,
                                       status.message())};
  }
  return OkStatus();
}

// Whether a key that no option has is `name` misspelt: then it is there, and that is said already.
bool IsMisspelt(const std::string& name, const ConfigNode& node,
                const std::vector<std::string>& names) {
  return std::ranges::any_of(node.entries, [&](const ConfigNode::Entry& entry) {
    return std::ranges::find(names, entry.key) == names.end() &&
           (NearestName(entry.key, names) == name || OwnNameFor(entry.key, names) == name);
  });
}

Status CheckRequired(const std::vector<Option>& options, std::string_view what,
                     const ConfigNode& node, std::string_view set_bare) {
  Problems problems;
  const std::vector<std::string> names = NamesOf(options);
  for (const Option& option : options) {
    if (!option.required || option.name == set_bare || node.Find(option.name) != nullptr) continue;
    if (IsMisspelt(option.name, node, names)) continue;
    problems.Add(InvalidArgument("{}: {}: option '{}' is required ({}: {})",
                                 node.location.ToString(), what, option.name, option.type,
                                 option.help));
  }
  return problems.ToStatus();
}

}  // namespace

Status ReadOption(const ConfigNode& value, bool& out) {
  if (value.kind != Kind::kScalar || value.quoted || !LooksLikeBool(value.scalar))
    return NotA(value, kSwitchType);
  out = IsTrue(value.scalar);
  return OkStatus();
}

Status ReadOption(const ConfigNode& value, int64_t& out) {
  constexpr std::string_view kType = "an integer";
  const std::optional<std::string_view> text = NumberText(value);
  if (!text) return NotA(value, kType);
  const char* const end = text->data() + text->size();
  int64_t integer = 0;
  const auto whole = std::from_chars(text->data(), end, integer);
  if (whole.ec == std::errc() && whole.ptr == end) {
    out = integer;
    return OkStatus();
  }
  double number = 0;  // 1e6, 2.5e3
  const auto scientific = std::from_chars(text->data(), end, number);
  const bool fits = scientific.ec == std::errc() && number >= -0x1p63 && number < 0x1p63;
  if (whole.ec == std::errc::result_out_of_range || !fits) {
    return InvalidArgument("'{}' does not fit into 64 bits; integers go from {} to {}",
                           ShortText(value.scalar), std::numeric_limits<int64_t>::min(),
                           std::numeric_limits<int64_t>::max());
  }
  if (number != std::floor(number)) return NotA(value, kType);
  out = static_cast<int64_t>(number);
  return OkStatus();
}

Status ReadOption(const ConfigNode& value, double& out) {
  const std::optional<std::string_view> text = NumberText(value);
  if (!text) return NotA(value, "a number");
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (error == std::errc()) return OkStatus();
  return InvalidArgument(
      "'{}' is too large or too small; numbers go from 5e-324 to 1.8e308 in size",
      ShortText(value.scalar));
}

Status ReadOption(const ConfigNode& value, std::string& out) {
  if (value.kind != Kind::kScalar) return NotA(value, "text");
  out = value.scalar;
  return OkStatus();
}

Status ReadOption(const ConfigNode& value, std::filesystem::path& out) {
  if (value.kind != Kind::kScalar) return NotA(value, "a path");
  STOKER_RETURN_IF_ERROR(CheckNoZeroByte(value.scalar));
  out = value.scalar;
  return OkStatus();
}

Status ReadOption(const ConfigNode& value, std::vector<int64_t>& out) {
  return ReadList(value, out);
}
Status ReadOption(const ConfigNode& value, std::vector<double>& out) {
  return ReadList(value, out);
}
Status ReadOption(const ConfigNode& value, std::vector<std::string>& out) {
  return ReadList(value, out);
}
Status ReadOption(const ConfigNode& value, std::optional<int64_t>& out) {
  return ReadOptional(value, out);
}
Status ReadOption(const ConfigNode& value, std::optional<double>& out) {
  return ReadOptional(value, out);
}

ConfigNode WriteOption(bool value) { return ConfigNode::Scalar(value ? "true" : "false"); }
ConfigNode WriteOption(int64_t value) { return ConfigNode::Scalar(std::to_string(value)); }
ConfigNode WriteOption(double value) {
  // The shortest text that is read back to the same number.
  return ConfigNode::Scalar(fmt::format("{}", value));
}
ConfigNode WriteOption(const std::string& value) {
  return ConfigNode::Scalar(value,
                            LooksLikeNumber(value) || LooksLikeBool(value) || LooksLikeNull(value));
}
ConfigNode WriteOption(const std::filesystem::path& value) { return WriteOption(value.string()); }
ConfigNode WriteOption(const std::vector<int64_t>& value) { return WriteList(value); }
ConfigNode WriteOption(const std::vector<double>& value) { return WriteList(value); }
ConfigNode WriteOption(const std::vector<std::string>& value) { return WriteList(value); }
ConfigNode WriteOption(const std::optional<int64_t>& value) { return WriteOptional(value); }
ConfigNode WriteOption(const std::optional<double>& value) { return WriteOptional(value); }

Status CheckRange(int64_t value, const OptionRange& range) { return CheckOne(value, range); }
Status CheckRange(double value, const OptionRange& range) { return CheckOne(value, range); }
Status CheckRange(const std::vector<int64_t>& values, const OptionRange& range) {
  return CheckEach(values, range);
}
Status CheckRange(const std::vector<double>& values, const OptionRange& range) {
  return CheckEach(values, range);
}
Status CheckRange(const std::optional<int64_t>& value, const OptionRange& range) {
  return value ? CheckOne(*value, range) : OkStatus();
}
Status CheckRange(const std::optional<double>& value, const OptionRange& range) {
  return value ? CheckOne(*value, range) : OkStatus();
}

Status CheckChoice(const std::string& value, const OneOf& choices) {
  if (std::find(choices.choices.begin(), choices.choices.end(), value) != choices.choices.end())
    return OkStatus();
  const std::string nearest = NearestName(value, choices.choices);
  return InvalidArgument("is '{}'; it must be {}{}", ShortText(value), ChoicesText(choices),
                         nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

std::string RangeText(const OptionRange& range) {
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  if (low && high)
    return fmt::format("{}{}..{}", range.low_open ? "more than " : "", range.low, range.high);
  if (low) return fmt::format("{} {}", range.low_open ? ">" : ">=", range.low);
  return high ? fmt::format("<= {}", range.high) : "";
}

std::string ChoicesText(const OneOf& choices) { return "one of: " + Join(choices.choices); }

void ResolvePath(std::filesystem::path& value, const std::filesystem::path& root) {
  if (IsRemotePath(value.native()) || IsStandardInput(value.native())) return;
  if (IsRemotePath(root.native()) && !value.empty() && value.is_relative()) {
    // Not lexically_normal, which takes two slashes for one.
    value = root / value;
    return;
  }
  if (!root.empty() && !value.empty() && value.is_relative())
    value = (root / value).lexically_normal();
}

Status ParseOptions(const std::vector<Option>& options, std::string_view what,
                    const ConfigNode& node, void* object) {
  Problems problems;
  std::string_view set_bare;
  if (node.kind == Kind::kMap) {
    problems.Add(CheckKeys(node, what, "option", NamesOf(options)));
    for (const ConfigNode::Entry& entry : node.entries) {
      const auto named = [&](const Option& option) { return option.name == entry.key; };
      const auto option = std::find_if(options.begin(), options.end(), named);
      if (option != options.end()) problems.Add(SetOption(*option, what, entry.value, object));
    }
  } else if (node.kind != Kind::kNull) {
    if (options.empty()) {
      return InvalidArgument("{}: {}: it has no options, so '{}' says nothing; leave it out",
                             node.location.ToString(), what, ShortText(ToYamlLine(node)));
    }
    problems.Add(SetOption(options.front(), what, node, object));
    set_bare = options.front().name;
  }
  problems.Add(CheckRequired(options, what, node, set_bare));
  return problems.ToStatus();
}

void ResolvePaths(const std::vector<Option>& options, const std::filesystem::path& root,
                  void* object) {
  for (const Option& option : options) {
    if (option.resolve) option.resolve(object, root);
  }
}

ConfigNode FormatOptions(const std::vector<Option>& options, const void* object) {
  std::vector<ConfigNode::Entry> entries;
  for (const Option& option : options) entries.push_back({option.name, {}, option.get(object)});
  return ConfigNode::Map(std::move(entries));
}

Status CheckOptions(const std::vector<Option>& options, std::string_view what, const void* object) {
  for (const Option& option : options) {
    if (const Status status = option.check(object); !status.ok()) {
      return {status.code(), fmt::format("{}: {} {}", what, option.name, status.message())};
    }
  }
  return OkStatus();
}

}  // namespace stoker
