#include "stoker/formats/tfrecord/record_writer.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

using Header = std::array<std::byte, kTfRecordHeaderBytes>;

Header HeaderOf(uint64_t length) {
  Header header;
  std::memcpy(header.data(), &length, sizeof(length));
  const uint32_t checksum = MaskCrc32c(Crc32c(std::span(header).first(sizeof(length))));
  std::memcpy(header.data() + sizeof(length), &checksum, sizeof(checksum));
  return header;
}

}  // namespace

std::string FrameTfRecord(std::string_view record) {
  const Header header = HeaderOf(record.size());
  const uint32_t checksum = MaskCrc32c(Crc32c(record));
  std::string frame(reinterpret_cast<const char*>(header.data()), header.size());
  frame += record;
  frame.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return frame;
}

Result<TfRecordWriter> TfRecordWriter::Create(std::string path, Compression compression) {
  STOKER_ASSIGN_OR_RETURN(CompressedFileWriter file,
                          CompressedFileWriter::Create(std::move(path), compression));
  return TfRecordWriter(std::move(file));
}

Status TfRecordWriter::Append(std::span<const std::byte> record) {
  STOKER_RETURN_IF_ERROR(file_.Append(std::span<const std::byte>(HeaderOf(record.size()))));
  STOKER_RETURN_IF_ERROR(file_.Append(record));
  const uint32_t of_data = MaskCrc32c(Crc32c(record));
  return file_.Append(std::as_bytes(std::span(&of_data, 1)));
}

}  // namespace stoker
