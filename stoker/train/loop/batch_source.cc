#include "stoker/train/loop/batch_source.h"

namespace stoker {

Result<std::optional<TensorBatch>> BatchSource::Next() {
  return again_ ? NextOfKept() : batches_->Next();
}

// A model that normalises in place, say, must not change them for the next time.
Result<std::optional<TensorBatch>> BatchSource::NextOfKept() {
  if (kept_.empty()) STOKER_RETURN_IF_ERROR(Keep());
  const TensorBatch& batch = kept_[static_cast<size_t>(given_++ % *again_)];
  return std::optional(TensorBatch{batch.input.Clone(), batch.target.Clone(), batch.key});
}

Status BatchSource::Keep() {
  while (std::ssize(kept_) < *again_) {
    STOKER_ASSIGN_OR_RETURN(std::optional<TensorBatch> batch, batches_->Next());
    if (!batch) return DataLoss("data.train ended after {} of {} batches", kept_.size(), *again_);
    kept_.push_back({batch->input.Clone(), batch->target.Clone(), batch->key});
  }
  return OkStatus();
}

void BatchSource::StepDone() {
  done_ = given_;
  batches_->Mark();
}

Result<Json> BatchSource::Save() const {
  if (again_) return Json{{"given", done_}};
  return batches_->SaveMarked();
}

Status BatchSource::Restore(const Json& state) {
  if (!again_) return batches_->Restore(state);
  const Json given = state.is_object() ? state.value("given", Json()) : Json();
  if (!given.is_number_integer()) return DataLoss("the position in the kept batches is missing");
  done_ = given_ = given.get<int64_t>();
  return OkStatus();
}

}  // namespace stoker
