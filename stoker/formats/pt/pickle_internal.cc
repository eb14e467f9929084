#include "stoker/formats/pt/pickle_internal.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "stoker/base/utf8.h"

namespace stoker::internal {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kOrderedDict = "collections OrderedDict";
constexpr std::string_view kSize = "torch Size";
// Functions whose calls are kept as they are: tensors.
constexpr std::string_view kTensorFunctions[] = {"torch._utils _rebuild_tensor",
                                                 "torch._utils _rebuild_tensor_v2",
                                                 "torch._utils _rebuild_parameter"};
constexpr std::string_view kStorages[] = {
    "torch DoubleStorage", "torch FloatStorage", "torch HalfStorage",  "torch BFloat16Storage",
    "torch LongStorage",   "torch IntStorage",   "torch ShortStorage", "torch CharStorage",
    "torch ByteStorage",   "torch BoolStorage"};
constexpr size_t kLongestGlobal = 256;
// A value takes 80 bytes and may be said in one; a tensor is made of about 20.
constexpr size_t kMostValues = 10'000'000;

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class PickleReader {
 public:
  explicit PickleReader(ByteReader& in) : in_(in) {}

  Result<PickleTree> Read() {
    while (!done_) {
      at_ = in_.position();
      STOKER_ASSIGN_OR_RETURN(const uint8_t opcode, in_.ReadU8("pickle"));
      STOKER_RETURN_IF_ERROR(Do(opcode));
      if (tree_.values.size() > kMostValues) {
        return Unimplemented("{}: byte {}: a pickle of more than {} values", in_.name(), at_,
                             kMostValues);
      }
    }
    return std::move(tree_);
  }

 private:
  Status Do(uint8_t opcode) {
    STOKER_ASSIGN_OR_RETURN(const bool number, DoNumber(opcode));
    if (number) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const bool text, DoText(opcode));
    if (text) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const bool container, DoContainer(opcode));
    if (container) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const bool memo, DoMemo(opcode));
    return memo ? OkStatus() : DoOther(opcode);
  }

  Status Damaged(std::string_view problem) const {
    return DataLoss("{}: byte {}: {}; the file is damaged: copy or download it again", in_.name(),
                    at_, problem);
  }

  // ---- the stack

  PickleId New(PickleValue value) {
    tree_.values.push_back(std::move(value));
    return static_cast<PickleId>(tree_.values.size() - 1);
  }
  Result<bool> Push(PickleValue value) {
    stack_.push_back(New(std::move(value)));
    return true;
  }
  bool IsMark(PickleId id) const { return tree_[id].kind == Kind::kMark; }
  Result<PickleId> Pop() {
    if (stack_.empty() || IsMark(stack_.back())) return Damaged("the pickle's stack is empty");
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  // What was pushed since the last mark, which goes too.
  Result<std::vector<PickleId>> PopToMark() {
    const auto mark =
        std::find_if(stack_.rbegin(), stack_.rend(), [&](PickleId id) { return IsMark(id); });
    if (mark == stack_.rend()) return Damaged("the pickle's stack has no mark");
    std::vector<PickleId> items(mark.base(), stack_.end());
    stack_.resize(stack_.size() - items.size() - 1);
    return items;
  }
  // The list or dict on top of the stack.
  Result<PickleValue*> Top(Kind kind) {
    if (stack_.empty() || tree_[stack_.back()].kind != kind) {
      return Damaged(
          fmt::format("the pickle adds to {}, which is not there", PickleKindName(kind)));
    }
    return &tree_.values[stack_.back()];
  }

  // ---- opcodes; false: another kind of opcode

  Result<bool> DoNumber(uint8_t opcode) {
    switch (opcode) {
      case 'N': return Push({.kind = Kind::kNone});
      case 0x88: return Push({.kind = Kind::kBool, .integer = 1});
      case 0x89: return Push({.kind = Kind::kBool, .integer = 0});
      case 'K': return PushInt(in_.ReadU8("number"));
      case 'M': return PushInt(in_.ReadU16Le("number"));
      case 'J': {
        STOKER_ASSIGN_OR_RETURN(const uint32_t bits, in_.ReadU32Le("number"));
        return Push({.kind = Kind::kInt, .integer = static_cast<int32_t>(bits)});
      }
      case 'G': {
        STOKER_ASSIGN_OR_RETURN(const uint64_t bits, in_.ReadU64Be("number"));
        return Push({.kind = Kind::kFloat, .real = std::bit_cast<double>(bits)});
      }
      case 0x8a: return PushLong(in_.ReadU8("number"));
      default: return false;
    }
  }
  template <typename T>
  Result<bool> PushInt(const Result<T>& value) {
    STOKER_RETURN_IF_ERROR(value.status());
    return Push({.kind = Kind::kInt, .integer = *value});
  }
  // Two's complement of as many bytes.
  Result<bool> PushLong(const Result<uint8_t>& size) {
    STOKER_RETURN_IF_ERROR(size.status());
    if (*size > 8) {
      return Unimplemented("{}: byte {}: a number of {} bytes; at most 8 are read", in_.name(), at_,
                           *size);
    }
    uint64_t bits = 0;
    uint8_t last = 0;
    for (int i = 0; i < *size; ++i) {
      STOKER_ASSIGN_OR_RETURN(last, in_.ReadU8("number"));
      bits |= uint64_t{last} << 8 * i;
    }
    if (last >= 0x80 && *size < 8) bits |= ~uint64_t{0} << 8 * *size;
    return Push({.kind = Kind::kInt, .integer = static_cast<int64_t>(bits)});
  }

  Result<bool> DoText(uint8_t opcode) {
    switch (opcode) {
      case 'U':
      case 0x8c: return PushText(Kind::kText, in_.ReadU8("length of text"));
      case 'T':
      case 'X': return PushText(Kind::kText, in_.ReadU32Le("length of text"));
      case 0x8d: return PushText(Kind::kText, in_.ReadU64Le("length of text"));
      case 'C': return PushText(Kind::kBytes, in_.ReadU8("length of bytes"));
      case 'B': return PushText(Kind::kBytes, in_.ReadU32Le("length of bytes"));
      case 0x8e: return PushText(Kind::kBytes, in_.ReadU64Le("length of bytes"));
      case 'c': return PushGlobal();
      case 0x93: return PushStackGlobal();
      default: return false;
    }
  }
  template <typename T>
  Result<bool> PushText(Kind kind, const Result<T>& size) {
    STOKER_RETURN_IF_ERROR(size.status());
    STOKER_RETURN_IF_ERROR(in_.CheckAvailable(*size, "text"));
    std::string text(*size, '\0');
    STOKER_RETURN_IF_ERROR(in_.ReadBytes(std::as_writable_bytes(std::span(text)), "text"));
    if (kind == Kind::kText && !IsUtf8(text)) return Damaged("text is no UTF-8");
    return Push({.kind = kind, .text = std::move(text)});
  }
  Result<std::string> ReadLine() {
    std::string line;
    while (line.size() < kLongestGlobal) {
      STOKER_ASSIGN_OR_RETURN(const uint8_t c, in_.ReadU8("name of an object"));
      if (c == '\n') return line;
      line += static_cast<char>(c);
    }
    return Damaged("the name of an object has no end");
  }
  Result<bool> PushGlobal() {
    STOKER_ASSIGN_OR_RETURN(const std::string module, ReadLine());
    STOKER_ASSIGN_OR_RETURN(const std::string name, ReadLine());
    return PushKnown(module, name);
  }
  Result<bool> PushStackGlobal() {
    STOKER_ASSIGN_OR_RETURN(const PickleId name, Pop());
    STOKER_ASSIGN_OR_RETURN(const PickleId module, Pop());
    if (tree_[name].kind != Kind::kText || tree_[module].kind != Kind::kText) {
      return Damaged("the name of an object is no text");
    }
    return PushKnown(std::string(tree_[module].text), std::string(tree_[name].text));
  }
  Result<bool> PushKnown(const std::string& module, const std::string& name) {
    std::string global = module + " " + name;
    if (global == kOrderedDict || global == kSize || Contains(kTensorFunctions, global) ||
        Contains(kStorages, global)) {
      return Push({.kind = Kind::kGlobal, .text = std::move(global)});
    }
    return Unimplemented(
        "{}: byte {}: the file needs Python's '{}.{}', and only tensors of common types, dicts, "
        "lists, tuples, numbers and text are read, since anything else could run code; in PyTorch, "
        "save model.state_dict() alone",
        in_.name(), at_, module.substr(0, kLongestGlobal), name.substr(0, kLongestGlobal));
  }

  Result<bool> DoContainer(uint8_t opcode) {
    switch (opcode) {
      case '(': return Push({.kind = Kind::kMark});
      case ')': return Push({.kind = Kind::kTuple});
      case ']': return Push({.kind = Kind::kList});
      case '}': return Push({.kind = Kind::kDict});
      case 0x85:
      case 0x86:
      case 0x87: return PushTuple(opcode - 0x84);
      case 't': return PushMarked(Kind::kTuple);
      case 'l': return PushMarked(Kind::kList);
      case 'd': return PushMarked(Kind::kDict);
      case 'a':
      case 's': return AddOne(opcode == 'a' ? Kind::kList : Kind::kDict);
      case 'e':
      case 'u': return AddMarked(opcode == 'e' ? Kind::kList : Kind::kDict);
      default: return false;
    }
  }
  Result<bool> PushTuple(int size) {
    std::vector<PickleId> items(static_cast<size_t>(size));
    for (size_t i = items.size(); i-- > 0;) {
      STOKER_ASSIGN_OR_RETURN(items[i], Pop());
    }
    return Push({.kind = Kind::kTuple, .items = std::move(items)});
  }
  Result<bool> PushMarked(Kind kind) {
    STOKER_ASSIGN_OR_RETURN(std::vector<PickleId> items, PopToMark());
    STOKER_RETURN_IF_ERROR(CheckPairs(kind, items.size()));
    return Push({.kind = kind, .items = std::move(items)});
  }
  Result<bool> AddOne(Kind kind) {
    std::vector<PickleId> items(kind == Kind::kList ? 1 : 2);
    for (size_t i = items.size(); i-- > 0;) {
      STOKER_ASSIGN_OR_RETURN(items[i], Pop());
    }
    return Add(kind, items);
  }
  Result<bool> AddMarked(Kind kind) {
    STOKER_ASSIGN_OR_RETURN(const std::vector<PickleId> items, PopToMark());
    STOKER_RETURN_IF_ERROR(CheckPairs(kind, items.size()));
    return Add(kind, items);
  }
  Result<bool> Add(Kind kind, const std::vector<PickleId>& items) {
    STOKER_ASSIGN_OR_RETURN(PickleValue* const container, Top(kind));
    container->items.insert(container->items.end(), items.begin(), items.end());
    return true;
  }
  Status CheckPairs(Kind kind, size_t items) const {
    return kind == Kind::kDict && items % 2 != 0 ? Damaged("a dict has a key without a value")
                                                 : OkStatus();
  }

  Result<bool> DoMemo(uint8_t opcode) {
    switch (opcode) {
      case 'q': return Memorize(in_.ReadU8("number of the memo"));
      case 'r': return Memorize(in_.ReadU32Le("number of the memo"));
      case 0x94: return Memorize(Result<uint32_t>(static_cast<uint32_t>(memo_.size())));
      case 'h': return Recall(in_.ReadU8("number of the memo"));
      case 'j': return Recall(in_.ReadU32Le("number of the memo"));
      default: return false;
    }
  }
  template <typename T>
  Result<bool> Memorize(const Result<T>& number) {
    STOKER_RETURN_IF_ERROR(number.status());
    if (stack_.empty() || IsMark(stack_.back())) return Damaged("the pickle's stack is empty");
    memo_[*number] = stack_.back();
    return true;
  }
  template <typename T>
  Result<bool> Recall(const Result<T>& number) {
    STOKER_RETURN_IF_ERROR(number.status());
    const auto found = memo_.find(*number);
    if (found == memo_.end()) return Damaged(fmt::format("the memo has no number {}", *number));
    stack_.push_back(found->second);
    return true;
  }

  Status DoOther(uint8_t opcode) {
    switch (opcode) {
      case 0x80: return in_.Skip(1, "protocol");
      case 0x95: return in_.Skip(8, "length of a frame");
      case '0': return Pop().status();
      case '1': return PopToMark().status();
      case '.': return Stop();
      case 'R': return Reduce();
      case 'b': return Build();
      case 'Q': {
        STOKER_ASSIGN_OR_RETURN(const PickleId name, Pop());
        return Push({.kind = Kind::kPersistent, .items = {name}}).status();
      }
      default: return Damaged(fmt::format("{:#04x} is no opcode of a pickle of tensors", opcode));
    }
  }
  Status Stop() {
    STOKER_ASSIGN_OR_RETURN(tree_.root, Pop());
    if (!stack_.empty()) return Damaged("the pickle ends with more than one value");
    done_ = true;
    return OkStatus();
  }

  // A call: of what makes tensors it is kept, the others are done.
  Status Reduce() {
    STOKER_ASSIGN_OR_RETURN(const PickleId arguments, Pop());
    STOKER_ASSIGN_OR_RETURN(const PickleId function, Pop());
    if (tree_[function].kind != Kind::kGlobal || tree_[arguments].kind != Kind::kTuple) {
      return Damaged("what is called is no function or has no arguments");
    }
    const std::string called = tree_[function].text;
    STOKER_RETURN_IF_ERROR(CountCopies(arguments));
    const std::vector<PickleId> items = tree_[arguments].items;
    if (called == kOrderedDict) return PushOrderedDict(items);
    if (called == kSize) return PushSize(items);
    if (Contains(kStorages, called)) return Damaged(fmt::format("'{}' is called", called));
    return Push({.kind = Kind::kCall, .text = called, .items = items}).status();
  }
  // Items are copied from what made them, each of which took a byte at least: a pickle that copies
  // more uses the same ones again and again.
  Status CountCopies(PickleId from) {
    copies_ += tree_[from].items.size();
    return copies_ > in_.position() ? Damaged("calls have more arguments than there are bytes")
                                    : OkStatus();
  }
  // Made of no arguments, or of one list of pairs.
  Status PushOrderedDict(const std::vector<PickleId>& arguments) {
    PickleValue dict{.kind = Kind::kDict};
    if (arguments.size() > 1) return Damaged("an OrderedDict is made of several arguments");
    for (const PickleId argument : arguments) {
      STOKER_RETURN_IF_ERROR(CountCopies(argument));
      for (const PickleId pair : tree_[argument].items) {
        const PickleValue& value = tree_[pair];
        if (value.items.size() != 2) return Damaged("an OrderedDict is made of other than pairs");
        dict.items.insert(dict.items.end(), value.items.begin(), value.items.end());
      }
    }
    return Push(std::move(dict)).status();
  }
  Status PushSize(const std::vector<PickleId>& arguments) {
    if (arguments.size() != 1) return Damaged("a torch.Size is made of several arguments");
    STOKER_RETURN_IF_ERROR(CountCopies(arguments[0]));
    return Push({.kind = Kind::kTuple, .items = tree_[arguments[0]].items}).status();
  }
  // Attributes: those that a state dict has (versions of modules) say nothing about tensors.
  Status Build() {
    STOKER_RETURN_IF_ERROR(Pop().status());
    return Top(Kind::kDict).status();
  }

  ByteReader& in_;
  PickleTree tree_;
  std::vector<PickleId> stack_;
  std::unordered_map<uint32_t, PickleId> memo_;
  uint64_t at_ = 0;      // of the opcode
  uint64_t copies_ = 0;  // of items
  bool done_ = false;
};

}  // namespace

std::string_view PickleKindName(Kind kind) {
  switch (kind) {
    case Kind::kNone: return "None";
    case Kind::kBool: return "a truth value";
    case Kind::kInt: return "an integer";
    case Kind::kFloat: return "a number";
    case Kind::kText: return "text";
    case Kind::kBytes: return "bytes";
    case Kind::kTuple: return "a tuple";
    case Kind::kList: return "a list";
    case Kind::kDict: return "a dict";
    case Kind::kGlobal: return "a class";
    case Kind::kPersistent: return "a storage";
    case Kind::kCall: return "a tensor";
    case Kind::kMark: return "a mark";
  }
  return "a value";
}

Result<PickleTree> ReadPickle(ByteReader& in) { return PickleReader(in).Read(); }

}  // namespace stoker::internal
