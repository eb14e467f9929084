// Writes tensors like torch.save, for torch.load(FILE, weights_only=True).
#pragma once

#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"

namespace stoker {

// Writes a state dict, an OrderedDict of tensors in the order given, atomically: a zip archive of
// stored entries, the values of each tensor 64-byte aligned, so that torch.load can map them
// (mmap=True). Equal arrays give equal bytes. PyTorch 1.6 and newer read it. Errors:
// kInvalidArgument for names that are not distinct; those of AtomicFileWriter.
Status WritePt(const std::string& path, std::span<const NamedArray> arrays);

}  // namespace stoker
