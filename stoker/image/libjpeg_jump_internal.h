// Callbacks of libjpeg, for decoding and encoding: an error and a request to stop end in a jump to
// the caller of libjpeg.
#pragma once

#include <csetjmp>

#include "stoker/base/stop_counter.h"
#include "stoker/image/libjpeg.h"

namespace stoker::internal {

struct JumpingErrors : jpeg_error_mgr {
  jmp_buf jump;
  char text[JMSG_LENGTH_MAX] = {};

  JumpingErrors() : jpeg_error_mgr{} {
    jpeg_std_error(this);
    error_exit = Fail;
    output_message = [](j_common_ptr) {};
  }
  [[noreturn]] static void Fail(j_common_ptr cinfo) {
    auto& self = *static_cast<JumpingErrors*>(cinfo->err);
    self.format_message(cinfo, self.text);
    std::longjmp(self.jump, 1);
  }
};

// libjpeg calls it for each row of a scan and of the picture. Picture: jpeg_compress_struct or
// jpeg_decompress_struct. REQUIRES: its errors are JumpingErrors.
template <typename Picture>
struct JumpingStop : jpeg_progress_mgr {
  StopCounter stop;
  bool stopped = false;

  JumpingStop() : jpeg_progress_mgr{} { progress_monitor = Look; }
  static void Look(j_common_ptr common) {
    auto& self = *static_cast<JumpingStop*>(common->progress);
    self.stopped = self.stop.Asked(reinterpret_cast<Picture*>(common)->image_width);
    if (self.stopped) std::longjmp(static_cast<JumpingErrors*>(common->err)->jump, 1);
  }
};

}  // namespace stoker::internal
