#include "stoker/formats/hdf5/type_internal.h"

#include <array>
#include <limits>
#include <optional>

namespace stoker::internal {
namespace {

constexpr std::string_view kType = "a datatype", kSpace = "a dataspace";

enum class Class : uint8_t {
  kInteger = 0,
  kFloat = 1,
  kTime = 2,
  kString = 3,
  kBits = 4,
  kOpaque = 5,
  kCompound = 6,
  kReference = 7,
  kEnum = 8,
  kVariable = 9,
  kArray = 10,
};

const char* NameOf(Class type) {
  switch (type) {
    case Class::kInteger: return "an integer";
    case Class::kFloat: return "a floating-point number";
    case Class::kTime: return "a time";
    case Class::kString: return "a text";
    case Class::kBits: return "bits";
    case Class::kOpaque: return "bytes";
    case Class::kCompound: return "a compound of several members (complex numbers too)";
    case Class::kReference: return "a reference";
    case Class::kEnum: return "an enumeration";
    case Class::kVariable: return "a text or list of its own length";
    case Class::kArray: return "an array";
  }
  return "of an unknown class";
}

class TypeParser {
 public:
  TypeParser(const Hdf5Content& file, const Hdf5Message& message, const std::string& where)
      : message_(message), where_(where), in_(file, message.at, message.bytes) {}

  Result<Hdf5Type> Parse() {
    Hdf5Type type;
    STOKER_RETURN_IF_ERROR(ParseOne(type));
    STOKER_RETURN_IF_ERROR(in_.Check(message_.at, kType));
    return type;
  }

 private:
  struct Head {
    Class type;
    int version;
    uint32_t bits;
    uint32_t bytes;
  };
  Head ReadHead() {
    const uint8_t first = in_.U8();
    const auto bits = static_cast<uint32_t>(in_.Number(3));
    Head head{static_cast<Class>(first & 15), first >> 4, bits, in_.U32()};
    if (head.version < 1 || head.version > 5 || head.bytes == 0) in_.Fail();
    return head;
  }

  Status Refuse(std::string_view what) const {
    return Unimplemented("{}: its values are {}, which is not read; write it as numbers or texts",
                         where_, what);
  }

  Status ParseOne(Hdf5Type& type) {
    const Head head = ReadHead();
    if (in_.failed()) return OkStatus();
    type.bytes = head.bytes;
    switch (head.type) {
      case Class::kInteger:
      case Class::kBits:
      case Class::kFloat:
      case Class::kEnum: return ParseNumber(head, type.value);
      case Class::kString:
        type.form = RowForm::kFollowed;
        if ((head.bits & 15) == 1) type.followed = Hdf5Type::Followed::kPaddedByZeros;
        if ((head.bits & 15) == 2) type.followed = Hdf5Type::Followed::kPaddedBySpaces;
        return OkStatus();
      case Class::kOpaque:
        type.value = {.kind = StoredKind::kUnsigned, .bytes = 1};
        type.inner = {head.bytes};
        return OkStatus();
      case Class::kArray: return ParseArray(head, type);
      case Class::kVariable: return ParseVariable(head, type);
      default: return Refuse(NameOf(head.type));
    }
  }

  Status ParseNumber(const Head& head, StoredValue& value) {
    if (head.type == Class::kEnum) return ParseEnum(head, value);
    value.bytes = head.bytes;
    value.big_endian = (head.bits & 1) != 0;
    const uint16_t offset = in_.U16(), precision = in_.U16();
    if (in_.failed()) return OkStatus();
    if (offset != 0 || precision != 8 * head.bytes) return Refuse("a number of padded bits");
    if (head.type != Class::kFloat) {
      const bool is_signed = head.type == Class::kInteger && (head.bits & 8) != 0;
      value.kind = is_signed ? StoredKind::kSigned : StoredKind::kUnsigned;
    } else {
      STOKER_RETURN_IF_ERROR(ParseFloat(head, value));
    }
    return value.ToDType().ok() ? OkStatus()
                                : Refuse(fmt::format("a number of {} bytes", head.bytes));
  }

  Status ParseFloat(const Head& head, StoredValue& value) {
    in_.Skip(1);  // where the exponent lies
    const uint8_t exponent = in_.U8();
    in_.Skip(1);
    const uint8_t mantissa = in_.U8();
    in_.Skip(4);  // the exponent's bias
    value.kind = StoredKind::kFloat;
    constexpr uint32_t kVax = 1 << 6;
    const bool brain = head.bytes == 2 && exponent == 8 && mantissa == 7;
    if (brain) value.kind = StoredKind::kBFloat16;
    const bool ieee = (head.bytes == 2 && exponent == 5 && mantissa == 10) ||
                      (head.bytes == 4 && exponent == 8 && mantissa == 23) ||
                      (head.bytes == 8 && exponent == 11 && mantissa == 52);
    if (in_.failed() || ((brain || ieee) && (head.bits & kVax) == 0)) return OkStatus();
    return Refuse(
        fmt::format("a floating-point number of {} bytes that IEEE 754 does not know", head.bytes));
  }

