# stoker_folder(NAME [DEPS folder...] [THIRD_PARTY target...] [TORCH])
#
# One target a folder: stoker_NAME holds every x.cc below stoker/NAME, stoker_NAME_test every x_test.cc,
# stoker_NAME_bench every x_bench.cc; each x_fuzz.cc becomes a fuzzer of its own. TORCH marks the folders
# that may see libtorch. In none of these targets are x_plugin.cc (StokerPlugins.cmake) and builtin_kinds.cc (stoker_kinds).
function(stoker_folder NAME)
  cmake_parse_arguments(ARG "TORCH" "" "DEPS;THIRD_PARTY" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/stoker/${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "(_plugin|/builtin_kinds)\\.cc$")
  foreach(kind test bench fuzz)
    set(${kind}_sources ${sources})
    list(FILTER ${kind}_sources INCLUDE REGEX "_${kind}\\.cc$")
    list(FILTER sources EXCLUDE REGEX "_${kind}\\.cc$")
  endforeach()

  if(NOT sources)
    add_library(stoker_${NAME} INTERFACE)
    return()
  endif()
  list(TRANSFORM ARG_DEPS PREPEND stoker_)
  add_library(stoker_${NAME} STATIC ${sources})
  target_link_libraries(stoker_${NAME} PUBLIC stoker_flags ${ARG_DEPS} ${ARG_THIRD_PARTY} PRIVATE stoker_own_flags)
  set(pch plain)
  set(test_pch tests)
  if(ARG_TORCH)
    target_link_libraries(stoker_${NAME} PUBLIC stoker_torch)
    set(pch torch)
    set(test_pch torch)
  endif()
  stoker_precompile(stoker_${NAME} ${pch})

  if(STOKER_TESTS AND test_sources)
    add_executable(stoker_${NAME}_test ${test_sources})
    target_link_libraries(stoker_${NAME}_test PRIVATE stoker_${NAME} stoker_own_flags stoker_test_flags GTest::gmock GTest::gtest_main)
    stoker_precompile(stoker_${NAME}_test ${test_pch})
    gtest_discover_tests(stoker_${NAME}_test TEST_PREFIX ${NAME}. DISCOVERY_TIMEOUT 120
      PROPERTIES TIMEOUT 1800 LABELS unit)
  endif()
  if(STOKER_TESTS AND bench_sources)
    add_executable(stoker_${NAME}_bench ${bench_sources})
    target_link_libraries(stoker_${NAME}_bench PRIVATE stoker_${NAME} stoker_own_flags benchmark::benchmark_main)
    stoker_precompile(stoker_${NAME}_bench ${pch})
    # Run once in the tests, so that a benchmark cannot rot.
    add_test(NAME ${NAME}.benchmarks_run COMMAND stoker_${NAME}_bench --benchmark_min_time=0.001)
    set_tests_properties(${NAME}.benchmarks_run PROPERTIES TIMEOUT 1800 LABELS bench
      FAIL_REGULAR_EXPRESSION "ERROR OCCURRED")
  endif()
  if(STOKER_FUZZ)
    foreach(fuzz_source ${fuzz_sources})
      get_filename_component(fuzzer ${fuzz_source} NAME_WE)
      add_executable(${fuzzer} ${fuzz_source})
      target_link_libraries(${fuzzer} PRIVATE stoker_${NAME} stoker_own_flags)
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# Tests need not be fast, but quick to compile.
add_library(stoker_test_flags INTERFACE)
target_compile_options(stoker_test_flags INTERFACE $<$<CONFIG:Release>:-O1>)

# Precompiled headers: one for plain folders, one for their tests, one for programs, one for all that sees torch. Each is made once, by a
# library of its own that holds nothing else, and reused.
set(STOKER_PLAIN_HEADERS <algorithm> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span> <string>
  <string_view> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(STOKER_PRECOMPILED_plain ${STOKER_PLAIN_HEADERS})
set(STOKER_PRECOMPILED_tests ${STOKER_PLAIN_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
# Not the whole of torch/torch.h: its 724 MB take longer to load than what most files here use takes to compile.
set(STOKER_PRECOMPILED_programs ${STOKER_PLAIN_HEADERS} <CLI/CLI.hpp>)
set(STOKER_PRECOMPILED_torch ${STOKER_PLAIN_HEADERS} <torch/nn/module.h>)
set(STOKER_PRECOMPILED_LIBRARIES_plain fmt::fmt nlohmann_json::nlohmann_json)
set(STOKER_PRECOMPILED_LIBRARIES_tests ${STOKER_PRECOMPILED_LIBRARIES_plain} GTest::gmock)
set(STOKER_PRECOMPILED_LIBRARIES_programs ${STOKER_PRECOMPILED_LIBRARIES_plain} CLI11::CLI11)
set(STOKER_PRECOMPILED_LIBRARIES_torch ${STOKER_PRECOMPILED_LIBRARIES_plain} stoker_torch)

function(stoker_precompile TARGET KIND)
  set(library stoker_pch_${KIND})
  if(NOT TARGET ${library})
    # Not file(WRITE): a file that is as it was keeps its time, and is not compiled again.
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/pch_${KIND}.cc CONTENT "")
    add_library(${library} OBJECT ${CMAKE_BINARY_DIR}/generated/pch_${KIND}.cc)
    target_link_libraries(${library} PRIVATE stoker_flags stoker_own_flags ${STOKER_PRECOMPILED_LIBRARIES_${KIND}})
    target_precompile_headers(${library} PRIVATE ${STOKER_PRECOMPILED_${KIND}})
  endif()
  target_precompile_headers(${TARGET} REUSE_FROM ${library})
endfunction()

if(STOKER_TESTS)
  include(GoogleTest)
endif()
