#include "stoker/data/ops/interleave.h"

#include <algorithm>

#include "stoker/data/core/failure.h"
#include "stoker/data/ops/choice_node_internal.h"
#include "stoker/data/ops/combine_internal.h"
#include "stoker/data/ops/interleave_iterator_internal.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/options/build_context.h"
#include "stoker/data/sources/files.h"

namespace stoker {
namespace {

constexpr double kMaxCycle = 1024;  // each is a thread, and as many again read ahead

std::string DetailsOf(const InterleavedNode::Cycle& cycle) {
  return fmt::format("cycle {}, block {}{}{}", cycle.length, cycle.block,
                     cycle.parallel ? "" : ", not parallel",
                     cycle.deterministic ? "" : ", in any order");
}

std::string_view DisturbsWhere(const InterleavedNode::Cycle& cycle) {
  return cycle.deterministic ? "takes elements from its inputs in turn"
                             : "gives elements in any order (deterministic: false)";
}

class ListedNode final : public InterleavedNode {
 public:
  ListedNode(const std::vector<Dataset>& inputs, Spec spec, Cardinality cardinality, Cycle cycle)
      : InterleavedNode(std::string(Interleave::kName), std::move(spec), cardinality, inputs),
        cycle_(cycle) {}

  std::string Details() const override { return DetailsOf(cycle_); }
  KeyOrigin key_origin() const override { return KeyOrigin::kInputs; }
  std::string_view Disturbs() const override { return DisturbsWhere(cycle_); }
  bool any_order() const override { return !cycle_.deterministic; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MemoryToGather(*this, count);
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    auto iterator = std::make_unique<InterleaveIterator>(context, *this);
    STOKER_RETURN_IF_ERROR(iterator->Open());
    return iterator;
  }
  Cycle cycle() const override { return cycle_; }
  bool listed() const override { return true; }
  Result<Dataset> Make(const Element&) const override {
    return Internal("interleave: its inputs are listed");
  }

 private:
  const Cycle cycle_;
};

bool Fits(const Spec& wanted, const Spec& got) {
  return std::ranges::equal(wanted.fields, got.fields, [](const Field& a, const Field& b) {
    const auto fits = [](int64_t x, int64_t y) { return x == kUnknownDim || x == y; };
    return a.name == b.name && a.dtype == b.dtype && std::ranges::equal(a.shape, b.shape, fits);
  });
}

class EachNode final : public InterleavedNode {
 public:
  EachNode(const Dataset& input, const InterleaveEach& each)
      : InterleavedNode(std::string(Interleave::kName), each.output, Cardinality::Unknown(),
                        {input}),
        each_(each) {}

  std::string Details() const override { return DetailsOf(cycle()); }
  std::string_view Disturbs() const override { return DisturbsWhere(cycle()); }
  bool any_order() const override { return !each_.deterministic; }
  // What the inputs ask for is not known before they are made.
  std::optional<int64_t> MemoryToRead(int64_t) const override { return std::nullopt; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    auto iterator = std::make_unique<InterleaveIterator>(context, *this);
    STOKER_RETURN_IF_ERROR(iterator->Open());
    return iterator;
  }
  Cycle cycle() const override {
    return {each_.cycle_length, each_.block_length, each_.parallel, each_.deterministic};
  }
  bool listed() const override { return false; }

  Result<Dataset> Make(const Element& element) const override {
    STOKER_ASSIGN_OR_RETURN(Dataset made, Call(element));
    if (!Fits(spec(), made.spec())) {
      return InvalidArgument(
          "interleave: input {} has elements {}, the others have {}; they must agree",
          element.key.index, made.spec().ToString(), spec().ToString());
    }
    if (!each_.parallel) return made;
    return Prefetch{}.Build(std::move(made));
  }

 private:
  Result<Dataset> Call(const Element& element) const {
    return CatchExceptions([&] { return each_.function(element); },
                           "interleave: input {}: the function", element.key.index);
  }

