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
