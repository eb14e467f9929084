# stoker_install_libraries()
#
# What `find_package(stoker)` of another project finds after `cmake --install`: the public headers, the archives, and a package file
# that makes imported targets of them. Users link stoker::data (pipelines, no torch), stoker::train (the trainer), stoker::commands (all
# commands, for a program with kinds of its own) or stoker::plugin (a plug-in). The other targets are what these consist of. Their
# dependencies are those of the targets here, found by the same StokerDependencies.cmake.
function(stoker_install_libraries)
  stoker_public_headers(OUT headers)
  foreach(header ${headers})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION include/${folder})
  endforeach()
  install(FILES ${STOKER_GENERATED_INCLUDE}/stoker/base/header_hash.gen.h DESTINATION include/stoker/base OPTIONAL)

  set(libraries base io formats image data)
  if(STOKER_TRAIN)
    # A linker takes objects out of an archive that are named by others, wherever the archive stands among them.
    add_library(stoker_kinds_archive STATIC $<TARGET_OBJECTS:stoker_kinds>)
    set_target_properties(stoker_kinds_archive PROPERTIES OUTPUT_NAME stoker_kinds LINKER_LANGUAGE CXX)
    list(APPEND libraries run device train)
    if(TARGET stoker_commands)
      list(APPEND libraries tools commands)
    endif()
  endif()
  set(targets "")
  foreach(library ${libraries})
    get_target_property(links stoker_${library} INTERFACE_LINK_LIBRARIES)
    list(FILTER links EXCLUDE REGEX "stoker_own_flags")
    list(TRANSFORM links REPLACE "^.*TARGET_OBJECTS:stoker_kinds.*$" "stoker::kinds")
    list(TRANSFORM links REPLACE "^stoker_([a-z]+)$" "stoker::\\1")
    list(TRANSFORM links REPLACE "^stoker::torch$" "stoker_torch")
    if(library STREQUAL "run")
      list(APPEND links stoker::kinds) # run names kinds that train defines
    endif()
    stoker_imported_target(${library} "${links}" text)
    string(APPEND targets "${text}")
    install(FILES $<TARGET_FILE:stoker_${library}> DESTINATION lib/stoker OPTIONAL)
  endforeach()
  if(STOKER_TRAIN)
    stoker_imported_target(kinds "stoker::flags;stoker::train;stoker::run" text)
    string(APPEND targets "${text}")
    install(FILES $<TARGET_FILE:stoker_kinds_archive> DESTINATION lib/stoker OPTIONAL)
  endif()

  set(STOKER_IMPORTED_TARGETS "${targets}")
  include(CMakePackageConfigHelpers)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stoker-config.cmake.in ${CMAKE_BINARY_DIR}/generated/stoker-config.cmake
    INSTALL_DESTINATION lib/cmake/stoker)
  # A minor version may change classes.
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/stoker-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/generated/stoker-config.cmake ${CMAKE_BINARY_DIR}/generated/stoker-config-version.cmake
    ${PROJECT_SOURCE_DIR}/cmake/StokerDependencies.cmake DESTINATION lib/cmake/stoker)
endfunction()

# The lines of the package file that make stoker::NAME of its archive.
function(stoker_imported_target NAME LINKS OUT)
  set(${OUT} "add_library(stoker::${NAME} STATIC IMPORTED)
set_target_properties(stoker::${NAME} PROPERTIES IMPORTED_LOCATION \"\${PACKAGE_PREFIX_DIR}/lib/stoker/libstoker_${NAME}.a\"
  INTERFACE_LINK_LIBRARIES \"${LINKS}\")
" PARENT_SCOPE)
endfunction()