  // As its numbers; one of FALSE and TRUE, as h5py writes it, as bool.
  Status ParseEnum(const Head& head, StoredValue& value) {
    const uint32_t members = head.bits & 0xffff;
    const Head base = ReadHead();
    if (base.type != Class::kInteger || base.bytes != head.bytes) in_.Fail();
    if (in_.failed()) return OkStatus();
    STOKER_RETURN_IF_ERROR(ParseNumber(base, value));
    if (members != 2 || head.bytes != 1) return OkStatus();
    std::array<std::string, 2> names;
    for (std::string& name : names) {
      for (char c = static_cast<char>(in_.U8()); c != 0 && !in_.failed();
           c = static_cast<char>(in_.U8()))
        name += c;
      if (head.version < 3) in_.Skip((8 - (name.size() + 1) % 8) % 8);
    }
    const uint8_t first = in_.U8(), second = in_.U8();
    if (names == std::array<std::string, 2>{"FALSE", "TRUE"} && first == 0 && second == 1)
      value.kind = StoredKind::kBool;
    return OkStatus();
  }

  Status ParseArray(const Head& head, Hdf5Type& type) {
    const uint8_t rank = in_.U8();
    if (head.version < 3) in_.Skip(3);
    uint64_t values = 1;
    for (uint8_t d = 0; d < rank; ++d) {
      type.inner.push_back(in_.U32());
      const auto extent = static_cast<uint64_t>(type.inner.back());
      if (extent == 0 || extent > head.bytes || values > head.bytes / extent) in_.Fail();
      values *= std::max<uint64_t>(extent, 1);
      if (in_.failed()) return OkStatus();
    }
    if (head.version < 3) in_.Skip(4 * uint64_t{rank});  // a permutation that no library wrote
    const Head base = ReadHead();
    if (in_.failed()) return OkStatus();
    if (base.type != Class::kInteger && base.type != Class::kFloat && base.type != Class::kEnum &&
        base.type != Class::kBits)
      return Refuse(fmt::format("an array, each value of which is {}", NameOf(base.type)));
    if (values * base.bytes != head.bytes) in_.Fail();
    return ParseNumber(base, type.value);
  }

  Status ParseVariable(const Head& head, Hdf5Type& type) {
    type.form = RowForm::kFollowed;
    const bool text = (head.bits & 15) == 1;
    type.followed = text ? Hdf5Type::Followed::kHeapText : Hdf5Type::Followed::kHeapList;
    if (text) return OkStatus();
    const Head base = ReadHead();
    if (in_.failed()) return OkStatus();
    if (base.type != Class::kInteger && base.type != Class::kFloat && base.type != Class::kEnum)
      return Refuse(fmt::format("a list, each value of which is {}", NameOf(base.type)));
    return ParseNumber(base, type.value);
  }

  const Hdf5Message& message_;
  const std::string& where_;
  Hdf5Cursor in_;
};

}  // namespace

Result<Hdf5Type> ParseHdf5Type(const Hdf5Content& file, const Hdf5Message& message,
                               const std::string& where) {
  return TypeParser(file, message, where).Parse();
}

Result<Hdf5Space> ParseHdf5Space(const Hdf5Content& file, const Hdf5Message& message) {
  Hdf5Cursor in(file, message.at, message.bytes);
  const uint8_t version = in.U8(), rank = in.U8(), flags = in.U8();
  Hdf5Space space;
  if (version == 1) in.Skip(5);
  if (version == 2) space.null = in.U8() == 2;
  if (version < 1 || version > 2 || rank > 32) in.Fail();
  const auto extents = [&](Shape& shape) {
    const uint64_t unlimited = kNoAddress >> (64 - 8 * file.length_bytes);
    for (uint8_t d = 0; d < rank && !in.failed(); ++d) {
      const uint64_t extent = in.Length();
      const bool endless = extent == unlimited && &shape == &space.most;
      if (!endless && extent > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        in.Fail();
      shape.push_back(endless ? -1 : static_cast<int64_t>(extent));
    }
  };
  extents(space.shape);
  if ((flags & 1) != 0) {
    extents(space.most);
  } else {
    space.most = space.shape;
  }
  for (size_t d = 0; d < space.most.size() && !in.failed(); ++d) {
    if (space.most[d] >= 0 && space.most[d] < space.shape[d]) in.Fail();
  }
  STOKER_RETURN_IF_ERROR(in.Check(message.at, kSpace));
  return space;
}

}  // namespace stoker::internal
