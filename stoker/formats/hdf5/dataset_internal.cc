#include "stoker/formats/hdf5/dataset_internal.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "stoker/formats/hdf5/chunk_index_internal.h"
#include "stoker/formats/hdf5/filters_internal.h"
#include "stoker/formats/hdf5/global_heap_internal.h"
#include "stoker/formats/hdf5/type_internal.h"

namespace stoker::internal {
namespace {

// What the layout message says, and the filters.
struct Storage {
  bool chunked = false;
  uint64_t at = kNoAddress;  // of all values, where they are not in chunks
  std::vector<Hdf5Chunk> chunks;
  std::vector<Hdf5Filter> filters;
};

class Dataset final : public ChunkedArray {
 public:
  Dataset(std::shared_ptr<const Hdf5Content> content, ChunkedLayout description, Hdf5Type type,
          Storage storage)
      : ChunkedArray(std::move(description)),
        content_(std::move(content)),
        type_(std::move(type)),
        storage_(std::move(storage)) {}

  Result<StoredChunk> DoReadChunk(int64_t number,
                                  const std::shared_ptr<MemoryAccount>& account) const override {
    StoredChunk out{.shape = layout().chunk_shape};
    if (!storage_.chunked) {
      if (storage_.at == kNoAddress) return out;
      return Mapped(storage_.at, std::move(out));
    }
    const auto chunk = std::ranges::lower_bound(storage_.chunks, number, {}, &Hdf5Chunk::number);
    if (chunk == storage_.chunks.end() || chunk->number != number) return out;
    if (storage_.filters.empty()) return Mapped(chunk->at, std::move(out));
    Buffer room;
    STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> stored,
                            content_->file.View(chunk->at, chunk->bytes, room, account));
    Result<Buffer> values =
        UndoHdf5Filters(storage_.filters, chunk->left_out, stored, chunk_bytes(), account);
    if (!values.ok()) {
      return Status(values.status().code(),
                    fmt::format("{}: chunk {} (byte {}): {}; copy or write the file again", name(),
                                number, chunk->at, values.status().message()));
    }
    out.owner = *std::move(values);
    out.data = out.owner.data();
    return out;
  }

  Result<std::vector<int64_t>> WrittenChunks() const override {
    if (!storage_.chunked) return std::vector<int64_t>(storage_.at == kNoAddress ? 0 : 1);
    std::vector<int64_t> numbers;
    for (const Hdf5Chunk& chunk : storage_.chunks) numbers.push_back(chunk.number);
    return numbers;
  }

  bool mapped() const override { return !storage_.chunked || storage_.filters.empty(); }

  Result<Array> Follow(std::span<const std::byte> stored, const NewArray& make) const override {
    if (type_.followed == Hdf5Type::Followed::kHeapText) {
      STOKER_ASSIGN_OR_RETURN(const HeapContent text, FollowToHeap(*content_, stored, 1));
      const auto values = static_cast<int64_t>(text.values);
      if (content_->file.present())
        return Array(content_->file.buffer(), DType::kUInt8, {values},
                     static_cast<size_t>(text.at));
      Array copy = make(DType::kUInt8, {values});
      STOKER_RETURN_IF_ERROR(content_->file.ReadAt(text.at, {copy.data(), copy.num_bytes()}));
      return copy;
    }
    if (type_.followed == Hdf5Type::Followed::kHeapList) return FollowToList(stored, make);
    const std::string_view text =
        WithoutPadding({reinterpret_cast<const char*>(stored.data()), stored.size()});
    Array copy = make(DType::kUInt8, {std::ssize(text)});
    if (!text.empty()) std::memcpy(copy.data(), text.data(), text.size());
    return copy;
  }

 private:
  Result<Array> FollowToList(std::span<const std::byte> stored, const NewArray& make) const {
    STOKER_ASSIGN_OR_RETURN(const HeapContent content,
                            FollowToHeap(*content_, stored, type_.value.bytes));
    Array list = make(layout().dtype, {static_cast<int64_t>(content.values)});
    const size_t bytes = content.values * type_.value.bytes;
    STOKER_RETURN_IF_ERROR(
        content_->file.ReadAt(content.at, {list.data() + list.num_bytes() - bytes, bytes}));
    const Status converted = ConvertStored(type_.value, list.data(), content.values);
    if (converted.ok()) return list;
    return Status(converted.code(), fmt::format("{}: {}", name(), converted.message()));
  }

  std::string_view WithoutPadding(std::string_view text) const {
    using Followed = Hdf5Type::Followed;
    if (type_.followed == Followed::kText) return text.substr(0, text.find('\0'));
    const std::string_view padding = type_.followed == Followed::kPaddedBySpaces
                                         ? std::string_view(" \0", 2)
                                         : std::string_view("\0", 1);
    return text.substr(0, text.find_last_not_of(padding) + 1);
  }

