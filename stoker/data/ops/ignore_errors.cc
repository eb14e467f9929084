#include "stoker/data/ops/ignore_errors.h"

#include <numeric>

#include "stoker/data/core/failure_policy.h"
#include "stoker/data/core/files_read.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/rewrites/picture_pass.h"

namespace stoker {
namespace {

// Where so many elements drawn for one that failed cannot be made either, it is not about one
// element.
constexpr int kDraws = 16;

// The share of the elements that may fail where neither share nor limit is given.
constexpr double kShareOfItself = 0.01;

FailurePolicy::Options PolicyOptions(const IgnoreErrors& options, const Dataset& input,
                                     std::string verb) {
  std::optional<int64_t> elements;
  if (input.cardinality().known()) elements = input.cardinality().value();
  return {.verb = std::move(verb),
          .limit = options.limit,
          .share = options.share.value_or(options.limit ? 1 : kShareOfItself),
          .log = options.log.string(),
          .epoch_elements = elements};
}

class SkipNode final : public DatasetNode {
 public:
  SkipNode(Dataset input, const IgnoreErrors& options)
      : DatasetNode(
            std::string(IgnoreErrors::kName), input.spec(),
            input.cardinality().infinite() ? Cardinality::Infinite() : Cardinality::Unknown(),
            {input}),
        policy_(PolicyOptions(options, input, "skipped")) {}

  std::string Details() const override { return "skip, " + policy_.Details(); }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "leaves out elements that fail"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool rereadable() const override { return input().node().rereadable(); }
  Status Prepare(const OpenContext& context) const override {
    return policy_.Prepare(context.pass()->loss_logs());
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  const FailurePolicy& policy() const { return policy_; }

 protected:
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }

 private:
  const FailurePolicy policy_;
};

class SkipIterator final : public Iterator {
 public:
  SkipIterator(const OpenContext& context, const SkipNode& node, std::unique_ptr<Iterator> input)
      : Iterator(context, node),
        node_(node),
        policy_(node.policy()),
        input_(std::move(input)),
        logged_(pass().loss_logs().Writes()),
        epoch_(context.epoch()) {}
  ~SkipIterator() override {
    if (!exceeded_) policy_.Summarize(count_, epoch_, logged_);
  }

 private:
  Result<std::optional<Element>> DoNext() override {
    while (true) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element) {
        STOKER_RETURN_IF_ERROR(Noted(policy_.CheckAtEnd(count_, pass().loss_logs())));
        return std::nullopt;
      }
      ++count_.seen;
      if (!element->failure) return element;
      STOKER_RETURN_IF_ERROR(Noted(policy_.Record(*element, pass(), pass().stage(node_), count_)));
      stats().AddSkipped(1);
    }
  }

  // An error of the policy says what a summary at the end would say again.
  Status Noted(Status status) {
    if (!status.ok()) exceeded_ = true;
    return status;
  }

  Result<Json> DoSave() const override {
    Json state = count_.ToJson();
    state["epoch"] = epoch_;
    return WithInputState(std::move(state), *input_);
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(count_, FailureCount::FromJson(state));
    return RestoreInput(state, *input_);
  }

  const DatasetNode& node_;
  const FailurePolicy& policy_;
  const std::unique_ptr<Iterator> input_;
  const bool logged_;
  uint64_t epoch_;
  FailureCount count_;
  bool exceeded_ = false;
};

Result<std::unique_ptr<Iterator>> SkipNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input,
                          context.OpenInputTolerantly(this->input()));
  return std::make_unique<SkipIterator>(context, *this, std::move(input));
}

class ReplaceNode final : public DatasetNode {
 public:
  ReplaceNode(Dataset input, const IgnoreErrors& options)
      : DatasetNode(std::string(IgnoreErrors::kName), input.spec(), input.cardinality(), {input}),
        policy_(PolicyOptions(options, input, "replaced")) {}

