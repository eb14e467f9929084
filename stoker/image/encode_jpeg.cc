#include "stoker/image/encode_jpeg.h"

#include <cstdlib>
#include <vector>

#include "stoker/image/interleave_row.h"
#include "stoker/image/libjpeg_jump_internal.h"

namespace stoker {
namespace {

// One picture. Between setjmp and the jump back to it, frames hold nothing that would have to be
// destroyed: members do.
class Encoder {
 public:
  Encoder(const PixelView& pixels, const EncodeOptions& options)
      : pixels_(pixels),
        options_(options),
        row_(static_cast<size_t>(pixels.width * pixels.channels)) {
    cinfo_.err = &errors_;
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    jpeg_destroy_compress(&cinfo_);
    std::free(file_);
  }

  Result<std::string> Run() {
    if (!Guarded()) {
      if (monitor_.stopped) return Cancelled("JPEG: asked to stop while it was written");
      const bool memory = errors_.msg_code == JERR_OUT_OF_MEMORY;
      return Status(memory ? StatusCode::kResourceExhausted : StatusCode::kUnimplemented,
                    fmt::format("JPEG: cannot be written: {}", errors_.text));
    }
    return std::string(reinterpret_cast<const char*>(file_), bytes_);
  }

 private:
  bool Guarded() {
    if (setjmp(errors_.jump) != 0) return false;
    Compress();
    return true;
  }

  void Compress() {
    jpeg_create_compress(&cinfo_);
    cinfo_.progress = &monitor_;
    jpeg_mem_dest(&cinfo_, &file_, &bytes_);
    cinfo_.image_width = static_cast<JDIMENSION>(pixels_.width);
    cinfo_.image_height = static_cast<JDIMENSION>(pixels_.height);
    cinfo_.input_components = static_cast<int>(pixels_.channels);
    cinfo_.in_color_space = pixels_.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&cinfo_);
    jpeg_set_quality(&cinfo_, options_.quality, /*force_baseline=*/TRUE);
    cinfo_.dct_method = JDCT_ISLOW;  // exact, so alike on every CPU
    cinfo_.optimize_coding = TRUE;
    if (pixels_.channels == 3) {
      cinfo_.comp_info[0].h_samp_factor = options_.subsampling == ChromaSubsampling::k444 ? 1 : 2;
      cinfo_.comp_info[0].v_samp_factor = options_.subsampling == ChromaSubsampling::k420 ? 2 : 1;
    }
    jpeg_start_compress(&cinfo_, TRUE);
    JSAMPROW rows[] = {row_.data()};
    while (cinfo_.next_scanline < cinfo_.image_height) {
      InterleaveRow(pixels_, cinfo_.next_scanline, row_.data());
      jpeg_write_scanlines(&cinfo_, rows, 1);
    }
    jpeg_finish_compress(&cinfo_);
  }

  const PixelView& pixels_;
  const EncodeOptions& options_;
  std::vector<uint8_t> row_;
  internal::JumpingErrors errors_;
  internal::JumpingStop<jpeg_compress_struct> monitor_;
  jpeg_compress_struct cinfo_ = {};
  unsigned char* file_ = nullptr;
  unsigned long bytes_ = 0;  // NOLINT: libjpeg's type
};

}  // namespace

Result<std::string> EncodeJpeg(const PixelView& pixels, const EncodeOptions& options) {
  if (pixels.width > JPEG_MAX_DIMENSION || pixels.height > JPEG_MAX_DIMENSION) {
    return InvalidArgument(
        "JPEG: {} x {} pixels (width x height) cannot be written; a side has at most {}",
        pixels.width, pixels.height, JPEG_MAX_DIMENSION);
  }
  return Encoder(pixels, options).Run();
}

}  // namespace stoker
