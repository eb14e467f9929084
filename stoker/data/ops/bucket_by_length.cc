#include "stoker/data/ops/bucket_by_length.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "stoker/base/default_budget.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/core/groups_elements.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/padded_fields.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/nodes/held_input.h"
#include "stoker/data/ops/padding_internal.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr int64_t kDefaultSize = 32;
constexpr double kMaxSize = 1 << 30;

using LengthOf = std::function<Result<int64_t>(const Element&)>;

// The rules of the buckets: which one an element goes into, and when it is full.
class BucketRules {
 public:
  explicit BucketRules(const BucketByLength& options)
      : boundaries_(options.boundaries),
        sizes_(options.sizes),
        tokens_(options.tokens),
        pad_to_boundary_(options.pad_to_boundary) {
    if (sizes_.empty() && tokens_ == 0) sizes_ = {kDefaultSize};
  }

  size_t buckets() const { return boundaries_.size() + 1; }
  size_t BucketOf(int64_t length) const {
    return static_cast<size_t>(std::ranges::lower_bound(boundaries_, length) - boundaries_.begin());
  }
  bool IsFull(size_t bucket, int64_t elements) const {
    return !sizes_.empty() && elements >= sizes_[sizes_.size() == 1 ? 0 : bucket];
  }
  // Whether `elements` of which the longest has `longest` values stay within the tokens.
  bool Fits(size_t bucket, int64_t elements, int64_t longest) const {
    if (tokens_ == 0) return true;
    const int64_t padded = PaddedTo(bucket).value_or(longest);
    return elements <= tokens_ / std::max<int64_t>(padded, 1);
  }
  // What the elements of a bucket are padded to, where that is not the longest of them.
  std::optional<int64_t> PaddedTo(size_t bucket) const {
    if (!pad_to_boundary_ || bucket == boundaries_.size()) return std::nullopt;
    return boundaries_[bucket];
  }
  // The size of all batches that are full, or -1 if it differs.
  int64_t CommonSize() const {
    const bool one = !sizes_.empty() && std::ranges::count(sizes_, sizes_[0]) == std::ssize(sizes_);
    return one && tokens_ == 0 ? sizes_[0] : kUnknownDim;
  }
  std::string ToString() const {
    std::string text = fmt::format("boundaries {}", fmt::join(boundaries_, " "));
    if (!sizes_.empty()) text += fmt::format(", sizes {}", fmt::join(sizes_, " "));
    if (tokens_ > 0) text += fmt::format(", {} tokens", tokens_);
    if (pad_to_boundary_) text += ", pads to boundaries";
    return text;
  }

 private:
  const std::vector<int64_t> boundaries_;
  std::vector<int64_t> sizes_;  // empty: by tokens alone
  const int64_t tokens_;        // 0: by sizes alone
  const bool pad_to_boundary_;
};

class BucketNode final : public DatasetNode, public GroupsElements, public PadsFields {
 public:
  BucketNode(Dataset input, const BucketByLength& options, LengthOf length, PaddingPlan plan)
      : DatasetNode(std::string(BucketByLength::kName), plan.output(),
                    CardinalityOf(input.cardinality()), {input}),
        rules_(options),
        drop_remainder_(options.drop_remainder),
        length_(std::move(length)),
        plan_(std::move(plan)) {}

  std::string Details() const override {
    return fmt::format("{}{}, {}", rules_.ToString(), drop_remainder_ ? ", drop_remainder" : "",
                       plan_.ToString());
  }
  std::optional<double> PaddingOf(std::string_view field) const override {
    return plan_.PaddingOf(field);
  }
  std::string_view Disturbs() const override { return "reorders elements"; }
  std::optional<int64_t> MemoryToRead(int64_t) const override { return std::nullopt; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const BucketRules& rules() const { return rules_; }
  bool drop_remainder() const { return drop_remainder_; }
  const PaddingPlan& plan() const { return plan_; }
  Result<int64_t> LengthOfElement(const Element& element) const { return length_(element); }

 private:
  static Cardinality CardinalityOf(const Cardinality& input) {
    return input.infinite() || input == Cardinality::Of(0) ? input : Cardinality::Unknown();
  }

  const BucketRules rules_;
  const bool drop_remainder_;
  const LengthOf length_;
  const PaddingPlan plan_;
};

struct Bucket {
  std::vector<HeldElement> elements;
  int64_t longest = 0;
  int64_t bytes = 0;
};

class BucketIterator final : public Iterator {
 public:
  BucketIterator(const OpenContext& context, const BucketNode& node,
                 std::unique_ptr<Iterator> input)
      : Iterator(context, node),
        node_(node),
        input_(context, node, std::move(input), [this] { return Held(); }),
        epoch_(context.epoch()),
        buckets_(node.rules().buckets()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    if (input_.must_recover()) STOKER_RETURN_IF_ERROR(RecoverHeld());
    while (true) {
      HeldElement next;
      STOKER_ASSIGN_OR_RETURN(const bool more, input_.Next(next));
      if (!more) return NextOfTheRest();
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> batch, Add(std::move(next)));
      if (batch) return batch;
    }
  }

