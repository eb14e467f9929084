# stoker_plugin_tag(SOURCES file... HEADERS glob...)
#
# Defines STOKER_PLUGIN_TAG in the sources, some of a program and some of its plug-in: what both were built from, which
# stoker/base/plugin.h compares before the plug-in is used. It changes with Stoker's version, the compiler, the kind of build and
# the headers that program and plug-in share, so no number has to be raised by hand. A header that changes has CMake run again.
function(stoker_plugin_tag)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS" ${ARGN})
  file(GLOB headers CONFIGURE_DEPENDS ${ARG_HEADERS})
  set(hashes "")
  foreach(header ${headers})
    file(SHA256 ${header} hash)
    string(APPEND hashes ${hash})
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 12 hash)
  set(kind ${CMAKE_BUILD_TYPE})
  if(STOKER_SANITIZE)
    string(APPEND kind " ${STOKER_SANITIZE}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set_property(SOURCE ${ARG_SOURCES} APPEND PROPERTY COMPILE_DEFINITIONS
    STOKER_PLUGIN_TAG="stoker ${PROJECT_VERSION}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${kind}, headers ${hash}")
endfunction()

# stoker_header_hash(TARGET t SOURCE file)
#
# Makes stoker/base/header_hash.gen.h, which SOURCE of TARGET includes: the hash of the public headers, by which a plug-in of a
# user is refused that was compiled with others. STOKER_GENERATED_INCLUDE is the folder to be searched for it. It is made while
# building, so that a header that changes does not have CMake run again; STOKER_PUBLIC_HEADERS is a file that lists the headers.
set(STOKER_GENERATED_INCLUDE ${CMAKE_BINARY_DIR}/generated/include)
set(STOKER_PUBLIC_HEADERS ${CMAKE_BINARY_DIR}/generated/public_headers.txt)
function(stoker_header_hash)
  cmake_parse_arguments(ARG "" "TARGET;SOURCE" "" ${ARGN})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/stoker/*.h)
  set(torch none)
  if(STOKER_TRAIN)
    set(torch ${STOKER_TORCH_VERSION})
  endif()
  set(made ${STOKER_GENERATED_INCLUDE}/stoker/base/header_hash.gen.h)
  set(script ${PROJECT_SOURCE_DIR}/cmake/hash_headers.cmake)
  add_custom_command(OUTPUT ${made} BYPRODUCTS ${STOKER_PUBLIC_HEADERS}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DTORCH=${torch} -DLIST=${STOKER_PUBLIC_HEADERS} -DTO=${made} -P ${script}
    DEPENDS ${headers} ${script} COMMENT "Hashing the public headers" VERBATIM)
  add_custom_target(stoker_header_hash DEPENDS ${made}) # for what is compiled with it: plug-ins
  add_dependencies(${ARG_TARGET} stoker_header_hash)
  set_source_files_properties(${ARG_SOURCE} PROPERTIES INCLUDE_DIRECTORIES ${STOKER_GENERATED_INCLUDE})
endfunction()

# The target that plug-ins of users link (stoker_compiles_plugins in StokerPrograms.cmake).
function(stoker_add_plugin_target)
  add_library(stoker_plugin INTERFACE)
  add_dependencies(stoker_plugin stoker_header_hash)
  target_include_directories(stoker_plugin INTERFACE ${STOKER_GENERATED_INCLUDE})
  target_link_libraries(stoker_plugin INTERFACE stoker_flags)
  if(STOKER_TRAIN)
    stoker_compiles_plugins(stoker_plugin TORCH stoker_torch VERSION ${STOKER_TORCH_VERSION})
  else()
    stoker_compiles_plugins(stoker_plugin)
  endif()
endfunction()

# stoker_cuda_plugin(NAME target SOURCE file)
#
# NAME.so beside the programs: what has no device-generic interface, for CUDA. It is built where CUDA's headers are (of the
# packages nvidia-cuda-runtime and nvidia-cuda-crt beside torch, or of a toolkit) and torch is one for CUDA, and loaded when
# asked for. CUDA's symbols are left open: the process has loaded libtorch_cuda.so by then, and a machine without a device
# still links.
function(stoker_cuda_plugin)
  cmake_parse_arguments(ARG "" "NAME;SOURCE" "" ${ARGN})
  # The headers of the runtime need those in crt, which come with another package.
  find_path(STOKER_CUDA_INCLUDE crt/host_config.h NO_DEFAULT_PATH
    PATHS ${STOKER_TORCH_DIR}/../nvidia/cu13/include ${STOKER_TORCH_DIR}/../nvidia/cuda_runtime/include
      $ENV{CUDA_HOME}/include /usr/local/cuda/include
    DOC "Where CUDA's headers are; without them its plug-ins are not built")
  if(NOT STOKER_CUDA_INCLUDE OR NOT EXISTS ${STOKER_TORCH_DIR}/lib/libtorch_cuda.so)
    message(STATUS "${ARG_NAME}.so is not built: no CUDA headers, or a torch without CUDA")
    return()
  endif()
  add_library(${ARG_NAME} MODULE ${ARG_SOURCE})
  set_target_properties(${ARG_NAME} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  target_include_directories(${ARG_NAME} SYSTEM PRIVATE
    $<TARGET_PROPERTY:stoker_torch,INTERFACE_INCLUDE_DIRECTORIES> ${STOKER_CUDA_INCLUDE})
  target_link_libraries(${ARG_NAME} PRIVATE stoker_flags stoker_own_flags fmt::fmt)
  # A build of some targets alone can be installed too.
  install(TARGETS ${ARG_NAME} LIBRARY DESTINATION libexec/stoker OPTIONAL)
endfunction()

# stoker_injected_library(NAME target SOURCE file)
#
# NAME.so beside the programs: what CUDA's driver loads into a program that is not ours. It brings its own copy of the C++ library, hidden,
# since that program may have an older one or none; no sanitizer, which would have to be there first.
function(stoker_injected_library)
  cmake_parse_arguments(ARG "" "NAME;SOURCE" "" ${ARGN})
  add_library(${ARG_NAME} MODULE ${ARG_SOURCE})
  set_target_properties(${ARG_NAME} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(${ARG_NAME} PRIVATE cxx_std_20)
  target_compile_options(${ARG_NAME} PRIVATE -O2 -fno-exceptions -Wall -Wextra)
  target_link_options(${ARG_NAME} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
  target_link_libraries(${ARG_NAME} PRIVATE ${CMAKE_DL_LIBS})
  install(TARGETS ${ARG_NAME} LIBRARY DESTINATION libexec/stoker OPTIONAL)
endfunction()

# stoker_arrow_plugin(SOURCES name... TESTING name...)     name: stoker/formats/arrow/NAME_plugin.cc
#
# libstoker_arrow.so beside the programs: what reads Parquet and Arrow files, by the libraries and headers of PyPI's pyarrow,
# which `./dev setup` puts into .deps. The test plug-in libstoker_arrow_testing.so, which writes such files, likewise. Both have
# their own copies of what they use of stoker/base, since a static library need not be made for shared ones.
function(stoker_arrow_plugin)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTING" ${ARGN})
  stoker_plugin_tag(SOURCES stoker/formats/arrow/table_file.cc stoker/formats/arrow/table_plugin.cc
    HEADERS stoker/base/*.h stoker/formats/arrow/*.h)
  file(GLOB wheels ${PROJECT_SOURCE_DIR}/.deps/pyarrow-*/pyarrow)
  if(wheels)
    list(GET wheels -1 wheels)
  endif()
  set(STOKER_ARROW_DIR "${wheels}" CACHE PATH "A pyarrow package, with include/ and libarrow.so; without it there is no plug-in for Parquet and Arrow")
  file(GLOB libarrow ${STOKER_ARROW_DIR}/libarrow.so.*)
  file(GLOB libparquet ${STOKER_ARROW_DIR}/libparquet.so.*)
  if(NOT libarrow OR NOT libparquet OR NOT EXISTS ${STOKER_ARROW_DIR}/include/parquet/arrow/reader.h)
    message(STATUS "libstoker_arrow.so is not built: STOKER_ARROW_DIR='${STOKER_ARROW_DIR}' holds no pyarrow")
    return()
  endif()
  get_filename_component(library ${libarrow} NAME)
  set_property(SOURCE stoker/formats/arrow/table_file.cc APPEND PROPERTY COMPILE_DEFINITIONS STOKER_ARROW_LIBRARY="${library}")
  set(shared dtype printable problems shape short_text status utf8)
  list(TRANSFORM shared REPLACE "(.+)" "stoker/base/\\1.cc")
  set(plugins stoker_arrow)
  if(STOKER_TESTS)
    list(APPEND plugins stoker_arrow_testing)
  endif()
  foreach(plugin ${plugins})
    set(sources ${ARG_SOURCES})
    if(plugin STREQUAL stoker_arrow_testing)
      set(sources ${ARG_TESTING})
    endif()
    list(TRANSFORM sources REPLACE "(.+)" "stoker/formats/arrow/\\1_plugin.cc")
    add_library(${plugin} MODULE ${sources} ${shared})
    set_target_properties(${plugin} PROPERTIES PREFIX lib LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
      CXX_VISIBILITY_PRESET hidden INSTALL_RPATH ${STOKER_ARROW_DIR})
    # What uses formats finds the plug-in beside it.
    add_dependencies(stoker_formats ${plugin})
    target_include_directories(${plugin} SYSTEM PRIVATE ${STOKER_ARROW_DIR}/include)
    target_link_libraries(${plugin} PRIVATE stoker_flags stoker_own_flags fmt::fmt ${libarrow} ${libparquet})
    # What is missing is an error here and not where it is loaded; sanitizers leave theirs to the program.
    if(NOT STOKER_SANITIZE)
      target_link_options(${plugin} PRIVATE -Wl,-z,defs)
    endif()
  endforeach()
  install(TARGETS stoker_arrow LIBRARY DESTINATION libexec/stoker OPTIONAL)
endfunction()
