// Shared by the operators that encode text: uint8[?] fields become int32[?] ones.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"

namespace stoker::internal {

// Returns the number of the field. Errors: kInvalidArgument if there is no such field, or it is not
// text.
Result<size_t> FindTextField(std::string_view who, const Spec& spec, const std::string& field);

// Returns the bytes of a field as text.
inline std::string_view TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

Array NewTokens(std::span<const int32_t> tokens, Scratch& scratch);

// Encodes a text as numbers. Thread-safe.
class TokenEncoder {
 public:
  virtual ~TokenEncoder() = default;
  // Appends those of `text`.
  virtual Status Encode(std::string_view text, std::vector<int32_t>& out) const = 0;
  // As those of WordNumbers (core/class_names.h). Pieces of words are none.
  virtual const std::vector<std::string>& words() const;
  virtual int64_t first_number() const { return 0; }
  // Returns how many numbers there are, from 0.
  virtual int64_t num_numbers() const = 0;
};

// Replaces the text by its numbers, under the name `output`.
//   files  that the encoder was made from (Transform::files)
Result<Dataset> EncodeField(Dataset input, std::string_view who, const std::string& field,
                            const std::string& output, std::string details,
                            std::vector<std::string> files,
                            std::shared_ptr<const TokenEncoder> encoder);

}  // namespace stoker::internal
