// A source whose bytes arrive in small pieces, for tests of readers of streams. Only tests include
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "stoker/io/byte_source.h"

namespace stoker {

// Returns `piece` bytes of `text` (borrowed) at a time.
class Dripping final : public ByteSource {
 public:
  Dripping(std::string_view text, size_t piece)
      : ByteSource("dripping"), text_(text), piece_(piece) {}
  SizeBound size_bound() const override { return {text_.size(), true}; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    const std::string_view rest = text_.substr(position(), std::min(piece_, out.size()));
    std::memcpy(out.data(), rest.data(), rest.size());
    return rest.size();
  }
  const std::string_view text_;
  const size_t piece_;
};

}  // namespace stoker
