#include "stoker/base/instruction_set.h"

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/base/instruction_set.cc"  // NOLINT: for foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(TargetName);

std::string_view InstructionSet() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

}  // namespace stoker
#endif  // HWY_ONCE
