#include "stoker/data/ops/window.h"

#include <algorithm>
#include <deque>

#include "stoker/base/default_budget.h"
#include "stoker/data/core/check_key.h"
#include "stoker/data/core/groups_elements.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/row_stack.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/nodes/held_input.h"

namespace stoker {
namespace {

constexpr double kMaxExtent = 1 << 24;

// The options, filled in.
struct Plan {
  int64_t size = 1, shift = 1, stride = 1;
  bool drop_remainder = false;

  int64_t reach() const { return (size - 1) * stride + 1; }  // from the first to past the last
  // How many elements a window has that begins with `left` elements up to the end of the epoch.
  int64_t SizeOf(int64_t left) const { return std::min(size, (left + stride - 1) / stride); }
};

Cardinality WindowedCardinality(const Cardinality& input, const Plan& plan) {
  if (!input.known()) return input;
  const int64_t n = input.value();
  const int64_t last = plan.drop_remainder ? n - plan.reach() : n - 1;  // where the last begins
  return Cardinality::Of(last < 0 ? 0 : last / plan.shift + 1);
}

Result<Spec> WindowedSpec(const Dataset& input, const Plan& plan) {
  Spec out = input.spec();
  const Cardinality n = input.cardinality();
  bool always_full = plan.drop_remainder || n.infinite();
  if (n.known() && n.value() > 0)
    always_full |= (n.value() - 1) / plan.shift * plan.shift + plan.reach() <= n.value();
  for (Field& field : out.fields) {
    if (!IsFullyKnown(field.shape)) {
      return InvalidArgument(
          "window: field '{}' has shape {}, which differs between elements; resize, crop or pad in "
          "front",
          field.name, ShapeToString(field.shape));
    }
    field.shape = ShapeOfRows(always_full ? plan.size : kUnknownDim, field.shape);
  }
  return out;
}

class WindowNode final : public DatasetNode, public GroupsElements {
 public:
  WindowNode(Dataset input, const Plan& plan, Spec spec)
      : DatasetNode(std::string(Window::kName), std::move(spec),
                    WindowedCardinality(input.cardinality(), plan), {input}),
        plan_(plan) {}

  std::string Details() const override {
    return fmt::format("size {}, shift {}, stride {}{}", plan_.size, plan_.shift, plan_.stride,
                       plan_.drop_remainder ? ", drop_remainder" : "");
  }
  std::string_view Disturbs() const override {
    if (plan_.shift != plan_.size || plan_.stride != 1)
      return "leaves elements out or gives them in several places";
    return plan_.drop_remainder ? "leaves out the elements of a last window that is not full" : "";
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // By position an element is made again for each window that has it; in order once, and also
    // where it is in none.
    const std::optional<int64_t> samples =
        random_access() ? MultiplySizes(count, plan_.size)
                        : AddSizes(MultiplySizes(count - 1, plan_.shift), plan_.reach());
    if (!samples) return std::nullopt;
    const std::optional<int64_t> windows =
        MultiplySizes(input().spec().BytesTogether(plan_.size), count);
    const std::optional<int64_t> bytes = AddSizes(input().node().MemoryToRead(*samples), windows);
    if (random_access()) return bytes;
    return AddSizes(bytes, HeldInput::BytesToHold(input().spec(), *samples));
  }
  bool fixed_order() const override { return input().node().fixed_order(); }
  bool random_access() const override { return input().node().random_access(); }
  bool rereadable() const override { return random_access(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  const Plan& plan() const { return plan_; }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const int64_t begin = position * plan_.shift;
    const Cardinality n = input().cardinality();
    const int64_t size = n.infinite() ? plan_.size : plan_.SizeOf(n.value() - begin);
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < size; ++i) positions.push_back(begin + i * plan_.stride);
    STOKER_ASSIGN_OR_RETURN(Rows rows, context.vectorized()
                                           ? input().node().ReadRows(positions, context)
                                           : ReadOneByOne(positions, context));
    return RowsAsElement(std::move(rows), {context.epoch(), position});
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
    return DoRead(key.index, context.WithEpoch(key.epoch));
  }

 private:
  Result<Rows> ReadOneByOne(const std::vector<int64_t>& positions,
                            const ReadContext& context) const {
    Scratch scratch = context.scratch(*this);
    RowStack stack(input().spec(), std::ssize(positions), scratch);
    for (const int64_t position : positions) {
      STOKER_ASSIGN_OR_RETURN(const Element element, input().node().Read(position, context));
      STOKER_RETURN_IF_ERROR(stack.Add(element));
    }
    return std::move(stack).Take();
  }

