#include <algorithm>
#include <memory>
#include <utility>

#include "stoker/base/array.h"
#include "stoker/base/dlpack_abi.h"

namespace stoker {
namespace {

struct DTypePair {
  DType dtype;
  DLDataType dlpack;
};

constexpr DTypePair kDTypes[] = {
    {DType::kBool, {kDLBool, 8, 1}},      {DType::kUInt8, {kDLUInt, 8, 1}},
    {DType::kInt8, {kDLInt, 8, 1}},       {DType::kInt16, {kDLInt, 16, 1}},
    {DType::kInt32, {kDLInt, 32, 1}},     {DType::kInt64, {kDLInt, 64, 1}},
    {DType::kFloat16, {kDLFloat, 16, 1}}, {DType::kBFloat16, {kDLBfloat, 16, 1}},
    {DType::kFloat32, {kDLFloat, 32, 1}}, {DType::kFloat64, {kDLFloat, 64, 1}},
};

// What an exported tensor needs for as long as it lives, the tensor itself included.
struct Export {
  Array array;
  Shape strides;
  DLManagedTensor tensor;
};

struct CallDeleter {
  void operator()(DLManagedTensor* tensor) const {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};

Shape ContiguousStrides(std::span<const int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// A dimension of extent 1 is never stepped over, so its stride may be anything; where there are no
// values, every one.
bool IsContiguous(const DLTensor& tensor, const Shape& shape) {
  if (tensor.strides == nullptr || NumValues(shape) == 0) return true;
  const Shape wanted = ContiguousStrides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && tensor.strides[i] != wanted[i]) return false;
  }
  return true;
}

Result<DType> DTypeOfDLPack(DLDataType type) {
  for (const DTypePair& pair : kDTypes) {
    if (pair.dlpack.code == type.code && pair.dlpack.bits == type.bits &&
        pair.dlpack.lanes == type.lanes) {
      return pair.dtype;
    }
  }
  return Unimplemented(
      "DLPack tensor: type code {} with {} bits and {} lanes has no dtype here; convert it first",
      type.code, type.bits, type.lanes);
}

// The tensor's shape, after a check that its size in bytes can be represented.
Result<Shape> ShapeOfDLPack(const DLTensor& tensor, size_t value_bytes) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return InvalidArgument(
        "DLPack tensor: {} dimensions without a shape; the library that made it must say one",
        tensor.ndim);
  }
  Shape shape(tensor.shape, tensor.shape + tensor.ndim);
  auto bytes = static_cast<int64_t>(value_bytes);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(shape[i], 1), &bytes)) {
      return InvalidArgument(
          "DLPack tensor: shape {} cannot be, at dimension {}; the library that made it must give "
          "extents from 0 on",
          ShapeToString(shape), i);
    }
  }
  return shape;
}

}  // namespace

DLManagedTensor* ToDLPack(const Array& array) {
  auto made = std::make_unique<Export>();
  made->array = array;
  made->strides = ContiguousStrides(array.shape());
  DLTensor& tensor = made->tensor.dl_tensor;
  tensor.data = array.data();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(array.shape().size());
  tensor.dtype = kDTypes[static_cast<size_t>(array.dtype())].dlpack;
  // Readers of DLPack do not write it.
  tensor.shape = const_cast<int64_t*>(made->array.shape().data());
  tensor.strides = made->strides.data();
  tensor.byte_offset = 0;
  made->tensor.manager_ctx = made.get();
  made->tensor.deleter = [](DLManagedTensor* self) {
    delete static_cast<Export*>(self->manager_ctx);
  };
  return &made.release()->tensor;
}

Result<Array> FromDLPack(DLManagedTensor* managed) {
  std::shared_ptr<DLManagedTensor> owner(managed, CallDeleter());
  const DLTensor& tensor = managed->dl_tensor;
  if (tensor.device.device_type != kDLCPU) {
    return InvalidArgument(
        "DLPack tensor: it lies on a device of type {}; copy it to the CPU first",
        tensor.device.device_type);
  }
  STOKER_ASSIGN_OR_RETURN(const DType dtype, DTypeOfDLPack(tensor.dtype));
  STOKER_ASSIGN_OR_RETURN(Shape shape, ShapeOfDLPack(tensor, DTypeSize(dtype)));
  if (!IsContiguous(tensor, shape)) {
    return InvalidArgument("DLPack tensor: {}{} is not contiguous; copy it first", DTypeName(dtype),
                           ShapeToString(shape));
  }
  const size_t bytes = static_cast<size_t>(NumValues(shape)) * DTypeSize(dtype);
  std::byte* const data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  return Array(Buffer::Wrap(data, bytes, [owner = std::move(owner)]() mutable { owner.reset(); }),
               dtype, std::move(shape));
}

}  // namespace stoker
