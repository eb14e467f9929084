#include "stoker/formats/n5/n5_array.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/io/file.h"
#include "stoker/io/kept_file.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/remote_names.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAttributesFile = "attributes.json";
// A file of attributes is text of a few hundred bytes, plus what its writer added.
constexpr uint64_t kMostAttributes = 64 << 20;
// In the head of a block.
constexpr size_t kExtentsAt = 4, kExtentBytes = 4;

// Big-endian numbers at the head of a block.
class HeadReader {
 public:
  explicit HeadReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t Number(size_t size) {
    if (size > bytes_.size() - at_) {
      short_ = true;
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i)
      value = value << 8 | std::to_integer<uint64_t>(bytes_[at_ + i]);
    at_ += size;
    return value;
  }
  bool is_short() const { return short_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

 private:
  const std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool short_ = false;
};

Status CheckSize(N5Compression compression, uint64_t bytes, uint64_t stored) {
  if (compression == N5Compression::kRaw) {
    if (bytes == stored) return OkStatus();
    return DataLoss("its values take {} bytes, {} are there", bytes, stored);
  }
  const uint64_t most = compression == N5Compression::kZstd ? kZstdMostGrowth : kDeflateMostGrowth;
  if (bytes / most <= stored) return OkStatus();
  return DataLoss("{} bytes cannot be made of {}", bytes, stored);
}

Status ReadValues(N5Compression compression, std::span<const std::byte> stored,
                  std::span<std::byte> values) {
  if (compression == N5Compression::kZstd) return InflateBlock(BlockForm::kZstd, stored, values);
  if (compression == N5Compression::kZlib) return InflateBlock(BlockForm::kZlib, stored, values);
  if (compression == N5Compression::kGzip) return InflateBlock(BlockForm::kGzip, stored, values);
  std::memcpy(values.data(), stored.data(), values.size());
  return OkStatus();
}

class N5Array final : public ChunkedArray {
 public:
  N5Array(ChunkedLayout layout, N5Attributes attributes, fs::path folder)
      : ChunkedArray(std::move(layout)),
        attributes_(std::move(attributes)),
        folder_(std::move(folder)) {}

  Result<StoredChunk> DoReadChunk(int64_t number,
                                  const std::shared_ptr<MemoryAccount>& account) const override {
    Shape at(grid().size());  // of the block in the grid
    for (size_t d = at.size(); d-- > 0;) {
      at[d] = number % grid()[d];
      number /= grid()[d];
    }
    fs::path path = folder_;
    for (size_t d = at.size(); d-- > 0;) path /= std::to_string(at[d]);
    const uint64_t most = chunk_bytes() + chunk_bytes() / 8 + (64 << 10);
    const Result<Buffer> file = ReadWholeFile(path.string(), most, account);
    // What is not there is zeros, but not what cannot be looked at.
    if (file.status().code() == StatusCode::kNotFound) {
      STOKER_RETURN_IF_ERROR(CheckPresent());
      return StoredChunk{};
    }
    STOKER_RETURN_IF_ERROR(file.status());
    Result<StoredChunk> chunk = ParseN5Block(attributes_, {file->data(), file->size()}, account);
    if (!chunk.ok()) return InFile(path, chunk.status());
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t wanted =
          std::min(layout().chunk_shape[d], layout().shape[d] - at[d] * layout().chunk_shape[d]);
      if (chunk->shape[d] < wanted) {
        return InFile(
            path, DataLoss("byte {}: it holds {} values, attributes.json wants {} along dimension "
                           "{}",
                           kExtentsAt + kExtentBytes * (at.size() - 1 - d),
                           ShapeToString(chunk->shape), wanted, d));
      }
    }
    return chunk;
  }

  Result<std::vector<int64_t>> WrittenChunks() const override {
    std::vector<int64_t> numbers;
    if (IsRemotePath(folder_.native())) {
      STOKER_RETURN_IF_ERROR(AddStored(numbers));
    } else {
      STOKER_RETURN_IF_ERROR(AddWritten(folder_, grid().size(), 0, 1, numbers));
    }
    std::ranges::sort(numbers);
    return numbers;
  }

 private:
  // Of an array that was removed, or whose disk or server is away, every block is missing.
  Status CheckPresent() const {
    const std::string attributes = (folder_ / kAttributesFile).string();
    const Status found = IsRemotePath(attributes) ? RemoteFile::Find(attributes).status()
                                                  : File::Open(attributes).status();
    if (found.code() != StatusCode::kNotFound) return found;
    return Unavailable(
        "{}: it is there no more, so a block that is missing may be anything; is the disk or "
        "server with the array away?",
        attributes);
  }