  // The batch that the element completes, or that it has no room in.
  Result<std::optional<Element>> Add(HeldElement next) {
    STOKER_ASSIGN_OR_RETURN(const int64_t length, node_.LengthOfElement(next.element));
    const BucketRules& rules = node_.rules();
    const size_t b = rules.BucketOf(length);
    Bucket& bucket = buckets_[b];
    const int64_t count = std::ssize(bucket.elements);
    if (count > 0 && !rules.Fits(b, count + 1, std::max(bucket.longest, length))) {
      Bucket complete = std::exchange(bucket, {});
      Put(std::move(next), length, bucket);
      return MakeBatch(b, std::move(complete));
    }
    Put(std::move(next), length, bucket);
    STOKER_RETURN_IF_ERROR(CheckBudget(bucket));
    if (!rules.IsFull(b, count + 1)) return std::nullopt;
    return MakeBatch(b, std::exchange(bucket, {}));
  }

  // What one batch takes is let through whatever the budget is.
  Status CheckBudget(const Bucket& filling) const {
    const int64_t budget = pass().ledger().budget_bytes();
    if (input_.held_bytes() - filling.bytes <= budget) return OkStatus();
    return ResourceExhausted(
        "bucket_by_length: the {} elements that its {} buckets hold take {} bytes, but the memory "
        "budget is {}; use fewer boundaries, smaller sizes or fewer tokens, or {}",
        Held().size(), buckets_.size(), input_.held_bytes(), budget, HowToRaiseTheBudget());
  }

  static void Put(HeldElement element, int64_t length, Bucket& bucket) {
    bucket.longest = std::max(bucket.longest, length);
    bucket.bytes += HeldInput::BytesOf(element.element);
    bucket.elements.push_back(std::move(element));
  }

  // Once the input has ended.
  Result<std::optional<Element>> NextOfTheRest() {
    for (size_t b = 0; b < buckets_.size() && !node_.drop_remainder(); ++b) {
      if (buckets_[b].elements.empty()) continue;
      return MakeBatch(b, std::exchange(buckets_[b], {}));
    }
    return std::nullopt;
  }

  Result<std::optional<Element>> MakeBatch(size_t b, Bucket bucket) {
    std::vector<Element> elements;
    for (const HeldElement& held : bucket.elements) elements.push_back(held.element);
    Scratch scratch(pass().stage(node_).pool);
    STOKER_ASSIGN_OR_RETURN(Element batch, node_.plan().Pad(elements, node_.rules().PaddedTo(b),
                                                            {epoch_, batches_}, scratch));
    ++batches_;
    for (HeldElement& held : bucket.elements) input_.Release(std::move(held));
    return batch;
  }

  std::vector<const HeldElement*> Held() const {
    std::vector<const HeldElement*> held;
    for (const Bucket& bucket : buckets_) {
      for (const HeldElement& element : bucket.elements) held.push_back(&element);
    }
    return held;
  }

  // In each bucket elements lie in the order in which they came, so coming again in that order they
  // find their places.
  Status RecoverHeld() {
    STOKER_ASSIGN_OR_RETURN(std::vector<HeldElement> held, input_.Recover());
    for (HeldElement& element : held) {
      STOKER_ASSIGN_OR_RETURN(const int64_t length, node_.LengthOfElement(element.element));
      Put(std::move(element), length, buckets_[node_.rules().BucketOf(length)]);
    }
    return OkStatus();
  }

  Result<Json> DoSave() const override {
    return input_.Save({{"epoch", epoch_}, {"batches", batches_}});
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(batches_, SavedCount(node_.name(), state, "batches"));
    return input_.Restore(state);
  }

  const BucketNode& node_;
  HeldInput input_;
  uint64_t epoch_;
  int64_t batches_ = 0;
  std::vector<Bucket> buckets_;
};

Result<std::unique_ptr<Iterator>> BucketNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<BucketIterator>(context, *this, std::move(input));
}

