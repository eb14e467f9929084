#include "stoker/formats/pt/pt_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "stoker/base/config.h"
#include "stoker/formats/array_bytes.h"
#include "stoker/formats/pt/contents_internal.h"
#include "stoker/io/byte_reader.h"
#include "stoker/io/file_bytes.h"

namespace stoker {
namespace {

using internal::PickleTree;
using internal::PickleValue;
using internal::PtContents;
using internal::PtStorage;
using internal::PtTensor;
using namespace std::string_view_literals;

constexpr std::string_view kPickleSuffix = "/data.pkl";
// A pickle of the number 0x1950a86a20f9469cfc6c: how files begin that PyTorch before 1.6 wrote.
constexpr std::string_view kOldMagic =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
constexpr int64_t kOldProtocol = 1001;
// Copies of views that ReadAll makes may take so many times the bytes of the file, and some MiB:
// a storage may have very many views.
constexpr uint64_t kMostCopies = 4;
constexpr uint64_t kMostExtraCopies = 64 << 20;

std::string_view TextOf(const Buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The archive's top folder: "archive" of "archive/data.pkl".
std::optional<std::string> FolderOf(const ZipFile& archive) {
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(kPickleSuffix)) continue;
    const std::string folder = entry.name.substr(0, entry.name.size() - kPickleSuffix.size());
    if (folder.find('/') == std::string::npos) return folder;
  }
  return std::nullopt;
}

// What says that its pickle is not of tensors alone, or not of this machine's byte order.
Status CheckKind(const ZipFile& archive, const std::string& folder) {
  if (archive.Find(folder + "/constants.pkl") != nullptr) {
    return Unimplemented(
        "{}: this is a TorchScript module, which holds code; in PyTorch, save "
        "torch.jit.load(FILE).state_dict() instead",
        archive.name());
  }
  const ZipEntry* const order = archive.Find(folder + "/byteorder");
  if (order == nullptr) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const ZipContent content, archive.Read(*order));
  if (content.text() == "little") return OkStatus();
  return Unimplemented(
      "{}: its byte order is '{}', only little is read; save it again on a machine of that order",
      archive.name(), content.text().substr(0, 16));
}

Result<PtContents> ReadArchivePickle(const ZipFile& archive, const std::string& folder) {
  const ZipEntry& entry = *archive.Find(folder + std::string(kPickleSuffix));
  STOKER_ASSIGN_OR_RETURN(const ZipContent pickle, archive.Read(entry));
  ByteReader in(std::span(pickle.data, pickle.bytes), archive.name() + ": data.pkl");
  STOKER_ASSIGN_OR_RETURN(const PickleTree tree, internal::ReadPickle(in));
  return internal::ReadPtContents(tree, archive.name());
}

Status FindRecords(const ZipFile& archive, const std::string& folder, PtContents& contents) {
  for (PtStorage& storage : contents.storages) {
    storage.key = fmt::format("{}/data/{}", folder, storage.key);
    const ZipEntry* const entry = archive.Find(storage.key);
    if (entry == nullptr) {
      return DataLoss("{}: the values '{}' of a tensor are missing; copy or download it again",
                      archive.name(), storage.key);
    }
    if (entry->bytes / DTypeSize(storage.dtype) != storage.values ||
        entry->bytes % DTypeSize(storage.dtype) != 0) {
      return DataLoss(
          "{}: '{}' has {} bytes, its tensors say {} values of {}; the file is damaged: copy or "
          "download it again",
          archive.name(), storage.key, entry->bytes, storage.values, DTypeName(storage.dtype));
    }
    storage.entry = *entry;
  }
  return OkStatus();
}

// After the pickles: for each storage, in the order of a list of keys, the number of values, then
// the values.
Status FindOldStorages(ByteReader& in, PtContents& contents) {
  STOKER_ASSIGN_OR_RETURN(const PickleTree keys, internal::ReadPickle(in));
  std::unordered_map<std::string_view, PtStorage*> by_key;
  for (PtStorage& storage : contents.storages) by_key.emplace(storage.key, &storage);
  for (const internal::PickleId id : keys[keys.root].items) {
    const auto found = by_key.find(keys[id].text);
    if (found == by_key.end()) {
      return DataLoss("{}: the storage '{}' belongs to no tensor; the file is damaged", in.name(),
                      keys[id].text);
    }
    PtStorage* const storage = found->second;
    STOKER_ASSIGN_OR_RETURN(const uint64_t values, in.ReadU64Le("size of a storage"));
    storage->offset = in.position();
    if (values != storage->values) {
      return DataLoss(
          "{}: byte {}: a storage of {} values, its tensors say {}; the file is damaged", in.name(),
          in.position() - 8, values, storage->values);
    }
    const uint64_t size = DTypeSize(storage->dtype);
    // A product of 64 bits could overflow; the quotient cannot.
    STOKER_RETURN_IF_ERROR(in.CheckAvailable(values, "values"));
    STOKER_RETURN_IF_ERROR(in.Skip(values * size, "values"));
  }
  for (const PtStorage& storage : contents.storages) {
    if (storage.offset == 0) {
      return DataLoss("{}: the values '{}' of a tensor are missing; the file is damaged", in.name(),
                      storage.key);
    }
  }
  return OkStatus();
}

