# stoker_folder(NAME [DEPS folder...] [THIRD_PARTY target...] [TORCH] [APART])
#
# One target a folder: stoker_NAME holds every x.cc below stoker/NAME, stoker_NAME_test every x_test.cc,
# stoker_NAME_bench every x_bench.cc; each x_fuzz.cc becomes a fuzzer of its own. TORCH marks the folders
# that may see libtorch; APART those of whose files a program may need some only, since others name what it lacks. In none of
# these targets are x_plugin.cc, x_library.cc (StokerPlugins.cmake) and builtin_kinds.cc (stoker_kinds).
function(stoker_folder NAME)
  cmake_parse_arguments(ARG "TORCH;APART" "" "DEPS;THIRD_PARTY" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/stoker/${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "(_plugin|_library|/builtin_kinds)\\.cc$")
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
  if(NOT ARG_APART)
    stoker_join(stoker_${NAME})
  endif()

  if(STOKER_TESTS AND test_sources)
    add_executable(stoker_${NAME}_test ${test_sources})
    target_link_libraries(stoker_${NAME}_test PRIVATE stoker_${NAME} stoker_own_flags stoker_test_flags)
    if(ARG_TORCH)
      target_sources(stoker_${NAME}_test PRIVATE ${PROJECT_SOURCE_DIR}/cmake/torch_test_main.cc)
      target_link_libraries(stoker_${NAME}_test PRIVATE stoker_stacks_of_a_hang GTest::gmock)
    else()
      target_link_libraries(stoker_${NAME}_test PRIVATE stoker_test_main)
    endif()
    stoker_precompile(stoker_${NAME}_test ${test_pch})
    stoker_join(stoker_${NAME}_test ACROSS_FOLDERS)
    gtest_discover_tests(stoker_${NAME}_test TEST_PREFIX ${NAME}. DISCOVERY_TIMEOUT 120
      PROPERTIES TIMEOUT 1800 LABELS unit)
  endif()
  if(STOKER_TESTS AND bench_sources)
    add_executable(stoker_${NAME}_bench ${bench_sources})
    target_link_libraries(stoker_${NAME}_bench PRIVATE stoker_${NAME} stoker_own_flags benchmark::benchmark_main)
    stoker_precompile(stoker_${NAME}_bench ${pch})
    # Run once in the tests, so that a benchmark cannot rot.
    add_test(NAME ${NAME}.benchmarks_run COMMAND stoker_${NAME}_bench --benchmark_min_time=0.001)
    # Without AVX and on one thread, as in ./dev test portable --whole, those of train/ take half an hour on a busy machine.
    set_tests_properties(${NAME}.benchmarks_run PROPERTIES TIMEOUT 7200 LABELS bench ENVIRONMENT STOKER_BENCH_ONCE=1
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

# stoker_join(TARGET [ACROSS_FOLDERS]) compiles the files of each folder of TARGET together, ten at a time, since most of the
# time that a file takes goes into templates that its neighbours use too: a test of 70 lines takes 5 s, ten of them take 12
# (docs/adr/0035-files-of-a-folder-are-compiled-together.md). So names must differ within a folder, also those of an unnamed
# namespace. ACROSS_FOLDERS is for tests, whose namespaces have the names of their files. Files that Highway compiles once
# for each instruction set stay alone. STOKER_JOIN=OFF compiles each file alone, which is quicker to build again after an edit.
option(STOKER_JOIN "Compile the files of a folder together" ON)
function(stoker_join TARGET)
  if(STOKER_JOIN)
    # When all is known of the sources: some get definitions of their own later on.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL stoker_join_sources ${TARGET} ${ARGN})")
  endif()
endfunction()

function(stoker_join_sources TARGET)
  cmake_parse_arguments(ARG "ACROSS_FOLDERS" "" "" ${ARGN})
  # The outermost project's, where every file that the build makes is (StokerRegistry.cmake).
  set(made ${CMAKE_BINARY_DIR}/generated)
  get_target_property(sources ${TARGET} SOURCES)
  set(alone "")
  set(groups "")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(IS_PREFIX made ${source} generated)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(includes ${source} INCLUDE_DIRECTORIES)
    set(highway "")
    if(NOT generated)
      file(STRINGS ${source} highway LIMIT_COUNT 1 REGEX "hwy/foreach_target.h")
    endif()
    if(generated OR definitions OR includes OR highway)
      list(APPEND alone ${source})
      continue()
    endif()
    # Includes relative to the checkout, so that two checkouts share what ccache keeps.
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    set(group all)
    if(NOT ARG_ACROSS_FOLDERS)
      cmake_path(GET path PARENT_PATH group)
      string(MAKE_C_IDENTIFIER "${group}" group)
    endif()
    if(NOT group IN_LIST groups)
      list(APPEND groups ${group})
      set(count_${group} 0)
    endif()
    math(EXPR number "${count_${group}} / 10")
    math(EXPR count_${group} "${count_${group}} + 1")
    string(APPEND text_${group}_${number} "#include \"${path}\"\n")
  endforeach()
  set(joined "")
  foreach(group ${groups})
    math(EXPR last "(${count_${group}} - 1) / 10")
    foreach(number RANGE ${last})
      set(file ${made}/joined/${TARGET}/${group}_${number}.cc)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}_${number}}" @ONLY)
      list(APPEND joined ${file})
    endforeach()
  endforeach()
  set_target_properties(${TARGET} PROPERTIES SOURCES "${alone};${joined}")
  # A class that only one file defines may have members of that file's own types. Where GCC 12 can inline more, it takes some
  # copies within a string for overruns (GCC's bug 105651).
  target_compile_options(${TARGET} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage -Wno-array-bounds -Wno-stringop-overflow>)
endfunction()

# Precompiled headers, named without the path of the checkout (ccache): one for plain folders, one for their tests, one for
# all that sees torch. Each is made once, by a library of its own that holds nothing else, and reused. CLI11 is not among them: what
# its header instantiates takes each file 6 s again, also those that do not use it.
set(STOKER_PLAIN_HEADERS <algorithm> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span> <string>
  <string_view> <vector> <fmt/format.h> <cmake/json_without_literals.h>)
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
  add_library(stoker_stacks_of_a_hang STATIC ${PROJECT_SOURCE_DIR}/cmake/stacks_of_a_hang.cc)
  add_library(stoker_test_main STATIC ${PROJECT_SOURCE_DIR}/cmake/test_main.cc)
  foreach(library stoker_stacks_of_a_hang stoker_test_main)
    target_link_libraries(${library} PRIVATE stoker_flags stoker_own_flags)
  endforeach()
  target_link_libraries(stoker_test_main PUBLIC stoker_stacks_of_a_hang GTest::gmock)
endif()
