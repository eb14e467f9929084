#include "stoker/io/remote/s3_xml.h"

#include <charconv>
#include <functional>
#include <optional>
#include <utility>

namespace stoker {
namespace {

constexpr size_t kDeepest = 16;
constexpr size_t kMostText = 64 << 10;

// One character as UTF-8.
void AppendCharacter(std::string& out, uint32_t code) {
  const auto add = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      add(0xe0 | (code >> 12));
    } else {
      add(0xf0 | (code >> 18));
      add(0x80 | ((code >> 12) & 0x3f));
    }
    add(0x80 | ((code >> 6) & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

bool AppendEntity(std::string_view name, std::string& out) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) {
      out += character;
      return true;
    }
  }
  if (!name.starts_with('#')) return false;
  const bool hex = name.starts_with("#x");
  const std::string_view digits = name.substr(hex ? 2 : 1);
  uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
  constexpr uint32_t kLast = 0x10ffff;
  if (error != std::errc() || end != digits.data() + digits.size() || code > kLast) return false;
  AppendCharacter(out, code);
  return true;
}

// Text with its entities; nothing if one is unknown.
std::optional<std::string> Unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t mark = std::min(text.find('&'), text.size());
    out += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) break;
    const size_t end = text.find(';');
    if (end == text.npos || !AppendEntity(text.substr(1, end - 1), out)) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return out;
}

// Calls `leaf(path, text)` for each element with nothing but text in it, in order; `path` is
// "Error/Code". False if the text is no XML of that kind.
bool ForEachLeaf(std::string_view text,
                 const std::function<void(std::string_view, std::string)>& leaf) {
  std::vector<std::string_view> open;
  std::string path;
  bool inner = false;  // whether the element that was begun last has none in it
  while (true) {
    const size_t tag = text.find('<');
    if (tag == text.npos) return open.empty();
    const std::string_view content = text.substr(0, tag);
    const size_t end = text.find('>', tag);
    if (end == text.npos) return false;
    std::string_view name = text.substr(tag + 1, end - tag - 1);
    text.remove_prefix(end + 1);
    if (name.starts_with('?') || name.starts_with('!')) continue;
    if (name.starts_with('/')) {
      name.remove_prefix(1);
      if (open.empty() || open.back() != name || content.size() > kMostText) return false;
      if (inner) {
        std::optional<std::string> value = Unescaped(content);
        if (!value) return false;
        leaf(path, *std::move(value));
      }
      inner = false;
      path.resize(path.size() - name.size() - (open.size() > 1 ? 1 : 0));
      open.pop_back();
      continue;
    }
    const bool empty = name.ends_with('/');
    if (empty) name.remove_suffix(1);
    name = name.substr(0, name.find_first_of(" \t\r\n"));
    if (empty || name.empty()) {
      if (name.empty()) return false;
      continue;
    }
    if (open.size() >= kDeepest) return false;
    if (!open.empty()) path += '/';
    path += name;
    open.push_back(name);
    inner = true;
  }
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {  // as forms write a blank
      out += ' ';
      continue;
    }
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

S3Error ParseS3Error(std::string_view text) {
  S3Error error;
  ForEachLeaf(text, [&](std::string_view path, std::string value) {
    if (path == "Error/Code") {
      error.code = std::move(value);
    } else if (path == "Error/Message") {
      error.message = std::move(value);
    } else if (path == "Error/Region") {
      error.region = std::move(value);
    }
  });
  return error;
}

Result<S3List> ParseS3List(std::string_view text) {
  S3List list;
  bool truncated = false, good = true, is_list = false;
  std::string continuation;
  const bool whole = ForEachLeaf(text, [&](std::string_view path, std::string value) {
    constexpr std::string_view kRoot = "ListBucketResult/";
    if (!path.starts_with(kRoot)) return;
    is_list = true;
    path.remove_prefix(kRoot.size());
    if (path == "IsTruncated") truncated = value == "true";
    if (path == "NextContinuationToken") {
      continuation = std::move(value);
    } else if (path == "CommonPrefixes/Prefix") {
      ++list.folders;
    } else if (path == "Contents/Key") {
      std::optional<std::string> key = PercentDecoded(value);
      good = good && key.has_value();
      list.objects.push_back({.key = std::move(key).value_or("")});
    } else if (list.objects.empty()) {
      return;
    } else if (path == "Contents/ETag") {
      list.objects.back().etag = std::move(value);
    } else if (path == "Contents/Size") {
      const std::optional<uint64_t> size = ParseSize(value);
      good = good && size.has_value();
      list.objects.back().size = size.value_or(0);
    }
  });
  if (!whole || !good || !is_list)
    return Unavailable("the store's list of objects is not what S3 describes; check the endpoint");
  if (truncated && continuation.empty())
    return Unavailable(
        "the store's list of objects says that there are more, but not how to go on");
  if (truncated) list.continuation = std::move(continuation);
  return list;
}

}  // namespace stoker
