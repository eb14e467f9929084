#include "stoker/data/options/count_or_share.h"

#include <cmath>

#include "stoker/base/options.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

// Less than a share of one element of 2^53; takes back what rounding took, as of 0.29 * 100.
constexpr double kRounding = 1e-9;

bool IsShare(double share) { return share > 0 && share < 1; }

}  // namespace

Result<int64_t> CountOrShare::Of(const Dataset& input, std::string_view who) const {
  if (!share_) {
    if (count_ < 0) return InvalidArgument("{}: count is {}; it must be >= 0", who, count_);
    return count_;
  }
  if (!IsShare(*share_))
    return InvalidArgument("{}: count is {}; a share is more than 0 and less than 1", who, *share_);
  const Cardinality all = input.cardinality();
  if (!all.known()) {
    return InvalidArgument(
        "{}: {} is a share, but how many elements '{}' has is {}; give a number, or put {} "
        "directly after a source that knows its length",
        who, *share_, input.node().name(), all.infinite() ? "without end" : "not known before",
        who);
  }
  return static_cast<int64_t>(std::floor(static_cast<double>(all.value()) * *share_ + kRounding));
}

Status CountOrShare::Read(const ConfigNode& node) {
  int64_t count = 0;
  if (const Status whole = ReadOption(node, count); whole.ok()) {
    if (count < 0) return InvalidArgument("is {}; it must be >= 0", count);
    *this = count;
    return OkStatus();
  }
  double share = 0;
  if (!ReadOption(node, share).ok() || !IsShare(share)) {
    return InvalidArgument("'{}' is neither a whole number nor a share between 0 and 1",
                           ShortText(ToYamlLine(node)));
  }
  *this = share;
  return OkStatus();
}

ConfigNode CountOrShare::Write() const {
  return share_ ? WriteOption(*share_) : WriteOption(count_);
}

}  // namespace stoker
