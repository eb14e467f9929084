#include "stoker/io/shards.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace stoker {
namespace {

constexpr size_t kDigits = 5, kMostDigits = 7;
constexpr std::string_view kOf = "-of-";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number that begins `text`, of `least` to kMostDigits digits, which are taken off.
std::optional<int64_t> TakeNumber(std::string_view& text, size_t least) {
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  if (digits < least || digits > kMostDigits) return std::nullopt;
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

struct Shard {
  std::string base, extension;
  int64_t number, shards;
};

std::optional<Shard> ParseShard(const std::string& path) {
  const size_t of = path.rfind(kOf);
  if (of == path.npos || path.find('/', of) != path.npos) return std::nullopt;
  std::string_view behind = std::string_view(path).substr(of + kOf.size());
  const std::optional<int64_t> shards = TakeNumber(behind, kDigits);
  size_t begin = of;
  while (begin > 0 && IsDigit(path[begin - 1])) --begin;
  std::string_view digits = std::string_view(path).substr(begin, of - begin);
  const std::optional<int64_t> number = TakeNumber(digits, kDigits);
  if (!shards || !number || begin == 0 || path[begin - 1] != '-') return std::nullopt;
  return Shard{path.substr(0, begin - 1), std::string(behind), *number, *shards};
}

}  // namespace

std::string ShardName(std::string_view base, int64_t shard, int64_t shards,
                      std::string_view extension) {
  return fmt::format("{}-{:05}-of-{:05}{}", base, shard, shards, extension);
}

std::string WithoutShardNumber(const std::string& path) {
  const std::optional<Shard> shard = ParseShard(path);
  return shard ? shard->base + shard->extension : path;
}

std::vector<std::string> ShardsOf(const std::string& text) {
  const size_t at = text.rfind('@');
  if (at == text.npos || text.find('/', at) != text.npos) return {};
  std::string_view behind = std::string_view(text).substr(at + 1);
  const std::optional<int64_t> shards = TakeNumber(behind, 1);
  if (!shards || (!behind.empty() && behind.front() != '.')) return {};
  std::vector<std::string> names;
  for (int64_t shard = 0; shard < *shards; ++shard)
    names.push_back(ShardName(std::string_view(text).substr(0, at), shard, *shards, behind));
  return names;
}

Status CheckShards(const std::string& pattern, const std::vector<std::string>& found) {
  std::map<std::tuple<std::string, int64_t, std::string>, std::set<int64_t>> sets;
  for (const std::string& path : found) {
    if (const std::optional<Shard> shard = ParseShard(path))
      sets[{shard->base, shard->shards, shard->extension}].insert(shard->number);
  }
  for (const auto& [set, there] : sets) {
    const auto& [base, shards, extension] = set;
    for (int64_t shard = 0; shard < shards; ++shard) {
      if (there.contains(shard)) continue;
      const std::string name = ShardName(base, shard, shards, extension);
      if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0) continue;
      return NotFound(
          "{}: this shard is missing, {} of {} are there; copy or download it, or name only those "
          "that are meant",
          name, there.size(), shards);
    }
  }
  return OkStatus();
}

}  // namespace stoker