  std::string Details() const override { return "replace, " + policy_.Details(); }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override {
    return "gives other elements in the place of those that fail";
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const std::optional<int64_t> bytes = input().node().MemoryToRead(count);
    // Where one has failed they are read singly and put together.
    return count == 1 ? bytes : AddSizes(bytes, spec().BytesTogether(count));
  }
  Status Prepare(const OpenContext& context) const override {
    return policy_.Prepare(context.pass()->loss_logs());
  }
  bool random() const override { return true; }  // what takes a failed element's place
  bool random_access() const override { return true; }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("ignore_errors: is read by position");
  }

 protected:
  // The replacement of one that failed has its own key.
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Result<Element> element = ReadInput(position, context);
    if (element.ok() || context.trial() || context.stopped() ||
        !IsAboutOneElement(element.status()))
      return element;
    return Replace(position, element.status(), context);
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    Result<Rows> rows =
        CatchExceptions([&] { return input().node().ReadRows(positions, context.AsTrial()); },
                        "reading element {}", positions.front());
    if (rows.ok() || context.trial() || !IsAboutOneElement(rows.status())) return rows;
    FailureScope::Take({});
    return DatasetNode::DoReadRows(positions, context);  // one by one
  }

 private:
  Result<Element> ReadInput(int64_t position, const ReadContext& context) const {
    return CatchExceptions([&] { return input().node().Read(position, context); },
                           "reading element {}", position);
  }

  Result<Element> Replace(int64_t position, const Status& reason,
                          const ReadContext& context) const {
    const FailureOrigin here{name(), {context.epoch(), position}};
    Element failed = FailedElement(reason, FailureScope::Take(here));
    Rng rng = context.rngs(*this).For({context.epoch(), position});
    const auto elements = static_cast<uint64_t>(cardinality().value());
    for (int draw = 0; draw < kDraws; ++draw) {
      Result<Element> other =
          ReadInput(static_cast<int64_t>(rng.Below(elements)), context.WithLost(nullptr));
      FailureScope::Take({});
      if (!other.ok() && !IsAboutOneElement(other.status())) return other;
      if (!other.ok()) continue;
      if (context.lost() != nullptr) {
        context.lost()->push_back({this, &policy_, context.epoch(), std::move(failed)});
      }
      return other;
    }
    return Status(reason.code(),
                  fmt::format("{} (and none of the {} elements drawn in its place could be made "
                              "either; is the source as a whole in order?)",
                              reason.message(), kDraws));
  }

  const FailurePolicy policy_;
};

}  // namespace

void IgnoreErrors::Describe(OptionTable<IgnoreErrors>& table) {
  table
      .Field("policy", &IgnoreErrors::policy,
             "what happens to an element that fails: it is left out, another element of the epoch "
             "takes its place (where elements are readable by position), or the pass fails",
             OneOf{{"skip", "replace", "fail"}})
      .Field("limit", &IgnoreErrors::limit, "how many of an epoch may fail; auto: no such limit",
             AtLeast(0))
      .Field(
          "share", &IgnoreErrors::share,
          "which share of the elements may fail; counted of 1000 elements, or of an epoch, where "
          "fewer have been seen; 1: all, however often each is read; auto: 0.01, or, where limit "
          "is given, no share",
          Between(0, 1))
      .Field("log", &IgnoreErrors::log,
             "file to add a line of JSON to for each element that failed; none without it");
}

Result<Dataset> IgnoreErrors::Build(Dataset input) const {
  if (policy == "fail") return input;
  if (!log.empty()) STOKER_RETURN_IF_ERROR(CheckNotRead(input, log, "the log of ignore_errors"));
  const std::string before = input.node().name();
  if (!input.node().tolerates_errors()) {
    return InvalidArgument(
        "ignore_errors: '{}' cannot go on after an error, so there is nothing to {}; put it after "
        "the stage whose elements fail: a source read by position, a map, a generator or a batch",
        before, policy);
  }
  input = InOnePass(std::move(input));
  if (policy == "skip") return Dataset(std::make_shared<SkipNode>(std::move(input), *this));
  if (!input.node().random_access() || input.cardinality().infinite()) {
    return InvalidArgument(
        "ignore_errors: replace draws another element by its position, but '{}' {}; use skip{}",
        before, input.cardinality().infinite() ? "has no end" : "can only be read in order",
        input.cardinality().infinite() ? ", or put repeat after it" : "");
  }
  return Dataset(std::make_shared<ReplaceNode>(std::move(input), *this));
}

}  // namespace stoker