Status CheckOldHead(ByteReader& in) {
  STOKER_ASSIGN_OR_RETURN(const PickleTree protocol, internal::ReadPickle(in));
  if (protocol[protocol.root].integer != kOldProtocol) {
    return DataLoss("{}: protocol {} of PyTorch's old files, only {} is known", in.name(),
                    protocol[protocol.root].integer, kOldProtocol);
  }
  STOKER_ASSIGN_OR_RETURN(const PickleTree system, internal::ReadPickle(in));
  const std::vector<internal::PickleId>& items = system[system.root].items;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (system[items[i]].text == "little_endian" && system[items[i + 1]].integer == 0) {
      return Unimplemented(
          "{}: its byte order is big, only little is read; save it again with a newer PyTorch",
          in.name());
    }
  }
  return OkStatus();
}

// C order, dimensions of one value aside, whose strides say nothing.
bool IsContiguous(const PtTensor& tensor) {
  int64_t expected = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] == 1) continue;
    if (tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

// Whether the tensor's values lie in the storage as an Array's do, so that none need be copied.
bool CanShare(const PtTensor& tensor, const ZipContent& storage) {
  const size_t size = DTypeSize(tensor.dtype);
  return NumValues(tensor.shape) > 0 && IsContiguous(tensor) &&
         reinterpret_cast<uintptr_t>(storage.data + tensor.offset * size) % size == 0;
}

// The values of a tensor with strides, in C order.
void Gather(const PtTensor& tensor, size_t dimension, const std::byte* from, std::byte*& to) {
  const size_t size = DTypeSize(tensor.dtype);
  if (dimension == tensor.shape.size()) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  for (int64_t i = 0; i < tensor.shape[dimension]; ++i) {
    Gather(tensor, dimension + 1, from + static_cast<size_t>(i * tensor.strides[dimension]) * size,
           to);
  }
}

Status CheckBooleans(const std::string& file, const std::string& tensor, const Array& array) {
  if (array.dtype() != DType::kBool) return OkStatus();
  const std::span values(array.data(), array.num_bytes());
  const auto bad =
      std::ranges::find_if(values, [](std::byte value) { return value > std::byte{1}; });
  if (bad == values.end()) return OkStatus();
  return DataLoss("{}: '{}': value {} is {:#04x}, a bool is 0 or 1; the file is damaged", file,
                  tensor, bad - values.begin(), std::to_integer<int>(*bad));
}

}  // namespace

bool IsPtArchive(const ZipFile& archive) { return FolderOf(archive).has_value(); }

Result<PtFile> PtFile::Open(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const FileBytes file, FileBytes::Open(path));
  STOKER_RETURN_IF_ERROR(file.LoadAll());
  return Parse(file.buffer(), path);
}

Result<PtFile> PtFile::Parse(Buffer bytes, std::string name) {
  const std::string_view text = TextOf(bytes);
  if (text.starts_with("PK\x03\x04")) return ParseArchive(std::move(bytes), std::move(name));
  if (text.starts_with(kOldMagic)) return ParseOld(std::move(bytes), std::move(name));
  return DataLoss("{}: byte 0: this is no file of PyTorch's torch.save; is the path right?", name);
}

Result<PtFile> PtFile::ParseArchive(Buffer bytes, std::string name) {
  PtFile file;
  STOKER_ASSIGN_OR_RETURN(file.archive_, ZipFile::Parse(bytes, name));
  const std::optional<std::string> folder = FolderOf(*file.archive_);
  if (!folder) {
    return DataLoss(
        "{}: this is a zip archive without a data.pkl, so no file of PyTorch; .npz and other "
        "archives are of other kinds",
        name);
  }
  STOKER_RETURN_IF_ERROR(CheckKind(*file.archive_, *folder));
  STOKER_ASSIGN_OR_RETURN(file.contents_, ReadArchivePickle(*file.archive_, *folder));
  STOKER_RETURN_IF_ERROR(FindRecords(*file.archive_, *folder, file.contents_));
  file.name_ = std::move(name);
  file.bytes_ = std::move(bytes);
  file.MakeEntries();
  return file;
}

