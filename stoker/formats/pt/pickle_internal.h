// Reads Python pickles without Python: builds values and never runs code. Knows only the Python
// objects that tensors are stored with.
//
// Source: CPython's Lib/pickletools.py (opcodes of protocols 0 to 5), torch/_utils.py (the
// arguments of the known functions).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/byte_reader.h"

namespace stoker::internal {

// Indices in PickleTree::values. Values may be shared, and a list may even contain itself, so code
// that traverses them must limit depth and number of steps.
using PickleId = uint32_t;

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kBytes,
    kTuple,
    kList,
    kDict,        // items: key, value, key, value
    kGlobal,      // text: "torch FloatStorage"
    kPersistent,  // items: one tuple, which names a storage
    kCall,        // text: a function, "torch._utils _rebuild_tensor_v2"; items: its arguments
    kMark,        // while reading only
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // also 0 or 1 of a kBool
  double real = 0;
  std::string text = {};
  std::vector<PickleId> items = {};
};

// Returns, for messages, "a list", "text".
std::string_view PickleKindName(PickleValue::Kind kind);

struct PickleTree {
  std::vector<PickleValue> values;
  PickleId root = 0;

  const PickleValue& operator[](PickleId id) const { return values[id]; }
};

// Reads one pickle, up to and including its end. Memory is proportional to its bytes. Errors:
// kDataLoss with the byte; kUnimplemented for an unknown object, by name, for numbers of more than
// 64 bits and for pickles of more than 10 million values.
Result<PickleTree> ReadPickle(ByteReader& in);

}  // namespace stoker::internal
