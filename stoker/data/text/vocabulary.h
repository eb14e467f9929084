// Vocabularies: tokens and their numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Immutable and a cheap value: copies share the tokens. Thread-safe.
class Vocabulary {
 public:
  // Makes a vocabulary in which token i has the number i. Errors: kInvalidArgument if there are no
  // tokens, more than int32 can count, or repeated ones.
  static Result<Vocabulary> Of(std::vector<std::string> tokens);

  // Reads a file of one token a line, such as BERT's vocab.txt: a token's number is that of its
  // line, from 0. Lines end with LF or CR LF; optional for the last one. Errors: also those of
  // reading it; messages give the lines.
  static Result<Vocabulary> Load(const std::string& path);
  // Writes such a file, atomically. Errors: kInvalidArgument for a token with a line end in it;
  // those of WriteFileAtomically.
  Status Save(const std::string& path) const;

  int32_t size() const { return static_cast<int32_t>(content_->tokens.size()); }
  const std::string& token(int32_t number) const {
    return content_->tokens[static_cast<size_t>(number)];
  }
  const std::vector<std::string>& tokens() const { return content_->tokens; }
  std::optional<int32_t> Find(std::string_view token) const;
  // Returns a CRC-32C of the tokens and their order, to distinguish vocabularies.
  uint32_t checksum() const;

 private:
  struct Content {
    std::vector<std::string> tokens;
    std::unordered_map<std::string_view, int32_t> numbers;  // views of tokens
  };
  explicit Vocabulary(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  // `first_line`: the line of token 0 in messages; nothing: not from a file.
  static Result<Vocabulary> Make(std::vector<std::string> tokens, const std::string& name,
                                 std::optional<int64_t> first_line);

  std::shared_ptr<const Content> content_;
};

// Counts words, for a vocabulary of the most frequent ones. One thread at a time.
class WordCounts {
 public:
  void Add(std::string_view word);

  int64_t words() const { return words_; }  // seen in all
  int64_t different() const { return static_cast<int64_t>(counts_.size()); }
  // Returns how often the most frequent word was seen; 0 without any.
  int64_t MostCommon() const;
  // Returns about how many bytes the words and their counts take.
  int64_t bytes() const { return bytes_; }

  // Returns `first`, in order, followed by the most frequent words that were seen at least
  // `min_count` times, up to `size` tokens in all; equally frequent ones by their bytes. Equal
  // counts give equal vocabularies. Errors: those of Vocabulary::Of.
  Result<Vocabulary> MostFrequent(int64_t size, int64_t min_count,
                                  const std::vector<std::string>& first) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> counts_;
  int64_t words_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace stoker
