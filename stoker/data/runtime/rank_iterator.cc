#include "stoker/data/runtime/rank_iterator.h"

#include <algorithm>
#include <set>
#include <string>

#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/runtime/deal.h"
#include "stoker/data/runtime/indexed_iterator.h"
#include "stoker/data/runtime/rank_node.h"
#include "stoker/data/runtime/rank_state.h"

namespace stoker {
namespace {

// A rank's share of a pass from some place on: an iterator over it, and what the place after
// `elements` of them is called in the whole pass.
class RankShare {
 public:
  virtual ~RankShare() = default;

  Iterator& elements() const { return *elements_; }
  const OpenContext& context() const { return *context_; }

  // The rounds in which some rank has an element; asked once this rank has no more.
  virtual int64_t Rounds() const = 0;
  // The number in the whole pass of the element that follows `elements` of this rank.
  virtual int64_t NumberAfter(int64_t elements) const = 0;
  virtual Result<Json> SaveAfter(int64_t elements, bool finished) const = 0;
  virtual void SetDelivered(int64_t) {}

 protected:
  std::optional<OpenContext> context_;
  std::unique_ptr<Iterator> elements_;
};

// What stays the same when a pass is opened again at a restored place.
struct Opening {
  Dataset dataset;
  Runtime runtime;
  PassOptions options;
};

Result<OpenContext> NewContext(const Opening& opening, const Dataset& dataset) {
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Pass> pass,
                          Pass::Create(dataset, opening.runtime, opening.options));
  OpenContext context(std::move(pass), opening.options.epoch,
                      std::make_shared<StopFlag>(opening.runtime.stop));
  if (dataset.node().random_access()) context = context.ForAShare();
  STOKER_RETURN_IF_ERROR(dataset.Prepare(context));
  return context;
}

class ShareByPosition final : public RankShare {
 public:
  // `state`: the one to begin at, whose position is `begin`; null: the start.
  static Result<std::unique_ptr<RankShare>> Open(const Opening& opening, int64_t begin,
                                                 Json state) {
    std::unique_ptr<ShareByPosition> share(new ShareByPosition(opening, begin));
    STOKER_ASSIGN_OR_RETURN(share->context_, NewContext(opening, share->dataset_));
    STOKER_ASSIGN_OR_RETURN(share->elements_, share->context_->OpenInput(share->dataset_));
    if (!state.is_null()) {
      state["position"] = 0;  // of the share; what else it says holds as it is
      STOKER_RETURN_IF_ERROR(share->elements_->Restore(state));
    }
    return share;
  }

  int64_t Rounds() const override {
    const int64_t left = whole_.value() - begin_;
    return left / options_.world + (left % options_.world != 0 ? 1 : 0);
  }
  int64_t NumberAfter(int64_t elements) const override {
    return begin_ + elements * options_.world + options_.rank;
  }
  Result<Json> SaveAfter(int64_t elements, bool finished) const override {
    STOKER_ASSIGN_OR_RETURN(Json state, elements_->Save());
    const int64_t position = begin_ + elements * options_.world;
    state["position"] = finished ? whole_.value() : std::min(whole_.value(), position);
    return state;
  }

 private:
  ShareByPosition(const Opening& opening, int64_t begin)
      : options_(opening.options),
        whole_(opening.dataset.cardinality()),
        begin_(begin),
        dataset_(RankDataset(opening.dataset, opening.options, begin)) {}

  const PassOptions options_;
  const Cardinality whole_;
  const int64_t begin_;
  const Dataset dataset_;
};

class ShareInOrder final : public RankShare {
 public:
  static Result<std::unique_ptr<RankShare>> Open(const Opening& opening, Deal::Start start) {
    std::unique_ptr<ShareInOrder> share(new ShareInOrder());
    STOKER_ASSIGN_OR_RETURN(share->deal_,
                            Deal::Create(opening.dataset, opening.options, std::move(start)));
    STOKER_ASSIGN_OR_RETURN(const OpenContext context, NewContext(opening, opening.dataset));
    share->context_ = context.WithDeal(share->deal_);
    STOKER_ASSIGN_OR_RETURN(share->elements_, share->context_->OpenInput(opening.dataset));
    STOKER_ASSIGN_OR_RETURN(share->shape_, share->elements_->Save());
    return share;
  }

  const Json& shape() const { return shape_; }
  const Deal& deal() const { return *deal_; }

