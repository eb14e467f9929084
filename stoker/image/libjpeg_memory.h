// A memory manager for libjpeg that uses a DecodeScratch: it takes nothing from the heap for a
// picture, and charges memory where the scratch does.
#pragma once

#include <cstddef>

#include "stoker/image/decode_scratch.h"
#include "stoker/image/libjpeg.h"

namespace stoker {

// Replaces cinfo.mem between construction (after jpeg_create_decompress) and destruction (before
// jpeg_destroy_decompress). Frees nothing piece by piece: the scratch's owner resets it after the
// picture. Raises libjpeg's errors through cinfo.err.
class LibjpegMemory : private jpeg_memory_mgr {
 public:
  LibjpegMemory(jpeg_decompress_struct& cinfo, DecodeScratch& scratch);
  LibjpegMemory(const LibjpegMemory&) = delete;
  LibjpegMemory& operator=(const LibjpegMemory&) = delete;
  ~LibjpegMemory();

 private:
  static LibjpegMemory& Of(j_common_ptr cinfo) { return *static_cast<LibjpegMemory*>(cinfo->mem); }
  static void* Take(j_common_ptr cinfo, size_t bytes);

  static void* AllocAny(j_common_ptr cinfo, int pool, size_t bytes);
  static JSAMPARRAY AllocSamples(j_common_ptr cinfo, int pool, JDIMENSION width, JDIMENSION rows);
  static JBLOCKARRAY AllocBlocks(j_common_ptr cinfo, int pool, JDIMENSION width, JDIMENSION rows);
  static jvirt_sarray_ptr RequestSamples(j_common_ptr cinfo, int pool, boolean pre_zero,
                                         JDIMENSION width, JDIMENSION rows, JDIMENSION max_access);
  static jvirt_barray_ptr RequestBlocks(j_common_ptr cinfo, int pool, boolean pre_zero,
                                        JDIMENSION width, JDIMENSION rows, JDIMENSION max_access);
  static JSAMPARRAY AccessSamples(j_common_ptr cinfo, jvirt_sarray_ptr array, JDIMENSION first,
                                  JDIMENSION rows, boolean writable);
  static JBLOCKARRAY AccessBlocks(j_common_ptr cinfo, jvirt_barray_ptr array, JDIMENSION first,
                                  JDIMENSION rows, boolean writable);
  static void RealizeArrays(j_common_ptr) {}  // requests already made them
  static void FreePool(j_common_ptr, int) {}
  static void DestroyNothing(j_common_ptr) {}

  jpeg_decompress_struct& cinfo_;
  jpeg_memory_mgr* const heap_;  // made by jpeg_create_decompress; owns earlier allocations
  DecodeScratch& scratch_;
};

}  // namespace stoker
