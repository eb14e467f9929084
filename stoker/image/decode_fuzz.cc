// Any bytes as a picture, with options that follow from them: no crash, and regions are crops of
// the whole.
#include "stoker/image/decode_differential.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using stoker::ImageChannels;
  if (size < 2) return 0;
  // The last bytes choose, since the first tell the format.
  const uint8_t choice = data[size - 1];
  stoker::DecodeOptions options{.jpeg_warnings_are_errors = (choice & 1) != 0,
                                .limits = {.max_pixels = 1 << 18}};
  options.channels = (choice & 6) == 0   ? ImageChannels::kGrey
                     : (choice & 6) == 2 ? ImageChannels::kAsStored
                     : (choice & 6) == 4 ? ImageChannels::kRgb
                     : (choice & 8) != 0 ? ImageChannels::kIndex16
                                         : ImageChannels::kIndex;
  if ((choice & 8) != 0) options.background = {{10, 200, 90}};
  const std::string wrong = stoker::WrongWithRegions(
      {reinterpret_cast<const std::byte*>(data), size}, options, choice, /*num_regions=*/2);
  if (!wrong.empty()) {
    fmt::print(stderr, "{}\n", wrong);
    __builtin_trap();
  }
  return 0;
}
