#include "stoker/image/libjpeg_decoder.h"

#include <cstring>
#include <optional>

#include "stoker/image/libjpeg_jump_internal.h"
#include "stoker/image/libjpeg_memory.h"

namespace stoker {
namespace {

// A file of a few bytes may announce scan after scan over a huge picture. Real ones have about ten.
constexpr int kMaxScans = 200;

// Warnings end in a jump too where they count as errors.
struct ErrorManager : internal::JumpingErrors {
  bool warnings_are_errors = true;

  explicit ErrorManager(bool strict) : warnings_are_errors(strict) { emit_message = Emit; }
  static void Emit(j_common_ptr cinfo, int level) {
    auto& self = *static_cast<ErrorManager*>(cinfo->err);
    if (level >= 0) return;  // a trace
    if (self.warnings_are_errors) Fail(cinfo);
    ++self.num_warnings;
  }
};

// All of the file is there from the beginning.
struct MemorySource : jpeg_source_mgr {
  bool cut_short = false;

  explicit MemorySource(std::span<const std::byte> bytes) : jpeg_source_mgr{} {
    next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    bytes_in_buffer = bytes.size();
    init_source = [](j_decompress_ptr) {};
    term_source = [](j_decompress_ptr) {};
    resync_to_restart = jpeg_resync_to_restart;
    fill_input_buffer = Fill;
    skip_input_data = Skip;
  }
  // The file has ended. Where that is no error, it goes on with ends of the picture.
  static boolean Fill(j_decompress_ptr cinfo) {
    static constexpr JOCTET kEnd[] = {0xff, JPEG_EOI};
    auto& self = *static_cast<MemorySource*>(cinfo->src);
    self.cut_short = true;
    WARNMS(cinfo, JWRN_JPEG_EOF);
    self.next_input_byte = kEnd;
    self.bytes_in_buffer = sizeof(kEnd);
    return TRUE;
  }
  static void Skip(j_decompress_ptr cinfo, long count) {  // NOLINT: libjpeg's type
    auto& self = *static_cast<MemorySource*>(cinfo->src);
    const size_t skipped = count < 0 ? 0 : static_cast<size_t>(count);
    if (skipped > self.bytes_in_buffer) return (void)Fill(cinfo);
    self.next_input_byte += skipped;
    self.bytes_in_buffer -= skipped;
  }
};

// What is asked of one picture. Between Guarded's setjmp and the jump back to it, frames hold
// nothing that would have to be destroyed: members do.
class Decoder {
 public:
  Decoder(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
          const DecodeOptions& options, const PixelRows& out, DecodeScratch& scratch)
      : image_(image),
        info_(info),
        region_(region),
        options_(options),
        out_(out),
        scratch_(scratch),
        errors_(options.jpeg_warnings_are_errors),
        source_(image.bytes) {
    cinfo_.err = &errors_;
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() {
    memory_.reset();
    jpeg_destroy_decompress(&cinfo_);
  }

  Status Decode() {
    if (!Guarded([this] { jpeg_create_decompress(&cinfo_); })) return Error();
    memory_.emplace(cinfo_, scratch_);
    cinfo_.src = &source_;
    cinfo_.progress = &progress_;
    if (!Guarded([this] { Start(); })) return Error();
    STOKER_RETURN_IF_ERROR(
        CheckIsAsProbed(image_.name, info_, cinfo_.image_width, cinfo_.image_height));
    if (!Guarded([this] { ReadRegion(); })) return Error();
    return OkStatus();
  }

 private:
  // False if libjpeg has jumped out of `body`.
  template <typename Body>
  bool Guarded(Body body) {
    if (setjmp(errors_.jump) != 0) return false;
    body();
    return true;
  }

  struct Monitor : internal::JumpingStop<jpeg_decompress_struct> {
    Monitor() { progress_monitor = LookAndLimitScans; }
  };

  static void LookAndLimitScans(j_common_ptr common) {
    Monitor::Look(common);
    if (reinterpret_cast<j_decompress_ptr>(common)->input_scan_number <= kMaxScans) return;
    auto& errors = *static_cast<ErrorManager*>(common->err);
    std::snprintf(errors.text, sizeof(errors.text), "more than %d scans", kMaxScans);
    std::longjmp(errors.jump, 1);
  }

  void Start() {
    jpeg_read_header(&cinfo_, TRUE);
    layout_ = ChooseColours();
    cinfo_.scale_num = 1;
    cinfo_.scale_denom = static_cast<unsigned>(region_.fast_scale);
    cinfo_.dct_method = JDCT_ISLOW;
    cinfo_.do_fancy_upsampling = TRUE;
    cinfo_.do_block_smoothing = FALSE;
    jpeg_start_decompress(&cinfo_);
  }

  // libjpeg converts what has 1 or 3 components, we the rest.
  PixelLayout ChooseColours() {
    if (cinfo_.num_components == 4) {
      cinfo_.out_color_space = JCS_CMYK;
      return cinfo_.saw_Adobe_marker ? PixelLayout::kInvertedCmyk : PixelLayout::kCmyk;
    }
    cinfo_.out_color_space = info_.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    return info_.channels == 1 ? PixelLayout::kGrey : PixelLayout::kRgb;
  }

  void ReadRegion() {
    JDIMENSION left = 0;
    Crop(&left);
    SkipTo(region_.y);
    const auto pixel = static_cast<int64_t>(BytesPerPixel(layout_));
    const bool direct = pixel == info_.channels && left == region_.x &&
                        cinfo_.output_width == static_cast<JDIMENSION>(region_.width);
    JSAMPROW row = nullptr;
    if (!direct || cinfo_.output_scanline < region_.y) {
      row = *cinfo_.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&cinfo_), JPOOL_IMAGE,
                                      cinfo_.output_width * static_cast<JDIMENSION>(pixel), 1);
    }
    while (cinfo_.output_scanline < region_.y) jpeg_read_scanlines(&cinfo_, &row, 1);
    for (int64_t y = 0; y < region_.height; ++y) {
      JSAMPROW to = direct ? out_.row(y) : row;
      jpeg_read_scanlines(&cinfo_, &to, 1);
      if (direct) continue;
      ConvertPixels(layout_, row + (region_.x - left) * pixel, static_cast<size_t>(region_.width),
                    std::nullopt, info_.channels, out_.row(y));
    }
    // What follows the pixels, so that a file without its end is noticed.
    if (options_.jpeg_warnings_are_errors && cinfo_.output_scanline == cinfo_.output_height)
      jpeg_finish_decompress(&cinfo_);
  }