  // Blocks lie below folders that are called by their number along a dimension, the fastest first;
  // `dimensions` of them are left. Other names are not blocks.
  Status AddWritten(const fs::path& folder, size_t dimensions, int64_t number, int64_t stride,
                    std::vector<int64_t>& numbers) const {
    const int64_t extent = grid()[dimensions - 1];
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      const std::optional<int64_t> here = PlaceOf(name, extent);
      if (!here) continue;
      const int64_t below = number + *here * stride;
      if (dimensions == 1) {
        numbers.push_back(below);
      } else {
        STOKER_RETURN_IF_ERROR(
            AddWritten(at->path(), dimensions - 1, below, stride * extent, numbers));
      }
    }
    if (!error) return OkStatus();
    return InvalidArgument("{}: the folder cannot be read: {}", folder.string(), error.message());
  }

  // The same of a store, which lists whole names. Over HTTP any block of the grid may be there.
  Status AddStored(std::vector<int64_t>& numbers) const {
    constexpr int64_t kMostToTry = 1 << 20;
    if (!HasRemoteLists(folder_.native()) && chunks() <= kMostToTry) {
      for (int64_t number = 0; number < chunks(); ++number) numbers.push_back(number);
      return OkStatus();
    }
    STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                            ListRemoteFolder(folder_.string()));
    for (std::string_view name : names) {
      int64_t number = 0, stride = 1;
      size_t left = grid().size();
      while (left > 0) {
        const size_t slash = name.find('/');
        const std::optional<int64_t> here = PlaceOf(name.substr(0, slash), grid()[left - 1]);
        if (!here || (slash == name.npos) != (left == 1)) break;
        number += *here * stride;
        stride *= grid()[--left];
        name.remove_prefix(slash == name.npos ? name.size() : slash + 1);
      }
      if (left == 0) numbers.push_back(number);
    }
    return OkStatus();
  }

  // The number along a dimension that a name stands for; none if it is not a block's name.
  static std::optional<int64_t> PlaceOf(std::string_view name, int64_t extent) {
    int64_t place = 0;
    const auto [behind, wrong] = std::from_chars(name.data(), name.data() + name.size(), place);
    if (wrong != std::errc() || behind != name.data() + name.size()) return std::nullopt;
    return place >= 0 && place < extent ? std::optional(place) : std::nullopt;
  }

  static Status InFile(const fs::path& path, const Status& status) {
    return Status(status.code(), fmt::format("{}: {}; the block is damaged: copy or write it again",
                                             NameForMessages(path.string()), status.message()));
  }

  const N5Attributes attributes_;
  const fs::path folder_;
};

Result<bool> DescribesDataset(const fs::path& attributes) {
  STOKER_ASSIGN_OR_RETURN(const std::string text,
                          ReadKeptTextFile(attributes.string(), kMostAttributes));
  return DescribesN5Dataset(text, NameForMessages(attributes.string()));
}

// Adds those of a container on a server. Over HTTP, where nothing can be listed, only the folder
// itself may be a dataset.
Status AddRemoteDatasets(const fs::path& container, std::vector<std::string>& names) {
  const Result<bool> itself = DescribesDataset(container / kAttributesFile);
  if (itself.ok() && *itself) {
    names.emplace_back();
    return OkStatus();
  }
  if (!itself.ok() && itself.status().code() != StatusCode::kNotFound) return itself.status();
  if (!HasRemoteLists(container.native())) {
    return Unimplemented(
        "{}: what is in a container cannot be asked for over HTTP; name its datasets, such as "
        "fields: {{image: volumes/raw}}",
        NameForMessages(container.string()));
  }
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> found,
                          ListRemoteFolder(container.string()));
  const std::string ending = std::string("/") + kAttributesFile;
  std::vector<std::string> folders;
  for (const std::string& name : found) {
    if (name.ends_with(ending)) folders.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::ranges::sort(folders);
  for (const std::string& folder : folders) {
    const auto is_above = [&](const std::string& dataset) {
      return folder.starts_with(dataset + "/");
    };
    if (std::ranges::any_of(names, is_above)) continue;  // it lies among blocks
    STOKER_ASSIGN_OR_RETURN(const bool dataset,
                            DescribesDataset(container / folder / kAttributesFile));
    if (dataset) names.push_back(folder);
  }
  return OkStatus();
}

