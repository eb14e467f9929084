#include "stoker/formats/elements/element_file.h"

#include <algorithm>
#include <cstring>

#include "stoker/base/json_text.h"
#include "stoker/io/byte_reader.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

constexpr std::string_view kMagic = "STKELEM1", kEndMagic = "STKELEMZ";
constexpr size_t kStartBytes = 16;  // before the header's text
constexpr size_t kTrailerBytes = 32;
constexpr size_t kMaxHeader = 64 << 20;

template <typename T>
void AppendInteger(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string HeaderBytes(const ElementFileHeader& header) {
  const std::string text =
      DumpJson({{"fields", RecordFieldsToJson(header.fields)}, {"origin", header.origin}});
  std::string bytes(kMagic);
  AppendInteger(bytes, static_cast<uint32_t>(text.size()));
  AppendInteger(bytes, Crc32c(text));
  bytes += text;
  bytes.resize((bytes.size() + kElementAlignment - 1) / kElementAlignment * kElementAlignment,
               '\0');
  return bytes;
}

Result<ElementFileHeader> ParseHeader(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("fields") || !json.contains("origin") ||
      !json["origin"].is_string()) {
    return DataLoss("the header is no JSON object with fields and origin");
  }
  STOKER_ASSIGN_OR_RETURN(std::vector<ElementField> fields, RecordFieldsFromJson(json["fields"]));
  return ElementFileHeader{.fields = std::move(fields),
                           .origin = json["origin"].get<std::string>()};
}

// Moves past the header.
Result<ElementFileHeader> ReadHeader(const FileBytes& file, ByteReader& reader) {
  std::string magic(kMagic.size(), '\0');
  STOKER_RETURN_IF_ERROR(file.Load(0, std::min<uint64_t>(file.size(), kStartBytes)));
  STOKER_RETURN_IF_ERROR(reader.ReadBytes(std::as_writable_bytes(std::span(magic)), "magic"));
  if (magic != kMagic) {
    return DataLoss("{}: byte 0: this is no element file; check the path", reader.name());
  }
  STOKER_ASSIGN_OR_RETURN(const uint32_t length, reader.ReadU32Le("header length"));
  STOKER_ASSIGN_OR_RETURN(const uint32_t checksum, reader.ReadU32Le("header checksum"));
  STOKER_RETURN_IF_ERROR(reader.CheckAvailable(length, "header"));
  const uint64_t at = reader.position();
  const auto damaged = [&] {
    return DataLoss("{}: byte {}: the header does not have its checksum; the file is damaged",
                    reader.name(), at);
  };
  if (length > kMaxHeader) return damaged();
  STOKER_RETURN_IF_ERROR(file.Load(at, length));
  std::string text(length, '\0');
  STOKER_RETURN_IF_ERROR(reader.ReadBytes(std::as_writable_bytes(std::span(text)), "header"));
  if (Crc32c(text) != checksum) return damaged();
  Result<ElementFileHeader> header = ParseHeader(text);
  if (!header.ok())
    return DataLoss("{}: byte {}: {}", reader.name(), at, header.status().message());
  return header;
}

}  // namespace

Result<ElementFileWriter> ElementFileWriter::Create(const std::string& path,
                                                    const ElementFileHeader& header) {
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(path));
  STOKER_RETURN_IF_ERROR(file.Append(HeaderBytes(header)));
  return ElementFileWriter(std::move(file), path, ElementLayout(header.fields));
}

Status ElementFileWriter::Add(int64_t position, int64_t index, std::span<const Array> arrays) {
  const MutexLock lock(*mutex_);
  const auto at = static_cast<size_t>(position);
  if (at >= offsets_.size()) offsets_.resize(at + 1);
  if (offsets_[at] != 0) return OkStatus();
  const uint64_t offset = file_.size();
  record_.resize(layout_.RecordBytes(arrays));
  layout_.Write(index, arrays, record_.data());
  STOKER_RETURN_IF_ERROR(file_.Append(record_));
  offsets_[at] = offset;
  ++count_;
  return OkStatus();
}

int64_t ElementFileWriter::count() const {
  const MutexLock lock(*mutex_);
  return count_;
}

Status ElementFileWriter::Commit() {
  const MutexLock lock(*mutex_);
  if (count_ != std::ssize(offsets_)) {
    return FailedPrecondition("{}: only {} of {} elements are there; add all before finishing it",
                              path_, count_, offsets_.size());
  }
  const uint64_t index_at = file_.size();
  const std::span<const std::byte> index = std::as_bytes(std::span(offsets_));
  STOKER_RETURN_IF_ERROR(file_.Append(index));
  std::string trailer;
  AppendInteger(trailer, static_cast<uint64_t>(count_));
  AppendInteger(trailer, index_at);
  AppendInteger(trailer, Crc32c(index));
  AppendInteger(trailer, Crc32c(trailer));
  trailer += kEndMagic;
  STOKER_RETURN_IF_ERROR(file_.Append(trailer));
  return file_.Commit();
}

