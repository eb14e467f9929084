#include "stoker/data/text/vocabulary.h"

#include <algorithm>
#include <limits>

#include "stoker/base/utf8.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

// What WordCounts needs for a word beside its characters, and how many of these it holds in place.
constexpr int64_t kBytesOfWord = 80;
constexpr size_t kShortWord = 15;
// Large vocabularies have some million tokens of some bytes.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<Vocabulary> Vocabulary::Make(std::vector<std::string> tokens, const std::string& name,
                                    std::optional<int64_t> first_line) {
  if (tokens.empty()) return InvalidArgument("{}: it has no tokens", name);
  if (tokens.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return InvalidArgument("{}: {} tokens are more than can be numbered", name, tokens.size());
  auto content = std::make_shared<Content>();
  content->tokens = std::move(tokens);
  content->numbers.reserve(content->tokens.size());
  for (size_t i = 0; i < content->tokens.size(); ++i) {
    const auto number = static_cast<int32_t>(i);
    const auto [at, fresh] = content->numbers.emplace(content->tokens[i], number);
    if (fresh) continue;
    const int64_t base = first_line.value_or(0);
    return InvalidArgument("{}: {} {} and {} are both '{}'; each token must be there once", name,
                           first_line ? "lines" : "tokens", base + at->second, base + number,
                           content->tokens[i]);
  }
  return Vocabulary(std::move(content));
}

Result<Vocabulary> Vocabulary::Of(std::vector<std::string> tokens) {
  return Make(std::move(tokens), "vocabulary", std::nullopt);
}

Result<Vocabulary> Vocabulary::Load(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMostBytes));
  std::string_view lines = text;
  // A mark that some editors put before UTF-8 is no part of the first word.
  if (lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
  return Make(LinesOf(lines), path, 1);
}

Status Vocabulary::Save(const std::string& path) const {
  std::string text;
  for (const std::string& token : content_->tokens) {
    if (token.find_first_of("\r\n") != std::string::npos) {
      return InvalidArgument(
          "{}: token {} has a line end in it, and a file has a token on each line", path,
          *Find(token));
    }
    text += token;
    text += '\n';
  }
  return WriteFileAtomically(path, text);
}

std::optional<int32_t> Vocabulary::Find(std::string_view token) const {
  const auto found = content_->numbers.find(token);
  if (found == content_->numbers.end()) return std::nullopt;
  return found->second;
}

uint32_t Vocabulary::checksum() const {
  uint32_t checksum = 0;
  for (const std::string& token : content_->tokens)
    checksum = Crc32c("\n", Crc32c(token, checksum));
  return checksum;
}

void WordCounts::Add(std::string_view word) {
  ++words_;
  const auto found = counts_.find(word);
  if (found == counts_.end()) {
    counts_.emplace(word, 1);
    // A node of the table, its place there, and what a long word allocates.
    bytes_ += kBytesOfWord + static_cast<int64_t>(word.size() > kShortWord ? word.size() + 1 : 0);
  } else {
    ++found->second;
  }
}

int64_t WordCounts::MostCommon() const {
  int64_t most = 0;
  for (const auto& [word, count] : counts_) most = std::max(most, count);
  return most;
}

Result<Vocabulary> WordCounts::MostFrequent(int64_t size, int64_t min_count,
                                            const std::vector<std::string>& first) const {
  std::vector<std::pair<std::string_view, int64_t>> words;
  for (const auto& [word, count] : counts_) {
    if (count >= min_count && std::ranges::find(first, word) == first.end())
      words.emplace_back(word, count);
  }
  const auto room = static_cast<size_t>(std::max<int64_t>(size - std::ssize(first), 0));
  const auto kept = words.begin() + static_cast<std::ptrdiff_t>(std::min(room, words.size()));
  std::partial_sort(words.begin(), kept, words.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> tokens = first;
  for (auto word = words.begin(); word != kept; ++word) tokens.emplace_back(word->first);
  return Vocabulary::Of(std::move(tokens));
}

}  // namespace stoker