Result<PtFile> PtFile::ParseOld(Buffer bytes, std::string name) {
  PtFile file;
  ByteReader in(std::span<const std::byte>(bytes.data(), bytes.size()), name);
  STOKER_RETURN_IF_ERROR(in.Skip(kOldMagic.size()));
  STOKER_RETURN_IF_ERROR(CheckOldHead(in));
  STOKER_ASSIGN_OR_RETURN(const PickleTree tree, internal::ReadPickle(in));
  STOKER_ASSIGN_OR_RETURN(file.contents_, internal::ReadPtContents(tree, name));
  STOKER_RETURN_IF_ERROR(FindOldStorages(in, file.contents_));
  file.name_ = std::move(name);
  file.bytes_ = std::move(bytes);
  file.MakeEntries();
  return file;
}

void PtFile::MakeEntries() {
  for (const PtTensor& tensor : contents_.tensors) {
    entries_.push_back({tensor.name, tensor.dtype, tensor.shape});
  }
}

Result<ZipContent> PtFile::ReadStorage(size_t storage) const {
  const PtStorage& of = contents_.storages[storage];
  if (of.entry) return archive_->Read(*of.entry);
  return ZipContent{
      .owner = bytes_, .data = bytes_.data() + of.offset, .bytes = of.values * DTypeSize(of.dtype)};
}

Result<Array> PtFile::View(const PtTensor& tensor, const ZipContent& storage) const {
  const size_t size = DTypeSize(tensor.dtype);
  const bool empty = NumValues(tensor.shape) == 0;
  const std::byte* const data = empty ? storage.data : storage.data + tensor.offset * size;
  Array array;
  if (CanShare(tensor, storage)) {
    array = Array(storage.owner, tensor.dtype, tensor.shape,
                  static_cast<size_t>(data - storage.owner.data()));
  } else {
    array = Array::Allocate(tensor.dtype, tensor.shape);
    std::byte* to = array.data();
    if (!empty) Gather(tensor, 0, data, to);
  }
  STOKER_RETURN_IF_ERROR(CheckBooleans(name_, tensor.name, array));
  return array;
}

Result<Array> PtFile::Read(std::string_view name) const {
  const auto found = std::ranges::find(contents_.tensors, name, &PtTensor::name);
  if (found == contents_.tensors.end()) {
    std::vector<std::string> names;
    for (const PtEntry& entry : entries_) names.push_back(entry.name);
    const std::string nearest = NearestName(name, names);
    return NotFound("{}: there is no tensor '{}' among the {}; {}", name_, name, names.size(),
                    nearest.empty() ? "`stoker inspect` lists them"
                                    : fmt::format("did you mean '{}'?", nearest));
  }
  STOKER_ASSIGN_OR_RETURN(const ZipContent storage, ReadStorage(found->storage));
  return View(*found, storage);
}

Result<std::vector<NamedArray>> PtFile::ReadAll() const {
  std::vector<std::optional<ZipContent>> storages(contents_.storages.size());
  std::vector<NamedArray> arrays;
  arrays.reserve(contents_.tensors.size());
  const uint64_t most = kMostCopies * bytes_.size() + kMostExtraCopies;
  uint64_t copied = 0;
  for (const PtTensor& tensor : contents_.tensors) {
    std::optional<ZipContent>& storage = storages[tensor.storage];
    if (!storage) {
      STOKER_ASSIGN_OR_RETURN(storage, ReadStorage(tensor.storage));
    }
    if (!CanShare(tensor, *storage)) {
      copied += *ArrayBytes(tensor.dtype, tensor.shape);
      if (copied > most) {
        return Unimplemented(
            "{}: '{}': the tensors up to here that are strided or unaligned views of others, and "
            "so are copied, have {} bytes, {} are the most for this file; save it with fewer of "
            "them",
            name_, tensor.name, copied, most);
      }
    }
    STOKER_ASSIGN_OR_RETURN(Array array, View(tensor, *storage));
    arrays.push_back({tensor.name, std::move(array)});
  }
  return arrays;
}

}  // namespace stoker
