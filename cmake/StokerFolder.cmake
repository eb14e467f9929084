# stoker_folder(NAME [DEPS folder...] [THIRD_PARTY target...] [TORCH])
#
# One target a folder: stoker_NAME holds every x.cc below stoker/NAME, stoker_NAME_test every x_test.cc,
# stoker_NAME_bench every x_bench.cc; each x_fuzz.cc becomes a fuzzer of its own. TORCH marks the folders
# that may see libtorch.
function(stoker_folder NAME)
  cmake_parse_arguments(ARG "TORCH" "" "DEPS;THIRD_PARTY" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/stoker/${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  foreach(kind test bench fuzz)
    set(${kind}_sources ${sources})
    list(FILTER ${kind}_sources INCLUDE REGEX "_${kind}\\.cc$")
    list(FILTER sources EXCLUDE REGEX "_${kind}\\.cc$")
  endforeach()

  if(NOT sources)
    add_library(stoker_${NAME} INTERFACE)
    return()
  endif()
  add_library(stoker_${NAME} STATIC ${sources})
  list(TRANSFORM ARG_DEPS PREPEND stoker_)
  target_link_libraries(stoker_${NAME} PUBLIC stoker_flags ${ARG_DEPS} ${ARG_THIRD_PARTY})
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
    target_link_libraries(stoker_${NAME}_test PRIVATE stoker_${NAME} GTest::gmock GTest::gtest_main)
    stoker_precompile(stoker_${NAME}_test ${test_pch})
    gtest_discover_tests(stoker_${NAME}_test TEST_PREFIX ${NAME}. DISCOVERY_TIMEOUT 120
      PROPERTIES TIMEOUT 600 LABELS unit)
  endif()
  if(STOKER_TESTS AND bench_sources)
    add_executable(stoker_${NAME}_bench ${bench_sources})
    target_link_libraries(stoker_${NAME}_bench PRIVATE stoker_${NAME} benchmark::benchmark_main)
    stoker_precompile(stoker_${NAME}_bench ${pch})
    # Run once in the tests, so that a benchmark cannot rot.
    add_test(NAME ${NAME}.benchmarks_run COMMAND stoker_${NAME}_bench --benchmark_min_time=0.001)
    set_tests_properties(${NAME}.benchmarks_run PROPERTIES TIMEOUT 600 LABELS bench
      FAIL_REGULAR_EXPRESSION "ERROR OCCURRED")
  endif()
  if(STOKER_FUZZ)
    foreach(fuzz_source ${fuzz_sources})
      get_filename_component(fuzzer ${fuzz_source} NAME_WE)
      add_executable(${fuzzer} ${fuzz_source})
      target_link_libraries(${fuzzer} PRIVATE stoker_${NAME})
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# Precompiled headers: one for plain folders, one for their tests, one for all that sees torch. Each is made once, by a
# library of its own that holds nothing else, and reused.
set(STOKER_PLAIN_HEADERS <algorithm> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span> <string>
  <string_view> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(STOKER_PRECOMPILED_plain ${STOKER_PLAIN_HEADERS})
set(STOKER_PRECOMPILED_tests ${STOKER_PLAIN_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
# Not the whole of torch/torch.h: its 724 MB take longer to load than what most files here use takes to compile.
set(STOKER_PRECOMPILED_torch ${STOKER_PLAIN_HEADERS} <torch/nn/module.h>)
set(STOKER_PRECOMPILED_LIBRARIES_plain fmt::fmt nlohmann_json::nlohmann_json)
set(STOKER_PRECOMPILED_LIBRARIES_tests ${STOKER_PRECOMPILED_LIBRARIES_plain} GTest::gmock)
set(STOKER_PRECOMPILED_LIBRARIES_torch ${STOKER_PRECOMPILED_LIBRARIES_plain} stoker_torch)

function(stoker_precompile TARGET KIND)
  set(library stoker_pch_${KIND})
  if(NOT TARGET ${library})
    file(WRITE ${CMAKE_BINARY_DIR}/generated/pch_${KIND}.cc "")
    add_library(${library} OBJECT ${CMAKE_BINARY_DIR}/generated/pch_${KIND}.cc)
    target_link_libraries(${library} PRIVATE stoker_flags ${STOKER_PRECOMPILED_LIBRARIES_${KIND}})
    target_precompile_headers(${library} PRIVATE ${STOKER_PRECOMPILED_${KIND}})
  endif()
  target_precompile_headers(${TARGET} REUSE_FROM ${library})
endfunction()

if(STOKER_TESTS)
  include(GoogleTest)
endif()
