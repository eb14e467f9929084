// Writing YAML.
#include <algorithm>
#include <cctype>

#include "stoker/base/config.h"
#include "stoker/base/config_scalar.h"

namespace stoker {
namespace {

constexpr size_t kLineWidth = 100;

// Whether YAML reads `text` without quotes back as this very text, also inside [] and {}. Rather
// too strict: quotes never hurt.
bool CanBePlain(std::string_view text) {
  if (LooksLikeNull(text) || text.starts_with("...") || text.back() == ' ') return false;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const bool signed_number = (text[0] == '-' || text[0] == '+') && LooksLikeNumber(text);
  if (!is_word(text[0]) && text[0] != '.' && text[0] != '/' && !signed_number) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_word(c) || c == ' ' || c == '-' || c == '.' || c == '/' || c == '+';
  });
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7f) {
          out += fmt::format("\\x{:02x}", byte);
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string TextOrQuoted(std::string_view text, bool must_quote) {
  return must_quote || !CanBePlain(text) ? Quoted(text) : std::string(text);
}

std::string KeyText(const std::string& key) { return TextOrQuoted(key, /*must_quote=*/false); }

// In one line, as inside [] and {}.
std::string Flow(const ConfigNode& node) {
  std::string out;
  switch (node.kind) {
    case ConfigNode::Kind::kNull: return "null";
    case ConfigNode::Kind::kScalar: return TextOrQuoted(node.scalar, node.quoted);
    case ConfigNode::Kind::kList:
      for (const ConfigNode& item : node.items) out += (out.empty() ? "" : ", ") + Flow(item);
      return "[" + out + "]";
    case ConfigNode::Kind::kMap:
      for (const ConfigNode::Entry& entry : node.entries) {
        out += (out.empty() ? "" : ", ") + KeyText(entry.key) + ": " + Flow(entry.value);
      }
      return "{" + out + "}";
  }
  return out;
}

bool IsLeaf(const ConfigNode& node) {
  return node.kind == ConfigNode::Kind::kNull || node.kind == ConfigNode::Kind::kScalar ||
         (node.items.empty() && node.entries.empty());
}

// Whether `node` reads well in one line: values, lists of values, maps of such. A pipeline does
// not.
bool IsSimple(const ConfigNode& node) {
  const auto simple_entry = [](const ConfigNode::Entry& entry) { return IsSimple(entry.value); };
  return std::all_of(node.items.begin(), node.items.end(), IsLeaf) &&
         std::all_of(node.entries.begin(), node.entries.end(), simple_entry);
}

using Lines = std::vector<std::string>;

Lines BlockLines(const ConfigNode& node, size_t depth);

void AppendEntry(const ConfigNode::Entry& entry, size_t depth, Lines& lines) {
  const std::string key = KeyText(entry.key) + ":";
  // The sections of a recipe stay open however short they are; what is in them is closed where it
  // fits.
  if (IsLeaf(entry.value) || (depth > 0 && IsSimple(entry.value))) {
    std::string line = key + " " + Flow(entry.value);
    if (IsLeaf(entry.value) || line.size() + 2 * depth <= kLineWidth) {
      lines.push_back(std::move(line));
      return;
    }
  }
  lines.push_back(key);
  for (const std::string& line : BlockLines(entry.value, depth + 1)) lines.push_back("  " + line);
}

// The lines of `node`, not indented.
Lines BlockLines(const ConfigNode& node, size_t depth) {
  if (IsLeaf(node)) return {Flow(node)};
  Lines lines;
  for (const ConfigNode::Entry& entry : node.entries) AppendEntry(entry, depth, lines);
  for (const ConfigNode& item : node.items) {
    const char* start = "- ";
    for (const std::string& line : BlockLines(item, depth + 1)) {
      lines.push_back(start + line);
      start = "  ";
    }
  }
  return lines;
}

}  // namespace

std::string ToYaml(const ConfigNode& node) {
  std::string text;
  for (const std::string& line : BlockLines(node, 0)) text += line + "\n";
  return text;
}

std::string ToYamlLine(const ConfigNode& node) { return Flow(node); }

}  // namespace stoker
