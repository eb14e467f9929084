// RecordIO files for tests, as dmlc-core writes them. Only tests include it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// One part.
inline std::string RecordIoPart(std::string_view data, uint32_t flag) {
  const uint32_t words[2] = {0xced7230a, flag << 29 | static_cast<uint32_t>(data.size())};
  std::string part(sizeof(words), '\0');
  std::memcpy(part.data(), words, sizeof(words));
  return part + std::string(data) + std::string((4 - data.size() % 4) % 4, '\0');
}

// A record, split into parts where necessary.
inline std::string RecordIoRecord(std::string_view data) {
  constexpr std::string_view kMagic = "\x0a\x23\xd7\xce";
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  for (size_t at = 0; at + 4 <= data.size(); at += 4) {
    if (data.substr(at, 4) != kMagic) continue;
    pieces.push_back(data.substr(begin, at - begin));
    begin = at + 4;
  }
  pieces.push_back(data.substr(begin));
  if (pieces.size() == 1) return RecordIoPart(data, 0);
  std::string record;
  for (size_t i = 0; i < pieces.size(); ++i)
    record += RecordIoPart(pieces[i], i == 0 ? 1 : i + 1 == pieces.size() ? 3 : 2);
  return record;
}

// An image record with these labels; a single label goes into the header.
inline std::string ImageRecordOf(const std::vector<float>& labels, uint64_t id,
                                 std::string_view image) {
  const auto count = static_cast<uint32_t>(labels.size() == 1 ? 0 : labels.size());
  std::string record(24, '\0');
  std::memcpy(record.data(), &count, sizeof(count));
  if (count == 0) std::memcpy(record.data() + 4, labels.data(), sizeof(float));
  std::memcpy(record.data() + 8, &id, sizeof(id));
  if (count > 0) record.append(reinterpret_cast<const char*>(labels.data()), count * sizeof(float));
  return record + std::string(image);
}

}  // namespace stoker
