#pragma once

#include <cstddef>

namespace stoker {

constexpr size_t kTarBlock = 512;  // a header, and what members are padded to

}  // namespace stoker
