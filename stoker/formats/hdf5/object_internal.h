// Object headers: what describes a group or a dataset, as a list of messages.
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
  bool shared = false;  // its data says where the message is
};

struct Hdf5Object {
  uint64_t at = 0;
  std::vector<Hdf5Message> messages;

  // The first of this type, or null.
  const Hdf5Message* Find(Hdf5MessageType type) const;
};

// The header at `at`, of either version, with all its continuations; checksums are verified where
// there are some. Errors: kDataLoss.
Result<Hdf5Object> ReadHdf5Object(const Hdf5Content& file, uint64_t at);

// Where the data of a message is, be it shared (a type that has a name of its own). Errors: also
// kUnimplemented for messages in a heap of the file's.
Result<Hdf5Message> ResolveMessage(const Hdf5Content& file, const Hdf5Message& message);

}  // namespace stoker::internal
