// N5 datasets: folders of blocks. README.md has the layout.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/chunked/chunked_array.h"
#include "stoker/formats/chunked/inflate_block.h"
#include "stoker/formats/n5/n5_attributes.h"

namespace stoker {

// Returns the values of a block file, in C order and big-endian as in the file: all that it holds,
// at most a block of `attributes`. Allocates memory, charged to `account` (may be null), only after
// checking it against the file's size. Errors: kDataLoss, kUnimplemented for blocks of varying
// length (mode 1) and of objects (mode 2); without the file's name.
Result<StoredChunk> ParseN5Block(const N5Attributes& attributes, std::span<const std::byte> block,
                                 const std::shared_ptr<MemoryAccount>& account = nullptr);

// Opens the dataset in `folder`, described by its attributes. Reads blocks on request; a block
// without a file was never written and is all zeros, as N5 specifies. `folder` may be on a server.
// Numbers as StoredValue. Errors: kNotFound if there is no such dataset; those of ParseN5Attributes
// and CheckLayout.
Result<std::shared_ptr<const ChunkedArray>> OpenN5(const std::filesystem::path& folder);

// Returns the folders of all datasets in a container, below it, relative to it and sorted; "" if it
// is a dataset itself. For a container in S3 this lists all names below it; kUnimplemented for one
// on an HTTP server that is not a dataset itself. Errors: those of listing folders, and of
// attributes.json.
Result<std::vector<std::string>> ListN5Datasets(const std::filesystem::path& container);

}  // namespace stoker
