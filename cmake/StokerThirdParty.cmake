# The packages that this build uses: those of the libraries (StokerDependencies.cmake says how each is found), those of the tests, and torch.
stoker_find_dependencies(problem)
if(problem)
  message(FATAL_ERROR "stoker: ${problem}; `./dev setup` installs what Stoker needs")
endif()
# Headers alone, and only the sources of http/ include them, so programs that use our libraries need none.
find_path(STOKER_BEAST_INCLUDE boost/beast/version.hpp)
if(NOT STOKER_BEAST_INCLUDE)
  message(FATAL_ERROR "stoker: this package is missing: boost (its headers); `./dev setup` installs what Stoker needs")
endif()
if(STOKER_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  # Writes the files that the tests of our own HDF5 reader read. It is linked by its name, as others are in StokerDependencies.cmake.
  find_library(STOKER_HDF5_LIBRARY hdf5_serial REQUIRED)
endif()

if(STOKER_TRAIN_PACKAGE AND NOT STOKER_TORCH_DIR)
  # That of the interpreter which builds the package.
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import importlib.util; print(*importlib.util.find_spec('torch').submodule_search_locations)"
    OUTPUT_VARIABLE STOKER_TORCH_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(STOKER_TRAIN)
  stoker_torch_version("${STOKER_TORCH_DIR}" STOKER_TORCH_VERSION)
  if(NOT STOKER_TORCH_VERSION)
    message(FATAL_ERROR "STOKER_TORCH_DIR='${STOKER_TORCH_DIR}' holds no torch headers. "
      "Use ./dev build, which finds or installs torch, or configure with -DSTOKER_TRAIN=OFF.")
  elseif(STOKER_TORCH_VERSION STREQUAL unknown)
    # A plug-in and the program that loads it must have the same, so it must be known.
    message(FATAL_ERROR "STOKER_TORCH_DIR='${STOKER_TORCH_DIR}': no version.h of its headers defines TORCH_VERSION. "
      "Use a torch whose version is known.")
  endif()
  add_library(stoker_torch INTERFACE)
  stoker_use_torch(stoker_torch ${STOKER_TORCH_DIR})
endif()
