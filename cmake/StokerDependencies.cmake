# Third-party packages. All but torch come from Debian; `./dev setup` installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(libcrypto REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(spng REQUIRED IMPORTED_TARGET spng)
pkg_check_modules(libjpeg REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(libwebp REQUIRED IMPORTED_TARGET libwebp)
# These are linked by their names: the flags that their packages ask for would keep the precompiled header from
# being used, and SentencePiece's name its trainer too, which only a test needs.
pkg_check_modules(lzma REQUIRED liblzma)
find_library(STOKER_BZIP2_LIBRARY bz2 REQUIRED) # has no file for pkg-config
pkg_check_modules(re2 REQUIRED re2)
pkg_check_modules(lmdb REQUIRED lmdb)
pkg_check_modules(utf8proc REQUIRED libutf8proc)
pkg_check_modules(sentencepiece REQUIRED sentencepiece)
pkg_check_modules(libhwy REQUIRED IMPORTED_TARGET libhwy)
add_library(hwy::hwy ALIAS PkgConfig::libhwy)
if(STOKER_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  # Writes the files that the tests of our own HDF5 reader read; by its name, as above.
  find_library(STOKER_HDF5_LIBRARY hdf5_serial REQUIRED)
endif()

# torch: the PyPI wheel or a libtorch directory. Its own CMake package asks for a CUDA toolkit, so
# the two libraries that are needed are named here.
if(STOKER_TRAIN)
  if(NOT EXISTS ${STOKER_TORCH_DIR}/include/torch/csrc/api/include/torch/torch.h)
    message(FATAL_ERROR "STOKER_TORCH_DIR='${STOKER_TORCH_DIR}' holds no torch headers. "
      "Use ./dev build, which finds or installs torch, or configure with -DSTOKER_TRAIN=OFF.")
  endif()
  set(STOKER_TORCH_VERSION unknown)
  foreach(folder torch/headeronly torch/csrc/api/include/torch)
    if(EXISTS ${STOKER_TORCH_DIR}/include/${folder}/version.h)
      file(READ ${STOKER_TORCH_DIR}/include/${folder}/version.h text)
      if(text MATCHES "define TORCH_VERSION[^_\"]*\"([^\"]*)\"")
        set(STOKER_TORCH_VERSION ${CMAKE_MATCH_1})
      endif()
    endif()
  endforeach()
  # The wheel brings the headers of another fmt; those of the library that is linked must be found first.
  get_target_property(fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/before_torch)
  file(CREATE_LINK ${fmt_headers}/fmt ${CMAKE_BINARY_DIR}/before_torch/fmt SYMBOLIC)
  add_library(stoker_torch INTERFACE)
  target_include_directories(stoker_torch SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/before_torch
    ${STOKER_TORCH_DIR}/include ${STOKER_TORCH_DIR}/include/torch/csrc/api/include)
  # Some of its classes have members more without NDEBUG, and the library is built with it.
  target_compile_definitions(stoker_torch INTERFACE $<$<NOT:$<CONFIG:Release>>:NDEBUG>)
  target_link_libraries(stoker_torch INTERFACE ${STOKER_TORCH_DIR}/lib/libtorch_cpu.so ${STOKER_TORCH_DIR}/lib/libc10.so)
  # The wheel's libraries find their CUDA runtime beside them through their own run path; the linker must
  # be told (rpath-link) that it need not resolve those.
  target_link_options(stoker_torch INTERFACE
    -Wl,-rpath,${STOKER_TORCH_DIR}/lib -Wl,--disable-new-dtags -Wl,--unresolved-symbols=ignore-in-shared-libs)
endif()
