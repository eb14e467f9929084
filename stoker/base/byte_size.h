// Sizes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stoker {

// The bytes that a text such as "512MiB", "2 GB" or "1000000" means: units k, m, g, t of 1000 (kB,
// MB, ...) and Ki, Mi, Gi, Ti of 1024 (KiB, MiB, ...), in any case. Nothing where it is no such
// text, or means less than a byte or more than 2^62.
std::optional<int64_t> ParseByteSize(std::string_view text);

}  // namespace stoker
