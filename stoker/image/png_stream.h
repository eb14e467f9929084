// The bytes of a PNG in order, without the chunks that no pixel depends on.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stoker {

// Leaves out texts, colour profiles and all other ancillary chunks but tRNS and eXIf: they may
// unpack to a thousand times their size, and libspng unpacks and keeps them. Their checksums are
// compared, so damage in them is found. Not thread-safe.
class PngStream {
 public:
  // `png`: borrowed, as long as this lives.
  explicit PngStream(std::span<const std::byte> png) : bytes_(png) {}

  // Copies the next `length` bytes of what is kept to `to`. False where the file ends before, or
  // where a chunk that is left out is damaged: then damage() says how.
  bool Read(std::byte* to, size_t length);

  // The place in the file that has been read up to.
  size_t at() const { return at_; }
  bool cut_short() const { return cut_short_; }
  const std::string& damage() const { return damage_; }

 private:
  bool EnterKeptChunk();

  const std::span<const std::byte> bytes_;
  size_t at_ = 0;
  size_t kept_to_ = 8;  // end of what is kept next to each other: at first, of the signature
  bool cut_short_ = false;
  std::string damage_;
};

}  // namespace stoker