  int64_t Rounds() const override { return deal_->Rounds(); }
  int64_t NumberAfter(int64_t elements) const override {
    const std::vector<int64_t>& numbers = deal_->start().numbers;
    return (numbers.empty() ? 0 : numbers.front()) + deal_->NumberInRounds(elements);
  }
  Result<Json> SaveAfter(int64_t elements, bool finished) const override {
    return PutTogether(deal_->StartAfter(elements, finished), shape_);
  }
  void SetDelivered(int64_t elements) override { deal_->SetDelivered(elements); }

 private:
  std::shared_ptr<Deal> deal_;
  Json shape_;  // of the positions that the chain saves
};

class RankIterator final : public Iterator {
 public:
  RankIterator(Opening opening, std::unique_ptr<RankShare> share)
      : Iterator(share->context(), opening.dataset.node(), Counting::kElsewhere),
        opening_(std::move(opening)),
        share_(std::move(share)) {}

  Profile GetProfile() const override { return share_->elements().GetProfile(); }
  const DecisionLog& decisions() const override { return share_->elements().decisions(); }

 private:
  Result<std::optional<Element>> DoNext() override {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, share_->elements().Next());
    if (!element && opening_.options.when_dry == WhenDry::kEmptyBatches &&
        delivered_ < share_->Rounds()) {
      element = EmptyBatch();
    }
    finished_ = !element;
    if (element) share_->SetDelivered(++delivered_);
    return element;
  }

  Element EmptyBatch() const {
    Element batch{.key = {opening_.options.epoch, share_->NumberAfter(delivered_)}};
    std::set<std::string> offsets;
    for (const auto& [ragged, name] : OffsetsByField(opening_.dataset)) offsets.insert(name);
    for (const Field& field : opening_.dataset.spec().fields) {
      if (offsets.contains(field.name)) {  // of no sample: where the last ends
        batch.arrays.push_back(Array::Of<int64_t>(std::vector<int64_t>{0}));
        continue;
      }
      Shape shape = field.shape;
      std::ranges::replace(shape, kUnknownDim, 0);
      shape.front() = 0;
      batch.arrays.push_back(Array::Allocate(field.dtype, std::move(shape)));
    }
    return batch;
  }

  Result<Json> DoSave() const override { return share_->SaveAfter(delivered_, finished_); }

  Status DoRestore(const Json& state) override {
    TakeSkip();  // the dealt stage's, which it finds in its part of the state
    if (opening_.dataset.node().random_access()) {
      STOKER_ASSIGN_OR_RETURN(
          const Delivered done,
          RestorePosition(state, opening_.dataset.cardinality(), opening_.options.epoch));
      if (done.has_beyond()) return SavedInAnyOrder();
      STOKER_ASSIGN_OR_RETURN(share_, ShareByPosition::Open(opening_, done.frontier(), state));
      return OkStatus();
    }
    const auto& fresh = dynamic_cast<const ShareInOrder&>(*share_);
    STOKER_ASSIGN_OR_RETURN(Deal::Start start,
                            TakeApart(state, fresh.shape(), fresh.deal().group_sizes()));
    if (start.epoch) opening_.options.epoch = *start.epoch;
    STOKER_ASSIGN_OR_RETURN(share_, ShareInOrder::Open(opening_, std::move(start)));
    return OkStatus();
  }

  Opening opening_;
  std::unique_ptr<RankShare> share_;
  int64_t delivered_ = 0;  // since the share was opened
  bool finished_ = false;
};

Status CheckOptions(const Dataset& dataset, const PassOptions& options) {
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world) {
    return InvalidArgument("rank is {} of {}; ranks are numbered from 0, below world", options.rank,
                           options.world);
  }
  if (options.when_dry != WhenDry::kEmptyBatches) return OkStatus();
  for (const Field& field : dataset.spec().fields) {
    if (!field.shape.empty()) continue;
    return InvalidArgument(
        "a rank that runs dry cannot go on with empty batches: the elements of '{}' are no "
        "batches, their field '{}' is one number; put batch last, or stop all ranks",
        dataset.node().name(), field.name);
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Iterator>> OpenRank(const Dataset& dataset, const Runtime& runtime,
                                           const PassOptions& options) {
  STOKER_RETURN_IF_ERROR(CheckOptions(dataset, options));
  Opening opening{dataset, runtime, options};
  std::unique_ptr<RankShare> share;
  if (dataset.node().random_access()) {
    STOKER_ASSIGN_OR_RETURN(share, ShareByPosition::Open(opening, /*begin=*/0, nullptr));
  } else {
    STOKER_ASSIGN_OR_RETURN(share, ShareInOrder::Open(opening, {}));
  }
  return std::make_unique<RankIterator>(std::move(opening), std::move(share));
}

}  // namespace stoker
