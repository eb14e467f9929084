#include "stoker/device/tensor.h"

#include <ATen/ops/from_blob.h>

#include <array>
#include <utility>

namespace stoker {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 10> kTypes = {{
    {DType::kBool, at::kBool},
    {DType::kUInt8, at::kByte},
    {DType::kInt8, at::kChar},
    {DType::kInt16, at::kShort},
    {DType::kInt32, at::kInt},
    {DType::kInt64, at::kLong},
    {DType::kFloat16, at::kHalf},
    {DType::kBFloat16, at::kBFloat16},
    {DType::kFloat32, at::kFloat},
    {DType::kFloat64, at::kDouble},
}};

}  // namespace

at::ScalarType ToScalarType(DType dtype) {
  for (const auto& [ours, torchs] : kTypes) {
    if (ours == dtype) return torchs;
  }
  return at::ScalarType::Undefined;
}

Result<DType> FromScalarType(at::ScalarType type) {
  for (const auto& [ours, torchs] : kTypes) {
    if (torchs == type) return ours;
  }
  return Unimplemented("torch's type {} has no counterpart here; convert the tensor first",
                       c10::toString(type));
}

at::Tensor ToTensor(const Array& array) {
  return at::from_blob(
      array.data(), array.shape(), [keep_alive = array.buffer()](void*) {},
      at::TensorOptions(ToScalarType(array.dtype())));
}

Result<Array> ToArray(const at::Tensor& tensor) {
  STOKER_ASSIGN_OR_RETURN(const DType dtype, FromScalarType(tensor.scalar_type()));
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  Buffer buffer =
      Buffer::Wrap(static_cast<std::byte*>(host.data_ptr()), host.nbytes(), [keep_alive = host] {});
  return Array(std::move(buffer), dtype, host.sizes().vec());
}

at::Tensor InLayout(const at::Tensor& tensor, at::MemoryFormat format) {
  if (tensor.dim() != 4) return tensor.contiguous();
  const at::Tensor ordered = tensor.contiguous(format);
  const int64_t channels = tensor.size(1), width = tensor.size(3);
  const int64_t plane = tensor.size(2) * width;
  const std::array<int64_t, 4> strides =
      format == at::MemoryFormat::ChannelsLast
          ? std::array<int64_t, 4>{channels * plane, 1, width * channels, channels}
          : std::array<int64_t, 4>{channels * plane, plane, width, 1};
  return ordered.strides() == at::IntArrayRef(strides)
             ? ordered
             : ordered.as_strided(tensor.sizes(), strides);
}

}  // namespace stoker
