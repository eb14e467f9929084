#include "stoker/formats/npy/npy_writer.h"

#include <cerrno>
#include <utility>

#include "stoker/formats/npy/npy.h"

namespace stoker {

Result<NpyWriter> NpyWriter::Create(std::string path, DType dtype, Shape row_shape) {
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wbe"));
  if (!file) return ErrnoStatus(errno, fmt::format("{}: cannot be made", path));
  NpyWriter writer(std::move(file), std::move(path), dtype, std::move(row_shape));
  STOKER_RETURN_IF_ERROR(writer.WriteHeader());
  return writer;
}

Status NpyWriter::Write(const void* bytes, size_t size) {
  if (size == 0 || std::fwrite(bytes, 1, size, file_.get()) == size) return OkStatus();
  return ErrnoStatus(errno, fmt::format("{}: cannot be written", path_));
}

// Its length does not depend on the number of rows: NumPy leaves room for any.
Status NpyWriter::WriteHeader() {
  STOKER_ASSIGN_OR_RETURN(const std::string header,
                          NpyHeaderOf(dtype_, ShapeOfRows(rows_, row_shape_), path_));
  return Write(header.data(), header.size());
}

Status NpyWriter::Append(const Array& row) {
  ++rows_;
  return Write(row.data(), row.num_bytes());
}

Status NpyWriter::Finish() {
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0)
    return ErrnoStatus(errno, fmt::format("{}: cannot be written", path_));
  STOKER_RETURN_IF_ERROR(WriteHeader());
  if (std::fclose(file_.release()) != 0)
    return ErrnoStatus(errno, fmt::format("{}: cannot be written", path_));
  return OkStatus();
}

}  // namespace stoker
