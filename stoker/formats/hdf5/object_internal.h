// Object headers: lists of messages that describe a group or a dataset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/formats/hdf5/content_internal.h"

namespace stoker::internal {

enum class Hdf5MessageType : uint16_t {
  kDataspace = 0x1,
  kLinkInfo = 0x2,
  kDatatype = 0x3,
  kOldFill = 0x4,
  kFill = 0x5,
  kLink = 0x6,
  kExternalFiles = 0x7,
  kLayout = 0x8,
  kFilters = 0xb,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
};

struct Hdf5Message {
  Hdf5MessageType type;
  uint64_t at = 0;  // of its data in the file
  uint64_t bytes = 0;
  bool shared = false;  // its data is the place of the message
};

struct Hdf5Object {
  uint64_t at = 0;
  std::vector<Hdf5Message> messages;

  // Returns the first of this type, or null.
  const Hdf5Message* Find(Hdf5MessageType type) const;
};

// Reads the header at `at`, of either version, with all its continuations; verifies checksums if it
// has them. Errors: kDataLoss.
Result<Hdf5Object> ReadHdf5Object(const Hdf5Content& file, uint64_t at);

// Returns the message itself, also if it is shared (a committed datatype). Errors: also
// kUnimplemented for messages in the file's shared-message heap.
Result<Hdf5Message> ResolveMessage(const Hdf5Content& file, const Hdf5Message& message);

}  // namespace stoker::internal
