// Archives for tests. Only tests include it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

// Returns one header, with its checksum.
inline std::string TarHeader(std::string_view name, std::string_view size, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, size.size(), size);
  header[156] = type;
  header.replace(257, 8,
                 std::string_view("ustar\0"
                                  "00",
                                  8));
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

inline std::string TarMemberOf(std::string_view name, std::string_view data, char type = '0') {
  return TarHeader(name, fmt::format("{:011o}", data.size()), type) + std::string(data) +
         std::string((512 - data.size() % 512) % 512, '\0');
}

inline std::string TarOf(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string archive;
  for (const auto& [name, data] : members) archive += TarMemberOf(name, data);
  return archive + std::string(1024, '\0');
}

}  // namespace stoker