Result<ElementFile> ElementFile::Open(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(FileBytes file, FileBytes::Open(path, MapAdvice::kRandom));
  return Parse(std::move(file));
}

Result<bool> ElementFile::BeginsLikeOne(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  std::string magic(kMagic.size(), '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t size,
                          file.ReadUpTo(0, std::as_writable_bytes(std::span(magic))));
  return kMagic.starts_with(std::string_view(magic).substr(0, size));
}

Result<ElementFile> ElementFile::Parse(Buffer bytes, std::string name) {
  return Parse(FileBytes::Of(std::move(bytes), std::move(name)));
}

Result<ElementFile> ElementFile::Parse(FileBytes bytes) {
  ElementFile file(std::move(bytes));
  ByteReader reader(file.file_.bytes(), file.file_.name());
  STOKER_ASSIGN_OR_RETURN(file.header_, ReadHeader(file.file_, reader));
  STOKER_RETURN_IF_ERROR(file.ParseEnd(reader.position()));
  file.layout_ = std::make_shared<const ElementLayout>(file.header_.fields);
  return file;
}

Status ElementFile::ParseEnd(uint64_t records_at) {
  const std::string& name = file_.name();
  const std::span<const std::byte> all = file_.bytes();
  if (all.size() < records_at + kTrailerBytes)
    return DataLoss("{}: byte {}: the file is cut short: its end is missing", name, all.size());
  const uint64_t trailer_at = all.size() - kTrailerBytes;
  const std::span<const std::byte> trailer = all.subspan(trailer_at);
  STOKER_RETURN_IF_ERROR(file_.Load(trailer_at, kTrailerBytes));
  ByteReader end(trailer, name);
  STOKER_ASSIGN_OR_RETURN(const uint64_t count, end.ReadU64Le());
  STOKER_ASSIGN_OR_RETURN(index_at_, end.ReadU64Le());
  STOKER_ASSIGN_OR_RETURN(const uint32_t index_checksum, end.ReadU32Le());
  STOKER_ASSIGN_OR_RETURN(const uint32_t checksum, end.ReadU32Le());
  constexpr size_t kChecked = 20;
  if (std::memcmp(trailer.data() + kTrailerBytes - kEndMagic.size(), kEndMagic.data(),
                  kEndMagic.size()) != 0 ||
      checksum != Crc32c(trailer.first(kChecked))) {
    return DataLoss(
        "{}: byte {}: the end of the file does not have its checksum; it is cut short "
        "or damaged",
        name, trailer_at);
  }
  bool fits = index_at_ >= records_at && index_at_ <= trailer_at &&
              index_at_ % kElementAlignment == 0 &&
              (trailer_at - index_at_) / sizeof(uint64_t) == count &&
              (trailer_at - index_at_) % sizeof(uint64_t) == 0;
  if (fits) {
    STOKER_RETURN_IF_ERROR(file_.Load(index_at_, trailer_at - index_at_));
    fits = index_checksum == Crc32c(all.subspan(index_at_, trailer_at - index_at_));
  }
  if (!fits) {
    return DataLoss(
        "{}: byte {}: the index does not fit the file, or does not have its checksum; "
        "the file is damaged",
        name, index_at_);
  }
  size_ = static_cast<int64_t>(count);
  return OkStatus();
}

uint64_t ElementFile::OffsetOf(int64_t position) const {
  uint64_t offset = 0;
  std::memcpy(&offset,
              file_.bytes().data() + index_at_ + static_cast<uint64_t>(position) * sizeof(uint64_t),
              sizeof(offset));
  return offset;
}

Result<ElementLayout::Record> ElementFile::Read(int64_t position, const NewArray& make) const {
  const uint64_t at = OffsetOf(position);
  if (shared()) {
    STOKER_RETURN_IF_ERROR(ReadRecord(position).status());
    return layout_->Parse(file_.buffer(), at);
  }
  // The records end where the index begins. One that makes no sense is not read further than that
  // can be seen.
  const uint64_t left = index_at_ - std::min(at, index_at_);
  std::vector<std::byte> start(std::min<uint64_t>(layout_->start_bytes(), left));
  STOKER_RETURN_IF_ERROR(file_.ReadAt(at, start));
  uint64_t bytes = start.size();
  if (bytes == layout_->start_bytes())
    bytes = std::min(std::max(layout_->SizeOf(start), bytes), left);
  const Array room = make(DType::kUInt8, {static_cast<int64_t>(bytes)});
  const std::span<std::byte> record(room.data(), bytes);
  STOKER_RETURN_IF_ERROR(file_.ReadAt(at, record));
  STOKER_RETURN_IF_ERROR(layout_->Check(record, 0, file_.name(), at).status());
  return layout_->Parse(room.buffer(), 0);
}

Result<std::span<const std::byte>> ElementFile::ReadRecord(int64_t position) const {
  return layout_->Check(file_.bytes().first(index_at_), OffsetOf(position), file_.name());
}

}  // namespace stoker
