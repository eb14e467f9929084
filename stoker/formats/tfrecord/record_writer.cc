#include "stoker/formats/tfrecord/record_writer.h"

#include <cstdint>
#include <cstring>

#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/checksum.h"

namespace stoker {

Result<TfRecordWriter> TfRecordWriter::Create(std::string path, Compression compression) {
  STOKER_ASSIGN_OR_RETURN(CompressedFileWriter file,
                          CompressedFileWriter::Create(std::move(path), compression));
  return TfRecordWriter(std::move(file));
}

Status TfRecordWriter::Append(std::span<const std::byte> record) {
  std::byte header[kTfRecordHeaderBytes];
  const uint64_t length = record.size();
  std::memcpy(header, &length, sizeof(length));
  const uint32_t of_length = MaskCrc32c(Crc32c({header, sizeof(length)}));
  std::memcpy(header + sizeof(length), &of_length, sizeof(of_length));
  STOKER_RETURN_IF_ERROR(file_.Append(std::span<const std::byte>(header)));
  STOKER_RETURN_IF_ERROR(file_.Append(record));
  const uint32_t of_data = MaskCrc32c(Crc32c(record));
  return file_.Append(std::as_bytes(std::span(&of_data, 1)));
}

}  // namespace stoker
