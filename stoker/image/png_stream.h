// The bytes of a PNG in order, without the chunks that do not affect pixels.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stoker {

// Leaves out texts, colour profiles and all other ancillary chunks except tRNS and eXIf: they may
// unpack to a thousand times their size, and libspng unpacks and keeps them. Compares their
// checksums, so damage in them is detected. Not thread-safe.
class PngStream {
 public:
  // `png`: borrowed, as long as this lives.
  explicit PngStream(std::span<const std::byte> png) : bytes_(png) {}

  // Copies the next `length` kept bytes to `to`. Returns false if the file ends before, or if a
  // chunk that is left out is damaged; then damage() describes it.
  bool Read(std::byte* to, size_t length);

  // Returns the offset in the file up to which it was read.
  size_t at() const { return at_; }
  bool cut_short() const { return cut_short_; }
  const std::string& damage() const { return damage_; }

 private:
  bool EnterKeptChunk();

  const std::span<const std::byte> bytes_;
  size_t at_ = 0;
  size_t kept_to_ = 8;  // end of the current run of kept bytes: at first, of the signature
  bool cut_short_ = false;
  std::string damage_;
};

}  // namespace stoker
