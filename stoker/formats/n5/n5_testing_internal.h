// N5 datasets for tests. Only tests include it.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "stoker/io/gzip.h"

namespace stoker {

inline std::string BigEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> 8 * i);
  return text;
}

// `dimensions` and `block` as the file lists them: the fastest first.
inline std::string N5AttributesOf(const std::vector<int>& dimensions, const std::vector<int>& block,
                                  const std::string& type, const std::string& compression) {
  return fmt::format(R"({{"dimensions":[{}],"blockSize":[{}],"dataType":"{}","compression":)"
                     R"({{"type":"{}"}}}})",
                     fmt::join(dimensions, ","), fmt::join(block, ","), type, compression);
}

// Returns a block of mode 0 with these extents, likewise; `values` are big-endian.
inline std::string N5BlockOf(const std::vector<int>& extents, const std::string& values,
                             bool gzip = false) {
  std::string block = BigEndian(0, 2) + BigEndian(extents.size(), 2);
  for (const int extent : extents) block += BigEndian(static_cast<uint64_t>(extent), 4);
  if (!gzip) return block + values;
  const std::vector<std::byte> packed = *GzipCompress(std::as_bytes(std::span(values)));
  return block.append(reinterpret_cast<const char*>(packed.data()), packed.size());
}

}  // namespace stoker
