// Archives for tests. Only tests include it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/io/checksum.h"
#include "stoker/io/gzip.h"

namespace stoker {

// Returns an archive like those of other programs: every entry deflated, or stored.
inline std::string ZipOf(const std::vector<std::pair<std::string, std::string>>& members,
                         bool deflated = false) {
  const auto number = [](uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += i < 8 ? static_cast<char>(value >> 8 * i) : char{0};
    return text;
  };
  std::string archive, directory;
  for (const auto& [name, data] : members) {
    const auto bytes = std::as_bytes(std::span(data));
    std::string stored = data;
    if (deflated) {
      // A gzip member is a header of 10 bytes, deflated data, and 8 bytes of checksum and size.
      const std::vector<std::byte> gzip = *GzipCompress(bytes);
      stored.assign(reinterpret_cast<const char*>(gzip.data()) + 10, gzip.size() - 18);
    }
    const std::string common = number(20, 2) + number(0, 2) + number(deflated ? 8 : 0, 2) +
                               number(0, 4) + number(Crc32(bytes), 4) + number(stored.size(), 4) +
                               number(data.size(), 4) + number(name.size(), 2) + number(0, 2);
    directory +=
        "PK\x01\x02" + number(20, 2) + common + number(0, 10) + number(archive.size(), 4) + name;
    archive += "PK\x03\x04" + common + name + stored;
  }
  return archive + directory + "PK\x05\x06" + number(0, 4) + number(members.size(), 2) +
         number(members.size(), 2) + number(directory.size(), 4) + number(archive.size(), 4) +
         number(0, 2);
}

}  // namespace stoker
