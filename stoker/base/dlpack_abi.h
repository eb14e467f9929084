// The binary layout of DLPack 0.8
// (https://github.com/dmlc/dlpack/blob/v0.8/include/dlpack/dlpack.h).
//
// Only array_dlpack.cc and its test include this: torch's own ATen/dlpack.h declares the same
// global names, so a file that includes torch must not see this one.
#pragma once

#include <cstdint>

enum : int32_t { kDLCPU = 1 };
enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in values, not bytes; null: contiguous
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