  const Plan plan_;
};

class WindowIterator final : public Iterator {
 public:
  WindowIterator(const OpenContext& context, const WindowNode& node,
                 std::unique_ptr<Iterator> input)
      : Iterator(context, node),
        node_(node),
        input_(context, node, std::move(input), [this] { return Held(); }),
        element_bytes_(node.input().spec().ElementBytes().value_or(0)),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    if (input_.must_recover()) STOKER_RETURN_IF_ERROR(RecoverHeld());
    const Plan& plan = node_.plan();
    STOKER_RETURN_IF_ERROR(FillFrom(windows_ * plan.shift, plan.reach()));
    const int64_t size = plan.SizeOf(std::ssize(held_));
    if (size == 0 || (plan.drop_remainder && size < plan.size)) return std::nullopt;
    std::vector<Element> elements;
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(held_[static_cast<size_t>(i * plan.stride)].element);
    Scratch scratch(pass().stage(node_).pool);
    STOKER_ASSIGN_OR_RETURN(Rows rows, StackElements(node_.input().spec(), elements, scratch));
    const int64_t window = windows_++;
    DropBefore(windows_ * plan.shift);
    return RowsAsElement(std::move(rows), {epoch_, window});
  }

  // Holds elements begin .. begin + count - 1, or as many of them as there are.
  Status FillFrom(int64_t begin, int64_t count) {
    while (input_.pulled() < begin + count) {
      HeldElement next;
      STOKER_ASSIGN_OR_RETURN(const bool more, input_.Next(next));
      if (!more) break;
      if (next.number >= begin) {
        held_.push_back(std::move(next));
        STOKER_RETURN_IF_ERROR(CheckBudget());
      } else {
        input_.Release(std::move(next));
      }
    }
    return OkStatus();
  }

  // The values of the window itself, and one element, are let through whatever the budget is.
  Status CheckBudget() const {
    const Plan& plan = node_.plan();
    const int64_t budget = pass().ledger().budget_bytes();
    const int64_t own = plan.SizeOf(std::ssize(held_)) * element_bytes_;
    if (held_.size() == 1 || input_.held_bytes() - own <= budget) return OkStatus();
    return ResourceExhausted(
        "window: the first {} of the {} elements from a window's first to its last take {} bytes, "
        "but the memory budget is {}; use a smaller size or stride, or {}",
        held_.size(), plan.reach(), input_.held_bytes(), budget, HowToRaiseTheBudget());
  }

  void DropBefore(int64_t begin) {
    for (; !held_.empty() && held_.front().number < begin; held_.pop_front())
      input_.Release(std::move(held_.front()));
  }

  std::vector<const HeldElement*> Held() const {
    std::vector<const HeldElement*> held;
    for (const HeldElement& one : held_) held.push_back(&one);
    return held;
  }

  Status RecoverHeld() {
    STOKER_ASSIGN_OR_RETURN(std::vector<HeldElement> held, input_.Recover());
    // All that have been pulled from the next window's first on, and nothing else.
    const int64_t begin = windows_ * node_.plan().shift;
    const int64_t wanted = std::max<int64_t>(0, input_.pulled() - begin);
    if (std::ssize(held) != wanted || (wanted > 0 && held.front().number != begin)) {
      return DataLoss(
          "window: the saved position precedes window {}, but holds {} elements from its "
          "first, {}, up to {}; it is damaged",
          windows_, held.size(), begin, input_.pulled());
    }
    held_.assign(std::make_move_iterator(held.begin()), std::make_move_iterator(held.end()));
    return OkStatus();
  }

  Result<Json> DoSave() const override {
    return input_.Save({{"epoch", epoch_}, {"windows", windows_}});
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(
        windows_, SavedCount(node_.name(), state, "windows", kMostCounted / node_.plan().shift));
    return input_.Restore(state);
  }

  const WindowNode& node_;
  HeldInput input_;
  const int64_t element_bytes_;
  uint64_t epoch_;
  int64_t windows_ = 0;           // handed out
  std::deque<HeldElement> held_;  // consecutive, from the first of the next window
};

Result<std::unique_ptr<Iterator>> WindowNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<WindowIterator>(context, *this, std::move(input));
}

}  // namespace

void Window::Describe(OptionTable<Window>& table) {
  table.Field("size", &Window::size, "elements in a window", Between(1, kMaxExtent))
      .Required()
      .Field("shift", &Window::shift,
             "how far the next window begins after this one; auto: size, so that none overlap",
             Between(1, kMaxExtent))
      .Field("stride", &Window::stride, "take each so-manyth element", Between(1, kMaxExtent))
      .Field("drop_remainder", &Window::drop_remainder,
             "leave out windows that reach beyond an epoch's end");
}

Result<Dataset> Window::Build(Dataset input) const {
  const Plan plan{.size = size,
                  .shift = shift.value_or(size),
                  .stride = stride,
                  .drop_remainder = drop_remainder};
  STOKER_ASSIGN_OR_RETURN(Spec spec, WindowedSpec(input, plan));
  return Dataset(std::make_shared<WindowNode>(std::move(input), plan, std::move(spec)));
}

}  // namespace stoker
