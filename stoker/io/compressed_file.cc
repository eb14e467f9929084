#include "stoker/io/compressed_file.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace stoker {
namespace {

constexpr size_t kOutputBytes = 64 << 10;
constexpr size_t kMaxInputPart = size_t{1} << 30;  // zlib counts in 32 bits
constexpr int kZlibWindow = 15, kGzipWindow = 15 + 16;

}  // namespace

class CompressedFileWriter::Deflater {
 public:
  Deflater() = default;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() {
    if (begun_) deflateEnd(&stream_);
  }

  Status Begin(int level, int window) {
    begun_ = deflateInit2(&stream_, level, Z_DEFLATED, window, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) ==
             Z_OK;
    if (!begun_) return ResourceExhausted("no memory for the compressor's state; free some");
    return OkStatus();
  }

  Status Deflate(std::span<const std::byte> bytes, bool finish, AtomicFileWriter& file) {
    do {
      const size_t part = std::min(bytes.size(), kMaxInputPart);
      const bool last = part == bytes.size();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(part);
      bytes = bytes.subspan(part);
      STOKER_RETURN_IF_ERROR(Drain(finish && last ? Z_FINISH : Z_NO_FLUSH, file));
    } while (!bytes.empty());
    return OkStatus();
  }

 private:
  // Until the compressor has room left, all that it was given is in the file or in its state.
  Status Drain(int flush, AtomicFileWriter& file) {
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      if (deflate(&stream_, flush) == Z_STREAM_ERROR)
        return Internal("zlib's deflate is in an impossible state");
      STOKER_RETURN_IF_ERROR(
          file.Append(std::span(output_).first(output_.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0);
    return OkStatus();
  }

  z_stream stream_{};
  bool begun_ = false;
  std::vector<std::byte> output_ = std::vector<std::byte>(kOutputBytes);
};

CompressedFileWriter::CompressedFileWriter(AtomicFileWriter file,
                                           std::unique_ptr<Deflater> deflater)
    : file_(std::move(file)), deflater_(std::move(deflater)) {}
CompressedFileWriter::CompressedFileWriter(CompressedFileWriter&& other) noexcept = default;
CompressedFileWriter& CompressedFileWriter::operator=(CompressedFileWriter&& other) noexcept =
    default;
CompressedFileWriter::~CompressedFileWriter() = default;

Result<CompressedFileWriter> CompressedFileWriter::Create(std::string path, Compression compression,
                                                          int level) {
  if (level < 1 || level > 9)
    return InvalidArgument("{}: compression level {}: it must lie in 1..9", path, level);
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(std::move(path)));
  std::unique_ptr<Deflater> deflater;
  if (compression != Compression::kNone) {
    deflater = std::make_unique<Deflater>();
    STOKER_RETURN_IF_ERROR(
        deflater->Begin(level, compression == Compression::kGzip ? kGzipWindow : kZlibWindow));
  }
  return CompressedFileWriter(std::move(file), std::move(deflater));
}

Status CompressedFileWriter::Append(std::span<const std::byte> bytes) {
  return deflater_ ? deflater_->Deflate(bytes, /*finish=*/false, file_) : file_.Append(bytes);
}

Status CompressedFileWriter::Commit() {
  if (deflater_) STOKER_RETURN_IF_ERROR(deflater_->Deflate({}, /*finish=*/true, file_));
  return file_.Commit();
}

}  // namespace stoker
