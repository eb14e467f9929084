#include "stoker/data/nodes/packed_keys.h"

#include <algorithm>
#include <array>
#include <optional>

namespace stoker {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string ToBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    const size_t digits = std::min<size_t>(3, bytes.size() - i) + 1;
    for (size_t d = 0; d < 4; ++d) text += d < digits ? kDigits[group >> (18 - 6 * d) & 63] : '=';
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> made;
    made.fill(-1);
    for (size_t i = 0; i < kDigits.size(); ++i)
      made[static_cast<uint8_t>(kDigits[i])] = static_cast<int8_t>(i);
    return made;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t group = 0;
  int bits = 0;
  for (const char digit : text) {
    const int8_t value = values[static_cast<uint8_t>(digit)];
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xff);
  }
  return bytes;
}

void AppendNumber(uint64_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  bytes += static_cast<char>(number);
}

std::optional<uint64_t> TakeNumber(std::string_view& bytes) {
  uint64_t number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// Differences of either sign as numbers that are small where they are: modulo 2^64, so that every
// pair of values has one.
uint64_t Zigzag(uint64_t from, uint64_t to) {
  const uint64_t difference = to - from;
  return difference << 1 ^ (difference >> 63 != 0 ? ~uint64_t{0} : 0);
}
uint64_t Unzigzag(uint64_t from, uint64_t number) {
  return from + (number >> 1 ^ ((number & 1) != 0 ? ~uint64_t{0} : 0));
}

bool TakeEpochs(std::string_view& bytes, int64_t count, std::vector<SampleKey>& keys) {
  uint64_t epoch = 0;
  while (std::ssize(keys) < count) {
    const std::optional<uint64_t> difference = TakeNumber(bytes), run = TakeNumber(bytes);
    if (!difference || !run || *run == 0) return false;
    if (*run > static_cast<uint64_t>(count - std::ssize(keys))) return false;
    epoch = Unzigzag(epoch, *difference);
    keys.insert(keys.end(), *run, SampleKey{.epoch = epoch});
  }
  return true;
}

bool TakeIndices(std::string_view& bytes, std::vector<SampleKey>& keys) {
  uint64_t index = 0;
  for (SampleKey& key : keys) {
    const std::optional<uint64_t> difference = TakeNumber(bytes);
    if (!difference) return false;
    index = Unzigzag(index, *difference);
    key.index = static_cast<int64_t>(index);
    if (key.index < 0) return false;
  }
  return true;
}

}  // namespace

std::string PackKeys(std::span<const SampleKey> keys) {
  std::string bytes;
  uint64_t epoch = 0, index = 0;
  for (size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end].epoch == keys[begin].epoch) ++end;
    AppendNumber(Zigzag(epoch, keys[begin].epoch), bytes);
    AppendNumber(end - begin, bytes);
    epoch = keys[begin].epoch;
  }
  for (const SampleKey& key : keys) {
    AppendNumber(Zigzag(index, static_cast<uint64_t>(key.index)), bytes);
    index = static_cast<uint64_t>(key.index);
  }
  return ToBase64(bytes);
}

Result<std::vector<SampleKey>> UnpackKeys(std::string_view text, int64_t count) {
  const std::optional<std::string> decoded = FromBase64(text);
  std::vector<SampleKey> keys;
  if (decoded) {
    std::string_view bytes = *decoded;
    // A key takes at least one byte, so a damaged count asks for no more memory than the text has.
    if (count <= std::ssize(bytes) && TakeEpochs(bytes, count, keys) && TakeIndices(bytes, keys) &&
        bytes.empty())
      return keys;
  }
  return DataLoss(
      "the saved pipeline position has a list of keys that does not hold {} of them; the "
      "checkpoint is damaged",
      count);
}

}  // namespace stoker