  StoredChunk Mapped(uint64_t at, StoredChunk out) const {
    out.owner = content_->file.buffer();
    out.data = content_->bytes.data() + at;
    out.mapped = true;
    if (!content_->file.present()) out.unloaded = &content_->file;
    return out;
  }

  const std::shared_ptr<const Hdf5Content> content_;
  const Hdf5Type type_;
  const Storage storage_;
};

class DatasetReader {
 public:
  DatasetReader(const Hdf5Content& file, const Hdf5Object& object, const std::string& where)
      : file_(file), object_(object), where_(where) {
    layout.name = where;
  }

  Status Read() {
    STOKER_ASSIGN_OR_RETURN(const Hdf5Message type_at, Need(Hdf5MessageType::kDatatype, "type"));
    STOKER_ASSIGN_OR_RETURN(type, ParseHdf5Type(file_, type_at, where_));
    STOKER_ASSIGN_OR_RETURN(const Hdf5Message space_at, Need(Hdf5MessageType::kDataspace, "shape"));
    STOKER_ASSIGN_OR_RETURN(space_, ParseHdf5Space(file_, space_at));
    if (space_.null || space_.shape.empty()) {
      return InvalidArgument("{}: it is {}; elements lie along its first dimension", where_,
                             space_.null ? "of no values at all" : "a single value");
    }
    if (object_.Find(Hdf5MessageType::kExternalFiles) != nullptr) {
      return Unimplemented("{}: its values are in other files; h5repack puts them into one",
                           where_);
    }
    STOKER_RETURN_IF_ERROR(DescribeRows());
    STOKER_RETURN_IF_ERROR(ReadFill());
    STOKER_ASSIGN_OR_RETURN(const Hdf5Message layout_at, Need(Hdf5MessageType::kLayout, "layout"));
    return ReadLayout(layout_at);
  }

  ChunkedLayout layout;
  Hdf5Type type;
  Storage storage;

 private:
  Result<Hdf5Message> Need(Hdf5MessageType wanted, std::string_view what) const {
    const Hdf5Message* const message = object_.Find(wanted);
    if (message == nullptr)
      return file_.Damaged(object_.at, fmt::format("{} has no {}", where_, what));
    return ResolveMessage(file_, *message);
  }

  Status DescribeRows() {
    layout.form = type.form;
    layout.value = type.value;
    layout.value_bytes = type.form == RowForm::kValues ? type.value.bytes : type.bytes;
    layout.shape = space_.shape;
    layout.shape.insert(layout.shape.end(), type.inner.begin(), type.inner.end());
    layout.dtype = DType::kUInt8;
    layout.row_shape = {kUnknownDim};
    const size_t pointer = static_cast<size_t>(file_.address_bytes) + 8;
    const bool in_heap =
        type.form == RowForm::kFollowed && type.followed >= Hdf5Type::Followed::kHeapText;
    if (in_heap && type.bytes != pointer)
      return file_.Damaged(object_.at, fmt::format("the texts or lists of {} are of {} bytes, not "
                                                   "of {}",
                                                   where_, type.bytes, pointer));
    if (type.form == RowForm::kFollowed && type.followed != Hdf5Type::Followed::kHeapList)
      return OkStatus();
    STOKER_ASSIGN_OR_RETURN(layout.dtype, type.value.ToDType());
    if (type.form == RowForm::kValues)
      layout.row_shape.assign(layout.shape.begin() + 1, layout.shape.end());
    return OkStatus();
  }

  Status ReadFill() {
    const Hdf5Message* message = object_.Find(Hdf5MessageType::kFill);
    const bool old = message == nullptr;
    if (old) message = object_.Find(Hdf5MessageType::kOldFill);
    if (message == nullptr || message->shared) return OkStatus();
    Hdf5Cursor in(file_, message->at, message->bytes);
    bool defined = true;
    if (!old) {
      const uint8_t version = in.U8();
      if (version < 1 || version > 3) in.Fail();
      const uint8_t flags = version == 3 ? in.U8() : 0;
      if (version < 3) in.Skip(2);
      const uint8_t given = version < 3 ? in.U8() : flags >> 5 & 1;
      defined = version == 1 || given != 0;
    }
    if (!defined || in.failed()) return in.Check(message->at, "a fill value");
    const uint64_t bytes = in.U32();
    const std::string_view fill = in.Text(bytes);
    STOKER_RETURN_IF_ERROR(in.Check(message->at, "a fill value"));
    if (fill.find_first_not_of('\0') == fill.npos) return OkStatus();
    if (bytes != layout.value_bytes) {
      return Unimplemented("{}: a fill value of {} bytes for values of {}; write it without one",
                           where_, bytes, layout.value_bytes);
    }
    layout.fill = fill;
    return OkStatus();
  }

