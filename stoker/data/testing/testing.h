// Helpers for tests of pipelines. Only tests include it.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "stoker/base/log.h"
#include "stoker/base/testing.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/from_generator.h"

namespace stoker {

// Keeps warnings off standard error for its scope.
class QuietLog {
 public:
  QuietLog() { SetLogLevel(LogLevel::kError); }
  ~QuietLog() { SetLogLevel(LogLevel::kInfo); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
};

inline const Runtime kRuntimes[] = {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(2),
                                    Runtime::Threaded(8)};

// n elements {image: uint8[1, 4, 4], label: int64[]}; label i is i, the image's values are made
// from i.
inline Dataset NumberedImages(int64_t n) {
  Array images = Array::Allocate(DType::kUInt8, {n, 1, 4, 4});
  Array labels = Array::Allocate(DType::kInt64, {n});
  for (int64_t i = 0; i < n; ++i) {
    labels.values<int64_t>()[static_cast<size_t>(i)] = i;
    for (int64_t p = 0; p < 16; ++p)
      images.values<uint8_t>()[static_cast<size_t>(i * 16 + p)] =
          static_cast<uint8_t>(i * 7 + p * 3);
  }
  return *FromArrays({{"image", images}, {"label", labels}});
}

// Returns the same elements, readable only in order.
inline Dataset StreamedImages(int64_t n) {
  const Dataset source = NumberedImages(n);
  return FromGenerator(source.spec(), [source](uint64_t) {
    std::shared_ptr<Iterator> elements = *source.Open(Runtime::Inline());
    return [elements] { return elements->Next(); };
  });
}

// Returns all elements of a pass, or the error that ended it.
inline Result<std::vector<Element>> ReadAll(Iterator& iterator) {
  std::vector<Element> all;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, iterator.Next());
    if (!element) return all;
    all.push_back(*std::move(element));
  }
}
inline Result<std::vector<Element>> ReadAll(const Dataset& dataset, const Runtime& runtime,
                                            const PassOptions& pass = {}) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime, pass));
  return ReadAll(*iterator);
}

// Key, dtypes, shapes and bytes of elements as text that can be compared and printed.
inline std::string Fingerprint(const std::vector<Element>& elements) {
  std::string text;
  for (const Element& element : elements) {
    text += fmt::format("{}/{}:", element.key.epoch, element.key.index);
    for (const Array& array : element.arrays) {
      text += array.ToString();
      for (size_t i = 0; i < array.num_bytes(); ++i)
        text += fmt::format(" {:02x}", static_cast<unsigned>(array.data()[i]));
    }
    text += '\n';
  }
  return text;
}

// Returns the int64 values of a field (labels) over all elements.
inline std::vector<int64_t> Labels(const std::vector<Element>& elements, size_t field = 1) {
  std::vector<int64_t> labels;
  for (const Element& element : elements) {
    for (const int64_t label : element.arrays[field].values<int64_t>()) labels.push_back(label);
  }
  return labels;
}

}  // namespace stoker