Status AddDatasets(const fs::path& folder, const std::string& name, int depth,
                   std::vector<std::string>& names) {
  const fs::path attributes = folder / kAttributesFile;
  std::error_code error;
  if (fs::exists(attributes, error)) {
    STOKER_ASSIGN_OR_RETURN(const bool dataset, DescribesDataset(attributes));
    if (dataset) {
      names.push_back(name);
      return OkStatus();  // what is below are blocks
    }
  }
  constexpr int kDeepest = 32;
  if (depth == kDeepest) return OkStatus();
  std::vector<std::string> below;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error)) below.push_back(at->path().filename().string());
  }
  if (error) {
    return InvalidArgument("{}: the folder cannot be read: {}", folder.string(), error.message());
  }
  std::ranges::sort(below);
  for (const std::string& one : below) {
    STOKER_RETURN_IF_ERROR(
        AddDatasets(folder / one, name.empty() ? one : name + "/" + one, depth + 1, names));
  }
  return OkStatus();
}

}  // namespace

Result<StoredChunk> ParseN5Block(const N5Attributes& attributes, std::span<const std::byte> block,
                                 const std::shared_ptr<MemoryAccount>& account) {
  HeadReader head(block);
  const uint64_t mode = head.Number(2), dimensions = head.Number(2);
  if (head.is_short()) return DataLoss("byte 0: its head is cut short");
  if (mode == 1 || mode == 2) {
    return Unimplemented("byte 0: a block of {} (mode {}), read are those of mode 0",
                         mode == 1 ? "varying length" : "objects", mode);
  }
  if (mode != 0 || dimensions != attributes.block_shape.size()) {
    return DataLoss("byte 0: mode {} and {} dimensions, 0 and {} are wanted", mode, dimensions,
                    attributes.block_shape.size());
  }
  StoredChunk out;
  uint64_t bytes = attributes.value.bytes;
  for (size_t d = attributes.block_shape.size(); d-- > 0;) {
    const uint64_t extent = head.Number(kExtentBytes);
    if (head.is_short()) return DataLoss("byte {}: its head is cut short", kExtentsAt);
    if (extent == 0 || extent > static_cast<uint64_t>(attributes.block_shape[d])) {
      return DataLoss("byte {}: {} values along a dimension, a block has at most {}",
                      block.size() - head.rest().size() - kExtentBytes, extent,
                      attributes.block_shape[d]);
    }
    out.shape.push_back(static_cast<int64_t>(extent));
    bytes *= extent;  // at most those of a whole block, which have been checked
  }
  std::ranges::reverse(out.shape);
  const std::span<const std::byte> stored = head.rest();
  Status read = CheckSize(attributes.compression, bytes, stored.size());
  if (read.ok()) {
    out.owner = Buffer::Allocate(bytes, account);
    out.data = out.owner.data();
    read = ReadValues(attributes.compression, stored, {out.owner.data(), bytes});
  }
  if (read.ok()) return out;
  const size_t at = block.size() - stored.size();
  return Status(read.code(), fmt::format("byte {}: {}", at, read.message()));
}

Result<std::shared_ptr<const ChunkedArray>> OpenN5(const fs::path& folder) {
  const std::string path = (folder / kAttributesFile).string();
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadKeptTextFile(path, kMostAttributes));
  STOKER_ASSIGN_OR_RETURN(N5Attributes attributes, ParseN5Attributes(text, NameForMessages(path)));
  ChunkedLayout layout{.name = NameForMessages(folder.string()),
                       .shape = attributes.shape,
                       .chunk_shape = attributes.block_shape,
                       .value = attributes.value,
                       .value_bytes = attributes.value.bytes};
  STOKER_ASSIGN_OR_RETURN(layout.dtype, attributes.value.ToDType());
  layout.row_shape.assign(layout.shape.begin() + 1, layout.shape.end());
  // Blocks lie in files of their own, so how much there is is not known from here: rows of up to 8
  // GB.
  constexpr uint64_t kUnknown = 1 << 20;
  STOKER_RETURN_IF_ERROR(CheckLayout(layout, kUnknown));
  return std::make_shared<N5Array>(std::move(layout), std::move(attributes), folder);
}

Result<std::vector<std::string>> ListN5Datasets(const fs::path& container) {
  std::vector<std::string> names;
  if (IsRemotePath(container.native())) {
    STOKER_RETURN_IF_ERROR(AddRemoteDatasets(container, names));
  } else {
    STOKER_RETURN_IF_ERROR(AddDatasets(container, "", 0, names));
  }
  return names;
}

}  // namespace stoker
