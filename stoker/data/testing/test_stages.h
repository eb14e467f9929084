// Stages that tests of the runtime put into pipelines. Only tests include it.
#pragma once

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

#include "stoker/data/nodes/map.h"
#include "stoker/data/testing/testing.h"

namespace stoker {

inline int64_t ThreadsOfProcess() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

// Returns how many there are before a test starts some. ThreadSanitizer starts one of its own with
// the first, so there has been a first.
inline int64_t ThreadsBefore() {
  std::thread([] {}).join();
  return ThreadsOfProcess();
}

// Adds a random number to each value: shows whether draws depend on anything but the sample.
inline Map AddNoise() {
  return {.function = [](Element& element, Rng& rng, Scratch& scratch) {
    const Array& from = element.arrays[0];
    Array to = scratch.NewArray(from.dtype(), from.shape());
    for (size_t i = 0; i < from.num_bytes(); ++i) {
      to.values<uint8_t>()[i] = static_cast<uint8_t>(from.values<uint8_t>()[i] + rng.Below(256));
    }
    element.arrays[0] = std::move(to);
    return OkStatus();
  }};
}

inline Map DoNothing() {
  return {.function = [](Element&, Rng&, Scratch&) { return OkStatus(); }};
}

// Fails for some elements, whatever their fields.
inline Map FailSome() {
  return {.function =
              [](Element& element, Rng&, Scratch&) {
                if (element.key.index % 7 == 3)
                  return DataLoss("element {} is bad", element.key.index);
                return OkStatus();
              },
          .random = false};
}

// Fails on the element that is labelled so.
inline Map FailAt(int64_t label) {
  return {.function = [label](Element& element, Rng&, Scratch&) {
    if (element.arrays[1].values<int64_t>()[0] == label)
      return DataLoss("element {} is bad", label);
    return OkStatus();
  }};
}

// Returns elements of 64 KiB, so that each is a chunk. From `slow_epoch` on each takes 10 ms.
inline Dataset LargeStream(int64_t n, uint64_t slow_epoch) {
  constexpr int64_t kElement = 64 << 10;
  return FromGenerator({{{"x", DType::kUInt8, {kElement}}}}, [=](uint64_t epoch) {
    const bool slow = epoch >= slow_epoch;
    return [=, left = n]() mutable -> Result<std::optional<Element>> {
      if (left-- == 0) return std::nullopt;
      if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {kElement})}};
    };
  });
}

}  // namespace stoker
