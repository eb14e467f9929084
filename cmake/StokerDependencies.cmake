# Third-party packages. All but torch come from Debian; `./dev setup` installs them. This file is installed too: the package file
# that `find_package(stoker)` reads calls the same functions. A function keeps its variables from the caller of find_package, and
# each may be called again in the same project.

# stoker_find_dependencies(variable): makes the targets that Stoker's libraries link, and sets `variable` to a sentence that names
# all packages that are missing; to an empty text where none is.
function(stoker_find_dependencies PROBLEM)
  set(missing "")
  foreach(package Threads fmt yaml-cpp nlohmann_json CLI11 PkgConfig)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      list(APPEND missing ${package})
    endif()
  endforeach()
  if(PkgConfig_FOUND)
    foreach(package libisal zlib libzstd libcurl libcrypto spng libjpeg libwebp libhwy)
      pkg_check_modules(${package} QUIET IMPORTED_TARGET ${package})
      if(NOT TARGET PkgConfig::${package})
        list(APPEND missing ${package})
      endif()
    endforeach()
    # These are linked by their names: the flags that their packages ask for would keep the precompiled header from
    # being used, and SentencePiece's name its trainer too, which only a test needs.
    foreach(package liblzma re2 lmdb libutf8proc sentencepiece)
      pkg_check_modules(${package} QUIET ${package})
      if(NOT ${package}_FOUND)
        list(APPEND missing ${package})
      endif()
    endforeach()
  endif()
  find_library(STOKER_BZIP2_LIBRARY bz2) # has no file for pkg-config
  if(NOT STOKER_BZIP2_LIBRARY)
    list(APPEND missing libbz2)
  endif()
  if(TARGET PkgConfig::libhwy AND NOT TARGET hwy::hwy)
    add_library(hwy::hwy ALIAS PkgConfig::libhwy)
  endif()
  set(${PROBLEM} "" PARENT_SCOPE)
  if(missing)
    list(JOIN missing ", " missing)
    set(${PROBLEM} "these packages are missing: ${missing}" PARENT_SCOPE)
  endif()
endfunction()

# stoker_torch_version(FOLDER variable): the version of the torch package or libtorch directory FOLDER; empty where it holds no
# headers of torch, `unknown` where none of them tells.
function(stoker_torch_version FOLDER VERSION)
  set(${VERSION} "" PARENT_SCOPE)
  if(NOT EXISTS "${FOLDER}/include/torch/csrc/api/include/torch/torch.h")
    return()
  endif()
  set(${VERSION} unknown PARENT_SCOPE)
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS "${FOLDER}/include/${header}")
      file(READ "${FOLDER}/include/${header}" text)
      if(text MATCHES "define TORCH_VERSION[^_\"]*\"([^\"]*)\"")
        set(${VERSION} ${CMAKE_MATCH_1} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# stoker_use_torch(TARGET FOLDER): who links TARGET, an interface library, is compiled and linked with the torch in FOLDER: the
# PyPI wheel or a libtorch directory. Its own CMake package asks for a CUDA toolkit, so the two libraries that are needed are named here.
function(stoker_use_torch TARGET FOLDER)
  # The wheel brings the headers of another fmt; those of the library that is linked must be found first.
  get_target_property(fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  set(before_torch ${CMAKE_BINARY_DIR}/before_torch)
  file(MAKE_DIRECTORY ${before_torch})
  file(CREATE_LINK ${fmt_headers}/fmt ${before_torch}/fmt SYMBOLIC)
  target_include_directories(${TARGET} SYSTEM INTERFACE ${before_torch} ${FOLDER}/include ${FOLDER}/include/torch/csrc/api/include)
  # Some of its classes have members more without NDEBUG, and the library is built with it.
  target_compile_definitions(${TARGET} INTERFACE $<$<NOT:$<CONFIG:Release>>:NDEBUG>)
  target_link_libraries(${TARGET} INTERFACE ${FOLDER}/lib/libtorch_cpu.so ${FOLDER}/lib/libc10.so)
  # The wheel's libraries find their CUDA runtime beside them through their own run path; the linker must
  # be told (rpath-link) that it need not resolve those.
  target_link_options(${TARGET} INTERFACE
    -Wl,-rpath,${FOLDER}/lib -Wl,--disable-new-dtags -Wl,--unresolved-symbols=ignore-in-shared-libs)
endfunction()
