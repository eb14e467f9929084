// A library for LD_PRELOAD that has a program see a CPU without the instruction sets above the one
// that the environment variable STOKER_HIGHWAY names, such as SSE4 or AVX2: Highway's kernels then
// choose that one, whatever this CPU could do. `./dev test portable` runs the tests so.
#include <dlfcn.h>
#include <hwy/highway.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

// Highway's targets are single bits, and better ones are lower. All bits where nothing is limited.
int64_t AllowedTargets() {
  const char* const name = std::getenv("STOKER_HIGHWAY");
  if (name == nullptr) return -1;
  for (int64_t target = 1; target > 0; target *= 2) {
    if (std::string_view(name) == hwy::TargetName(target)) return ~(target - 1);
  }
  std::fprintf(stderr, "STOKER_HIGHWAY=%s: Highway has no such target\n", name);
  std::_Exit(2);
}

[[gnu::constructor]] void CheckName() { AllowedTargets(); }

}  // namespace

namespace hwy {

// In place of Highway's own, which leaves behind what the dispatcher chooses by.
// hwy::DisableTargets does not do: Highway 1.0 forgets its mask where it looks for the targets of
// the CPU.
int64_t SupportedTargets() {
  static const int64_t allowed = AllowedTargets();
  static const auto original =
      reinterpret_cast<int64_t (*)()>(::dlsym(RTLD_NEXT, "_ZN3hwy16SupportedTargetsEv"));
  const int64_t all = original();
  const int64_t limited = all & allowed;
  const int64_t targets = limited != 0 ? limited : all;
  GetChosenTarget().Update(targets);
  return targets;
}

}  // namespace hwy
