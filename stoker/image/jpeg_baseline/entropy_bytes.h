// The coded bytes of a scan without byte stuffing: the zero that follows each 0xff (T.81, B.1.1.5)
// is removed ahead, a window at a time, so that the decoder can load eight bytes at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker::jpeg_baseline {

struct Unstuffed {
  size_t consumed = 0;  // bytes of `in`, up to the marker if there is one
  size_t produced = 0;  // bytes of `out`
  bool at_marker = false;
};

// Copies `in` to `out` without stuffing, until a marker or the end of either. A last 0xff without
// its second byte counts as a marker.
//   out must not overlap `in`
// Cost: a few gigabytes a second. Threads: concurrent calls are safe.
Unstuffed Unstuff(std::span<const uint8_t> in, std::span<uint8_t> out);
Unstuffed UnstuffReference(std::span<const uint8_t> in, std::span<uint8_t> out);

// A window on the bytes of successive restart intervals. Not thread-safe.
class EntropyBytes {
 public:
  // Zeros that may be read after the last byte.
  static constexpr size_t kSlack = 4096;

  // Begins with the interval at byte `at` of the file, which is borrowed.
  void Start(std::span<const uint8_t> jpeg, size_t at);

  // Discards the bytes before `at`, which points into the window or to its end, and loads new ones.
  // Returns where the byte at `at` is now.
  const uint8_t* Refill(const uint8_t* at);

  const uint8_t* begin() const { return window_.data(); }
  const uint8_t* end() const { return window_.data() + size_; }
  // Returns whether end() is the interval's end.
  bool complete() const { return complete_; }

  // Finds the marker at the interval's end, without unstuffing the bytes before it. Returns it and
  // begins with the next interval; 0 at the end of the file.
  uint8_t NextInterval();

  // Returns the offset in the file of the byte at `at`.
  size_t FileOffset(const uint8_t* at) const;

 private:
  static constexpr size_t kWindow = 16384;  // small enough for a first-level cache

  void Begin(size_t at);

  std::span<const uint8_t> jpeg_;
  size_t interval_at_ = 0;  // byte of the file
  size_t next_ = 0;         // byte of the file
  size_t gone_ = 0;         // bytes of the interval before the window
  size_t size_ = 0;
  bool complete_ = false;
  alignas(64) std::array<uint8_t, kWindow + kSlack> window_;
};

}  // namespace stoker::jpeg_baseline
