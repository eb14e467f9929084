#include "stoker/data/pack/pack_checksum_internal.h"

#include "stoker/data/core/failure.h"
#include "stoker/io/checksum.h"

namespace stoker::internal {

uint32_t ElementChecksum(std::span<const Array> arrays) {
  uint32_t checksum = 0;
  for (const Array& array : arrays) {
    checksum = Crc32c(std::as_bytes(std::span(array.shape())), checksum);
    checksum = Crc32c(std::span<const std::byte>(array.data(), array.num_bytes()), checksum);
  }
  return checksum;
}

uint32_t JoinedChecksum(uint32_t checksum, uint32_t element) {
  return Crc32c(std::as_bytes(std::span(&element, 1)), checksum);
}

Status CheckPackedFile(const PackFormat& format, const std::string& path, const Spec& spec,
                       int64_t elements, uint32_t checksum, const std::function<Status()>& each) {
  uint32_t found = 0;
  int64_t number = 0;
  const Status status = format.read(path, spec, [&](std::span<const Array> arrays) -> Status {
    found = JoinedChecksum(found, ElementChecksum(arrays));
    ++number;
    return each();
  });
  if (!status.ok()) return IsAboutOneElement(status) ? DataLoss("{}", status.message()) : status;
  if (number == elements && found == checksum) return OkStatus();
  return DataLoss("{}: other elements are read back than were written", path);
}

}  // namespace stoker::internal
