#include "stoker/data/pictures/picture_scratch.h"

namespace stoker {

ResampleScratch& ResampleScratchOfThisThread() {
  thread_local ResampleScratch scratch;
  return scratch;
}

DecodeScratch DecodeScratchFrom(Scratch& scratch) {
  return DecodeScratch([&scratch](size_t size) {
    return scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(size)}).buffer();
  });
}

}  // namespace stoker
