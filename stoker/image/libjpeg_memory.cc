#include "stoker/image/libjpeg_memory.h"

#include <cstring>
#include <new>

// libjpeg declares these two and leaves them to the memory manager. All of an array is in memory.
struct jvirt_sarray_control {
  JSAMPARRAY rows;
  JDIMENSION num_rows;
};
struct jvirt_barray_control {
  JBLOCKARRAY rows;
  JDIMENSION num_rows;
};

namespace stoker {
namespace {

// libjpeg-turbo's vector instructions read and write whole vectors at the ends of rows (jmemmgr.c:
// twice 32 bytes); the scratch memory aligns their beginnings.
constexpr size_t kRowBytes = 64;

}  // namespace

LibjpegMemory::LibjpegMemory(jpeg_decompress_struct& cinfo, DecodeScratch& scratch)
    : jpeg_memory_mgr{}, cinfo_(cinfo), heap_(cinfo.mem), scratch_(scratch) {
  alloc_small = AllocAny;
  alloc_large = AllocAny;
  alloc_sarray = AllocSamples;
  alloc_barray = AllocBlocks;
  request_virt_sarray = RequestSamples;
  request_virt_barray = RequestBlocks;
  realize_virt_arrays = RealizeArrays;
  access_virt_sarray = AccessSamples;
  access_virt_barray = AccessBlocks;
  free_pool = FreePool;
  self_destruct = DestroyNothing;
  max_memory_to_use = heap_->max_memory_to_use;
  max_alloc_chunk = heap_->max_alloc_chunk;
  cinfo.mem = this;
}

LibjpegMemory::~LibjpegMemory() { cinfo_.mem = heap_; }

void* LibjpegMemory::Take(j_common_ptr cinfo, size_t bytes) {
  void* memory = nullptr;
  try {  // an exception must not pass through C
    memory = Of(cinfo).scratch_.Take(bytes);
  } catch (const std::bad_alloc&) {
  }
  if (memory == nullptr) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
  return memory;
}

void* LibjpegMemory::AllocAny(j_common_ptr cinfo, int /*pool*/, size_t bytes) {
  return Take(cinfo, bytes);
}

JSAMPARRAY LibjpegMemory::AllocSamples(j_common_ptr cinfo, int /*pool*/, JDIMENSION width,
                                       JDIMENSION rows) {
  const size_t stride = (size_t{width} + kRowBytes - 1) / kRowBytes * kRowBytes;
  auto* const pointers = static_cast<JSAMPARRAY>(Take(cinfo, rows * sizeof(JSAMPROW)));
  auto* const samples = static_cast<JSAMPROW>(Take(cinfo, rows * stride));
  for (size_t row = 0; row < rows; ++row) pointers[row] = samples + row * stride;
  return pointers;
}

JBLOCKARRAY LibjpegMemory::AllocBlocks(j_common_ptr cinfo, int /*pool*/, JDIMENSION width,
                                       JDIMENSION rows) {
  auto* const pointers = static_cast<JBLOCKARRAY>(Take(cinfo, rows * sizeof(JBLOCKROW)));
  auto* const blocks = static_cast<JBLOCKROW>(Take(cinfo, rows * width * sizeof(JBLOCK)));
  for (size_t row = 0; row < rows; ++row) pointers[row] = blocks + row * width;
  return pointers;
}

jvirt_sarray_ptr LibjpegMemory::RequestSamples(j_common_ptr cinfo, int pool, boolean pre_zero,
                                               JDIMENSION width, JDIMENSION rows,
                                               JDIMENSION /*max_access*/) {
  auto* const array = static_cast<jvirt_sarray_ptr>(Take(cinfo, sizeof(jvirt_sarray_control)));
  *array = {AllocSamples(cinfo, pool, width, rows), rows};
  for (size_t row = 0; pre_zero && row < rows; ++row) std::memset(array->rows[row], 0, width);
  return array;
}

jvirt_barray_ptr LibjpegMemory::RequestBlocks(j_common_ptr cinfo, int pool, boolean pre_zero,
                                              JDIMENSION width, JDIMENSION rows,
                                              JDIMENSION /*max_access*/) {
  auto* const array = static_cast<jvirt_barray_ptr>(Take(cinfo, sizeof(jvirt_barray_control)));
  *array = {AllocBlocks(cinfo, pool, width, rows), rows};
  if (pre_zero && rows > 0) std::memset(array->rows[0], 0, size_t{rows} * width * sizeof(JBLOCK));
  return array;
}

JSAMPARRAY LibjpegMemory::AccessSamples(j_common_ptr cinfo, jvirt_sarray_ptr array,
                                        JDIMENSION first, JDIMENSION rows, boolean /*writable*/) {
  if (first > array->num_rows || rows > array->num_rows - first)
    ERREXIT(cinfo, JERR_BAD_VIRTUAL_ACCESS);
  return array->rows + first;
}

JBLOCKARRAY LibjpegMemory::AccessBlocks(j_common_ptr cinfo, jvirt_barray_ptr array,
                                        JDIMENSION first, JDIMENSION rows, boolean /*writable*/) {
  if (first > array->num_rows || rows > array->num_rows - first)
    ERREXIT(cinfo, JERR_BAD_VIRTUAL_ACCESS);
  return array->rows + first;
}

}  // namespace stoker
