# Flags of every file of ours, in two interface targets: stoker_flags, which programs that use our libraries get too, and
# stoker_own_flags, which they do not.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
# -O1 keeps the sanitized suite quick and its stacks readable.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

find_program(STOKER_CCACHE ccache)
if(STOKER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STOKER_CCACHE})
endif()

add_library(stoker_flags INTERFACE)
target_compile_features(stoker_flags INTERFACE cxx_std_20)
target_include_directories(stoker_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(stoker_flags INTERFACE STOKER_VERSION="${PROJECT_VERSION}")
# As libstoker.so needs them (python/CMakeLists.txt), in every build, so that ccache makes the package of what a release has
# compiled: in an executable the linker makes the same calls and accesses of it. No other library replaces a function of ours, so
# it may be inlined.
target_compile_options(stoker_flags INTERFACE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
add_library(stoker_own_flags INTERFACE)
target_compile_options(stoker_own_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Werror
  # Designated initialisers leave fields out on purpose.
  -Wno-missing-field-initializers
  # GCC 12 sees uninitialised values in every moved-from std::variant and std::string.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  # A fused multiply-add would round differently on CPUs that have one: results must not depend on the CPU.
  -ffp-contract=off
  # A precompiled header that ccache may reuse must not carry the time it was made.
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  # GCC collects its garbage only where it has more than 1 GiB of it: 120 MB more for a compiler, and a seventh less time.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)
if(STOKER_SANITIZE)
  set(sanitize -fsanitize=${STOKER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(stoker_flags INTERFACE ${sanitize})
  target_link_options(stoker_flags INTERFACE ${sanitize})
  # GCC 12 reports out-of-bounds accesses inside the standard library when it
  # instruments; those are artefacts of the instrumentation.
  target_compile_options(stoker_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow>)
endif()
if(STOKER_FUZZ)
  target_compile_options(stoker_flags INTERFACE -fsanitize=fuzzer-no-link)
  # Of x86's instruction sets AVX2 and what serves without any: instrumented, each costs clang minutes.
  target_compile_definitions(stoker_flags INTERFACE
    "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
endif()
