#include "stoker/train/evaluation/rank_scores_internal.h"

#include <ATen/Functions.h>

#include <cstring>
#include <vector>

namespace stoker {
namespace {

void AddNumber(int64_t number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AddTensor(const at::Tensor& tensor, std::string& bytes) {
  const at::Tensor values = tensor.contiguous();
  AddNumber(static_cast<int64_t>(values.scalar_type()), bytes);
  AddNumber(values.dim(), bytes);
  for (const int64_t extent : values.sizes()) AddNumber(extent, bytes);
  bytes.append(static_cast<const char*>(values.const_data_ptr()), values.nbytes());
}

Status TooShort() { return Internal("scores of another rank are cut short"); }

Result<int64_t> TakeNumber(std::string_view& bytes) {
  int64_t number = 0;
  if (bytes.size() < sizeof number) return TooShort();
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

Result<at::Tensor> TakeTensor(std::string_view& bytes) {
  STOKER_ASSIGN_OR_RETURN(const int64_t type, TakeNumber(bytes));
  STOKER_ASSIGN_OR_RETURN(const int64_t dimensions, TakeNumber(bytes));
  if (type != static_cast<int64_t>(at::kFloat) && type != static_cast<int64_t>(at::kLong))
    return Internal("scores of another rank have type {}", type);
  if (dimensions < 0 || dimensions > 8) return TooShort();
  std::vector<int64_t> shape;
  int64_t size = 8;  // of a value, at most
  for (int64_t i = 0; i < dimensions; ++i) {
    STOKER_ASSIGN_OR_RETURN(const int64_t extent, TakeNumber(bytes));
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size)) return TooShort();
    shape.push_back(extent);
  }
  at::Tensor tensor = at::empty(shape, static_cast<at::ScalarType>(type));
  if (bytes.size() < tensor.nbytes()) return TooShort();
  if (tensor.nbytes() > 0) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), tensor.nbytes());
  bytes.remove_prefix(tensor.nbytes());
  return tensor;
}

}  // namespace

std::string PackScores(const RankScores& batch) {
  std::string bytes;
  AddTensor(batch.scores, bytes);
  for (const at::Tensor& target : batch.targets.all()) AddTensor(target, bytes);
  return bytes;
}

Result<RankScores> UnpackScores(std::string_view bytes) {
  RankScores batch;
  STOKER_ASSIGN_OR_RETURN(batch.scores, TakeTensor(bytes));
  std::vector<at::Tensor> targets;
  do {
    STOKER_ASSIGN_OR_RETURN(at::Tensor target, TakeTensor(bytes));
    if (target.dim() < 1 || target.size(0) != batch.scores.size(0))
      return Internal("scores of another rank are followed by something else");
    targets.push_back(std::move(target));
  } while (!bytes.empty());
  batch.targets = Targets(std::move(targets));
  return batch;
}

}  // namespace stoker