Status CheckRules(const BucketByLength& options) {
  const std::vector<int64_t>& boundaries = options.boundaries;
  if (!std::ranges::is_sorted(boundaries, std::less_equal())) {
    return InvalidArgument("bucket_by_length: boundaries are {}; each must be larger than the last",
                           fmt::join(boundaries, ", "));
  }
  if (options.sizes.size() > 1 && options.sizes.size() != boundaries.size() + 1) {
    return InvalidArgument(
        "bucket_by_length: sizes has {} entries, but {} boundaries make {} buckets; give one size, "
        "or one for each bucket",
        options.sizes.size(), boundaries.size(), boundaries.size() + 1);
  }
  if (boundaries.empty() && options.tokens == 0) {
    return InvalidArgument(
        "bucket_by_length: there are no boundaries; give some, such as [32, 64, 128], or tokens, "
        "or use padded_batch");
  }
  if (options.pad_to_boundary && boundaries.empty())
    return InvalidArgument("bucket_by_length: pad_to_boundary needs boundaries");
  return OkStatus();
}

LengthOf FunctionLength(std::function<int64_t(const Element&)> function) {
  return [function = std::move(function)](const Element& element) -> Result<int64_t> {
    return CatchExceptions([&]() -> Result<int64_t> { return function(element); },
                           "bucket_by_length: element {}: the length function", element.key.index);
  };
}

// The length by a field: its value, or an extent.
Result<LengthOf> FieldLength(const Spec& spec, const std::string& name) {
  if (name.empty()) {
    return InvalidArgument(
        "bucket_by_length: `field` is not set; name the field whose length counts, or in C++ set "
        "`length`");
  }
  STOKER_ASSIGN_OR_RETURN(const size_t index,
                          IndexOfOption(spec, BucketByLength::kName, "field", name));
  const Field& field = spec.fields[index];
  if (!field.shape.empty()) {
    const auto varying = std::ranges::find(field.shape, kUnknownDim);
    const auto dim =
        static_cast<size_t>(varying == field.shape.end() ? 0 : varying - field.shape.begin());
    return [index, dim](const Element& element) -> Result<int64_t> {
      return element.arrays[index].shape()[dim];
    };
  }
  if (IsFloating(field.dtype) || field.dtype == DType::kBool) {
    return InvalidArgument(
        "bucket_by_length: field '{}' is a {} scalar; a length is an integer, or the extent of a "
        "field with dimensions",
        name, DTypeName(field.dtype));
  }
  return [index](const Element& element) -> Result<int64_t> {
    const Array& array = element.arrays[index];
    int64_t length = 0;
    CastValues(array.dtype(), array.data(), 1, DType::kInt64,
               reinterpret_cast<std::byte*>(&length));
    return length;
  };
}

}  // namespace

void BucketByLength::Describe(OptionTable<BucketByLength>& table) {
  table
      .Field("field", &BucketByLength::field,
             "field whose length counts: the extent that differs, or an integer's value")
      .Field("boundaries", &BucketByLength::boundaries,
             "longest length of each bucket, rising; longer ones have a bucket more", AtLeast(0))
      .Field("sizes", &BucketByLength::sizes,
             "elements in a batch: one, or one for each bucket; empty: 32, or as tokens allow",
             Between(1, kMaxSize))
      .Field("tokens", &BucketByLength::tokens,
             "at most so many values in a batch, padding included; an element that is longer makes "
             "a batch alone; 0: any number",
             AtLeast(0))
      .Field("drop_remainder", &BucketByLength::drop_remainder,
             "leave out what is in the buckets at an epoch's end")
      .Field("pad_to_boundary", &BucketByLength::pad_to_boundary,
             "pad to the bucket's boundary instead of to the longest")
      .Field("fields", &BucketByLength::fields,
             "what is padded; empty: every field whose shape differs between elements")
      .Field("padding", &BucketByLength::padding, "value to pad with: one, or one for each field")
      .Field("lengths", &BucketByLength::lengths, "add a field x_length for each padded field x")
      .Field("mask", &BucketByLength::mask, "add a field x_mask, true where a value is no padding");
}

Result<Dataset> BucketByLength::Build(Dataset input) const {
  STOKER_RETURN_IF_ERROR(CheckRules(*this));
  LengthOf length_of = FunctionLength(length);
  if (!length) {
    STOKER_ASSIGN_OR_RETURN(length_of, FieldLength(input.spec(), field));
  }
  const bool full = drop_remainder || input.cardinality().infinite();
  STOKER_ASSIGN_OR_RETURN(
      PaddingPlan plan,
      PaddingPlan::Make(
          {.who = kName, .fields = fields, .padding = padding, .lengths = lengths, .mask = mask},
          input.spec(), full ? BucketRules(*this).CommonSize() : kUnknownDim));
  return Dataset(
      std::make_shared<BucketNode>(std::move(input), *this, std::move(length_of), std::move(plan)));
}

}  // namespace stoker
