#include "stoker/data/text/word_vectors.h"

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "stoker/base/short_text.h"
#include "stoker/base/stop_scope.h"
#include "stoker/formats/text/line_reader.h"
#include "stoker/io/byte_source.h"

namespace stoker {
namespace {

constexpr int64_t kMostLineBytes = 1 << 20;
constexpr int64_t kLinesBetweenLooks = 1000;  // at whether to stop
constexpr int64_t kMostNumbersInWord = 3;
constexpr std::string_view kSpaces = " \t";
constexpr std::string_view kForm =
    "a line is a word and its numbers, as in the text files of GloVe and fastText (word2vec's .bin "
    "is another form: gensim writes it as text)";

std::string_view WithoutSpacesAtTheEnd(std::string_view text) {
  const size_t last = text.find_last_not_of(kSpaces);
  return last == text.npos ? std::string_view() : text.substr(0, last + 1);
}

// Takes what follows the last spaces off a line, which does not end with one.
std::string_view TakeLast(std::string_view& line) {
  const size_t space = line.find_last_of(kSpaces);
  const std::string_view last = space == line.npos ? line : line.substr(space + 1);
  line = space == line.npos ? std::string_view() : WithoutSpacesAtTheEnd(line.substr(0, space));
  return last;
}

template <typename Number>
std::optional<Number> NumberIn(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What a first line says of the file.
struct Header {
  int64_t words, width;
};
std::optional<Header> HeaderIn(std::string_view line) {
  const std::optional<int64_t> width = NumberIn<int64_t>(TakeLast(line));
  const std::optional<int64_t> words = NumberIn<int64_t>(line);
  if (!width || !words || *width <= 0) return std::nullopt;
  return Header{.words = *words, .width = *width};
}

// How many numbers end the line, but for its first word.
int64_t NumbersIn(std::string_view line) {
  int64_t numbers = 0;
  while (line.find_first_of(kSpaces) != line.npos && NumberIn<double>(TakeLast(line))) ++numbers;
  return numbers;
}

class Reading {
 public:
  Reading(const std::string& path, std::span<const std::string> words, int64_t width)
      : path_(path), width_(static_cast<size_t>(width)) {
    vectors_.found.resize(words.size());
    vectors_.values.resize(words.size() * width_);
    for (size_t i = 0; i < words.size(); ++i) numbers_.try_emplace(words[i], i);
  }

  Status Add(const Line& line) {
    if (line.too_long) return Wrong(line, fmt::format("it has {} bytes", line.length));
    const std::string_view text = WithoutSpacesAtTheEnd(line.text);
    if (text.empty()) return OkStatus();
    if (line.number == 0) {
      header_ = HeaderIn(text);
      STOKER_RETURN_IF_ERROR(CheckWidth(header_ ? header_->width : NumbersIn(text)));
      if (header_) return OkStatus();
    }
    return AddVector(line, text);
  }

  Result<WordVectors> Take() {
    if (header_ && header_->words != in_file_) {
      return DataLoss(
          "{}: it has {} vectors, and its first line announces {}; copy or download it again",
          path_, in_file_, header_->words);
    }
    if (in_file_ > 0) return std::move(vectors_);
    return DataLoss("{}: it has no vectors; {}", path_, kForm);
  }

 private:
  // AddVector reports a first line without numbers. A few numbers too many may belong to its word.
  Status CheckWidth(int64_t width) const {
    const auto wanted = static_cast<int64_t>(width_);
    const bool fits =
        header_ ? width == wanted : width >= wanted && width <= wanted + kMostNumbersInWord;
    if (width == 0 || fits) return OkStatus();
    return InvalidArgument("{}: its vectors have {} numbers, and {} are wanted", path_, width,
                           width_);
  }

  // A word may have spaces, so numbers are taken from the end.
  Status AddVector(const Line& line, std::string_view text) {
    std::string_view word = text;
    for (size_t i = 0; i < width_; ++i) TakeLast(word);
    if (word.empty()) return Wrong(line, fmt::format("it has no word and {} numbers", width_));
    ++in_file_;
    const auto wanted = numbers_.find(word);
    if (wanted == numbers_.end() || vectors_.found[wanted->second]) return OkStatus();
    for (size_t i = width_; i-- > 0;) {
      const std::string_view written = TakeLast(text);
      // Doubles hold what is too small for a float and becomes zero.
      const std::optional<double> number = NumberIn<double>(written);
      if (!number || !std::isfinite(static_cast<float>(*number))) {
        return Wrong(line, fmt::format("'{}' of the vector of '{}' is no finite number",
                                       ShortText(written), ShortText(word)));
      }
      vectors_.values[wanted->second * width_ + i] = static_cast<float>(*number);
    }
    vectors_.found[wanted->second] = true;
    ++vectors_.num_found;
    return OkStatus();
  }

  Status Wrong(const Line& line, std::string_view what) const {
    return DataLoss("{}: line {}: {}; {}", path_, line.number + 1, what, kForm);
  }

  const std::string& path_;
  const size_t width_;
  std::unordered_map<std::string_view, size_t> numbers_;
  std::optional<Header> header_;
  int64_t in_file_ = 0;
  WordVectors vectors_;
};

}  // namespace

Result<WordVectors> ReadWordVectors(const std::string& path, std::span<const std::string> words,
                                    int64_t width) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  LineReader reader(std::move(source), kMostLineBytes);
  Reading reading(path, words, width);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Line> line, reader.Next());
    if (!line) return reading.Take();
    STOKER_RETURN_IF_ERROR(reading.Add(*line));
    if (line->number % kLinesBetweenLooks == 0 && StopScope::Asked())
      return Cancelled("{}: asked to stop", path);
  }
}

}  // namespace stoker