  // Narrows the rows to whole MCUs around the region's columns. Chroma is interpolated between
  // neighbours, and the columns at a cut see none, so the cut is moved away from the region.
  void Crop(JDIMENSION* left) {
    const int64_t margin = 2 * int64_t{cinfo_.max_h_samp_factor};
    const int64_t begin = std::max<int64_t>(0, region_.x - margin);
    const int64_t end = std::min<int64_t>(cinfo_.output_width, region_.x + region_.width + margin);
    if ((begin == 0 && end == cinfo_.output_width) || !CropIsExact()) return;
    *left = static_cast<JDIMENSION>(begin);
    JDIMENSION width = static_cast<JDIMENSION>(end - begin);
    jpeg_crop_scanline(&cinfo_, left, &width);
  }

  // jpeg_crop_scanline takes the widths of components for those of an unscaled picture. That
  // matters where scaling has made up for a part of a component's subsampling only (4:1:0 at 1/2).
  bool CropIsExact() const {
    for (int i = 0; i < cinfo_.num_components; ++i) {
      const jpeg_component_info& component = cinfo_.comp_info[i];
      const int scale = component.DCT_scaled_size / cinfo_.min_DCT_scaled_size;
      if (scale != 1 && component.h_samp_factor * scale != cinfo_.max_h_samp_factor) return false;
    }
    return true;
  }

  // Skips to a row of MCUs whose last rows, at the latest, come before those that the region's
  // first rows are interpolated from: the first rows after a skip lack their neighbours above.
  void SkipTo(int64_t y) {
    const int64_t mcu = int64_t{cinfo_.max_v_samp_factor} * cinfo_.min_DCT_scaled_size;
    const int64_t above = std::max<int64_t>(0, y - 2 * int64_t{cinfo_.max_v_samp_factor});
    const int64_t skipped = above / mcu * mcu;
    if (skipped > 0) jpeg_skip_scanlines(&cinfo_, static_cast<JDIMENSION>(skipped));
  }

  Status Error() const {
    if (progress_.stopped) return DecodingStopped(image_.name);
    if (errors_.msg_code == JERR_OUT_OF_MEMORY) {
      return ResourceExhausted(
          "{}: no memory to decode this JPEG; free some, or decode fewer at a time", image_.name);
    }
    if (errors_.msg_code == JERR_FRACT_SAMPLE_NOTIMPL ||
        errors_.msg_code == JERR_CONVERSION_NOTIMPL) {
      return Unimplemented("{}: {}; libjpeg does not decode such a JPEG: convert it", image_.name,
                           errors_.text);
    }
    if (source_.cut_short) {
      return DataLoss(
          "{}: byte {}: the JPEG ends too early; the file was cut short: copy or download it again",
          image_.name, image_.bytes.size());
    }
    return DataLoss("{}: before byte {}: {}; the JPEG is damaged: copy or download it again",
                    image_.name, image_.bytes.size() - source_.bytes_in_buffer, errors_.text);
  }

  const EncodedImage& image_;
  const ImageInfo& info_;
  const ImageRegion& region_;
  const DecodeOptions& options_;
  const PixelRows& out_;
  DecodeScratch& scratch_;
  ErrorManager errors_;
  MemorySource source_;
  Monitor progress_;
  jpeg_decompress_struct cinfo_ = {};
  std::optional<LibjpegMemory> memory_;
  PixelLayout layout_ = PixelLayout::kRgb;
};

}  // namespace

Status DecodeWithLibjpeg(const EncodedImage& image, const ImageInfo& info,
                         const ImageRegion& region, const DecodeOptions& options,
                         const PixelRows& out, DecodeScratch& scratch) {
  return Decoder(image, info, region, options, out, scratch).Decode();
}

}  // namespace stoker