  Status ReadLayout(const Hdf5Message& message) {
    enum Class : uint8_t { kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3 };
    Hdf5Cursor in(file_, message.at, message.bytes);
    const uint8_t version = in.U8(), kind = in.U8();
    if (!in.failed() && (version < 3 || version > 4)) {
      return Unimplemented("{}: a layout of version {}, known are 3 and 4; h5repack writes it anew",
                           where_, version);
    }
    if (!in.failed() && kind == kVirtual) {
      return Unimplemented(
          "{}: a virtual dataset; name the files and datasets it is made of, or "
          "write it with its values",
          where_);
    }
    if (kind > kVirtual) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(message.at, "the layout of a dataset"));
    if (kind == kChunked) return ReadChunked(message, in, version);
    const uint64_t values = kind == kCompact ? in.U16() : 0;
    storage.at = kind == kCompact ? in.at() : in.Address();
    if (kind == kCompact) in.Skip(values);
    STOKER_RETURN_IF_ERROR(in.Check(message.at, "the layout of a dataset"));
    for (const int64_t extent : layout.shape)
      layout.chunk_shape.push_back(std::max<int64_t>(extent, 1));
    STOKER_RETURN_IF_ERROR(CheckLayout(layout, file_.bytes.size()));
    const uint64_t wanted =
        static_cast<uint64_t>(NumValues(layout.shape)) * uint64_t{layout.value_bytes};
    const uint64_t room =
        kind == kCompact ? values
                         : file_.bytes.size() - std::min<uint64_t>(storage.at, file_.bytes.size());
    if (wanted == 0) storage.at = kNoAddress;
    if (storage.at == kNoAddress || wanted <= room) return OkStatus();
    return file_.Damaged(storage.at, fmt::format("{} takes {} bytes from here on, {} are there",
                                                 where_, wanted, room));
  }

  Status ReadChunked(const Hdf5Message& message, Hdf5Cursor in, uint8_t version) {
    storage.chunked = true;
    const uint8_t flags = version == 4 ? in.U8() : 0;
    const size_t rank = space_.shape.size();
    if (in.U8() != rank + 1) in.Fail();
    const uint64_t tree = version == 3 ? in.Address() : kNoAddress;
    const int extent_bytes = version == 4 ? in.U8() : 4;
    if (extent_bytes < 1 || extent_bytes > 8) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(message.at, "the layout of a dataset"));
    for (size_t d = 0; d < rank; ++d) {
      const uint64_t extent = in.Number(extent_bytes);
      if (extent == 0 || extent > uint64_t{1} << 62) in.Fail();
      layout.chunk_shape.push_back(static_cast<int64_t>(extent));
    }
    const uint64_t value_bytes = in.Number(extent_bytes);
    if (value_bytes != type.bytes) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(message.at, "the layout of a dataset"));
    Hdf5Grid grid{.shape = space_.shape, .most = space_.most, .chunk_shape = layout.chunk_shape};
    layout.chunk_shape.insert(layout.chunk_shape.end(), type.inner.begin(), type.inner.end());
    STOKER_RETURN_IF_ERROR(CheckLayout(layout, file_.bytes.size()));
    const ChunkGridSizes sizes(layout);
    grid.grid.assign(sizes.grid.begin(), sizes.grid.begin() + static_cast<ptrdiff_t>(rank));
    grid.chunk_bytes = sizes.chunk_bytes;
    grid.where = where_;
    if (const Hdf5Message* const filters = object_.Find(Hdf5MessageType::kFilters)) {
      STOKER_ASSIGN_OR_RETURN(const Hdf5Message at, ResolveMessage(file_, *filters));
      STOKER_ASSIGN_OR_RETURN(storage.filters, ParseHdf5Filters(file_, at, where_));
    }
    grid.filtered = !storage.filters.empty();
    STOKER_ASSIGN_OR_RETURN(storage.chunks, version == 3 ? ReadChunkTree(file_, grid, tree)
                                                         : ReadChunkIndex(file_, grid, in, flags));
    return OkStatus();
  }

  const Hdf5Content& file_;
  const Hdf5Object& object_;
  const std::string& where_;
  Hdf5Space space_;
};

}  // namespace

Result<std::shared_ptr<const ChunkedArray>> OpenHdf5Dataset(
    std::shared_ptr<const Hdf5Content> content, const Hdf5Object& object, std::string where) {
  DatasetReader reader(*content, object, where);
  STOKER_RETURN_IF_ERROR(reader.Read());
  return std::make_shared<Dataset>(std::move(content), std::move(reader.layout),
                                   std::move(reader.type), std::move(reader.storage));
}

}  // namespace stoker::internal
