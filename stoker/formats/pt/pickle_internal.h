// What a Python pickle says, without Python: values are built, and nothing is ever run. Of Python's
// objects only those are known that tensors are stored with.
//
// Source: CPython's Lib/pickletools.py (opcodes of protocols 0 to 5), torch/_utils.py (what the
// known functions take).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/byte_reader.h"

namespace stoker::internal {

// Places in PickleTree::values. Values may be shared, and a list may even hold itself, so whoever
// walks through them limits depth and number of steps.
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
    kPersistent,  // items: the one tuple that names a storage
    kCall,        // text: a function, "torch._utils _rebuild_tensor_v2"; items: its arguments
    kMark,        // while reading only
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // also 0 or 1 of a kBool
  double real = 0;
  std::string text = {};
  std::vector<PickleId> items = {};
};

// For messages: "a list", "text".
std::string_view PickleKindName(PickleValue::Kind kind);

struct PickleTree {
  std::vector<PickleValue> values;
  PickleId root = 0;

  const PickleValue& operator[](PickleId id) const { return values[id]; }
};

// Reads one pickle, up to and including its end. Takes memory in proportion to its bytes. Errors:
// kDataLoss with the byte; kUnimplemented for an object that is not known, by name, and for numbers
// of more than 64 bits and pickles of more than 10 million values.
Result<PickleTree> ReadPickle(ByteReader& in);

}  // namespace stoker::internal