  const InterleaveEach each_;
};

// Known where all are.
Cardinality SumOf(const std::vector<Cardinality>& lengths) {
  int64_t sum = 0;
  for (const Cardinality& length : lengths) {
    if (length == Cardinality::Unknown()) return length;
    if (length.infinite() || __builtin_add_overflow(sum, length.value(), &sum))
      return Cardinality::Infinite();
  }
  return Cardinality::Of(sum);
}

Result<Dataset> InterleaveListed(std::vector<Dataset> inputs, InterleavedNode::Cycle cycle) {
  cycle.length = std::min(cycle.length, std::ssize(inputs));  // more places would stay empty
  STOKER_ASSIGN_OR_RETURN(Spec spec, CommonSpec(Interleave::kName, inputs));
  std::vector<Cardinality> lengths;
  for (const Dataset& input : inputs) lengths.push_back(input.cardinality());
  if (AllRandomAccess(inputs)) {
    std::optional<ChoicePlan> plan = ChoicePlan::Turns(lengths, cycle.length, cycle.block);
    if (plan) {
      return ChoiceDataset({.name = std::string(Interleave::kName),
                            .details = DetailsOf(cycle),
                            .inputs = std::move(inputs),
                            .spec = std::move(spec),
                            .policy = WhenExhausted::kContinue,
                            .plan = *std::move(plan),
                            .choices = std::nullopt});
    }
  }
  for (Dataset& input : inputs) {
    if (!cycle.parallel) break;
    STOKER_ASSIGN_OR_RETURN(input, Prefetch{}.Build(std::move(input)));
  }
  return Dataset(std::make_shared<ListedNode>(inputs, std::move(spec), SumOf(lengths), cycle));
}

Result<Dataset> InterleaveFiles(const Interleave& options) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                          options.files.Expand(Interleave::kName, /*sorted=*/true));
  const std::shared_ptr<BuildContext> outer = BuildContext::OfThisThread();
  const std::shared_ptr<BuildContext> context = outer ? outer->ForFirst() : nullptr;
  Result<Dataset> first = Internal("not built");
  {
    const BuildContext::Scope scope(context);
    first = options.pipeline.Build(paths.front());
  }
  STOKER_RETURN_IF_ERROR(first.status());
  STOKER_ASSIGN_OR_RETURN(const Dataset files, Files{.path = options.files}.Build());
  const auto make = [pipeline = options.pipeline, context](const Element& element) {
    const BuildContext::Scope scope(context ? context->ForFurther() : nullptr);
    const Array& path = element.arrays.front();
    return pipeline.Build({reinterpret_cast<const char*>(path.data()), path.num_bytes()});
  };
  return InterleaveEach{.function = make,
                        .output = first->spec(),
                        .cycle_length = options.cycle_length,
                        .block_length = options.block_length,
                        .parallel = options.parallel,
                        .deterministic = options.deterministic}
      .Build(files);
}

}  // namespace

void Interleave::Describe(OptionTable<Interleave>& table) {
  table
      .Field("cycle_length", &Interleave::cycle_length, "inputs that are read side by side",
             Between(1, kMaxCycle))
      .Field("block_length", &Interleave::block_length,
             "elements that are taken from one input before it is the next one's turn", AtLeast(1))
      .Field("parallel", &Interleave::parallel,
             "the inputs read ahead, each on a thread of its own")
      .Field("deterministic", &Interleave::deterministic,
             "false: an input that has nothing ready loses its turn, in an order that differs from "
             "run to run");
}

template <>
const std::vector<Option>& OptionsOf<Interleave>() {
  static const auto options = WithObjects<Interleave>(
      {ObjectOption("inputs", &Interleave::inputs, "the inputs; or else files and pipeline"),
       ObjectOption("files", &Interleave::files,
                    "the files that the pipeline reads, each an input"),
       ObjectOption(
           "pipeline", &Interleave::pipeline,
           "what reads one of the files: a source without its path, and what follows it")});
  return options;
}

Result<Dataset> Interleave::Build() const {
  if (files.empty() != !pipeline || files.empty() == inputs.empty()) {
    return InvalidArgument(
        "interleave: give either inputs, a list of pipelines, or files and the pipeline that reads "
        "one, such as files: '*.txt', pipeline: [lines]");
  }
  if (!files.empty()) return InterleaveFiles(*this);
  STOKER_ASSIGN_OR_RETURN(std::vector<Dataset> datasets, inputs.Build(kName));
  return InterleaveListed(std::move(datasets),
                          {cycle_length, block_length, parallel, deterministic});
}

Result<Dataset> InterleaveEach::Build(Dataset input) const {
  if (!function)
    return InvalidArgument("interleave: no function is given; set InterleaveEach::function");
  if (output.fields.empty())
    return InvalidArgument(
        "interleave: the elements are not described; set InterleaveEach::output");
  if (cycle_length < 1 || cycle_length > static_cast<int64_t>(kMaxCycle) || block_length < 1) {
    return InvalidArgument(
        "interleave: cycle_length is {} and block_length {}; they must lie in 1..{} and be >= 1",
        cycle_length, block_length, static_cast<int64_t>(kMaxCycle));
  }
  return Dataset(std::make_shared<EachNode>(input, *this));
}

Result<Dataset> operator|(Result<Dataset> input, const InterleaveEach& each) {
  if (!input.ok()) return input;
  return CheckDepth(each.Build(*std::move(input)));
}

}  // namespace stoker
