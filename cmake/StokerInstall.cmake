# stoker_install_libraries()
#
# What `find_package(stoker)` of another project finds after `cmake --install`: the public headers, the archives, and a package file
# that makes imported targets of them. Users link stoker::data (pipelines, no torch), stoker::train (the trainer), stoker::commands (all
# commands, for a program with kinds of its own) or stoker::plugin (a plug-in). The other targets are what these consist of. Their
# dependencies are those of the targets here, found by the same StokerDependencies.cmake.
function(stoker_install_libraries)
  stoker_install_headers()
  set(STOKER_PLAIN_LIBRARIES base io formats image data trace)
  set(STOKER_TRAIN_LIBRARIES "")
  if(STOKER_TRAIN)
    list(APPEND STOKER_TRAIN_LIBRARIES machine run device cluster train)
    if(TARGET stoker_commands)
      list(APPEND STOKER_TRAIN_LIBRARIES http doctor tools commands)
    endif()
    # They are linked as objects, as here: run names them, and an archive of them would be needed by run and need it.
    get_target_property(STOKER_KINDS_OBJECTS stoker_kinds SOURCES)
    list(TRANSFORM STOKER_KINDS_OBJECTS REPLACE "^.*/([^/]+)$" "\\1${CMAKE_CXX_OUTPUT_EXTENSION}")
    install(FILES $<TARGET_OBJECTS:stoker_kinds> DESTINATION lib/stoker)
  endif()
  set(STOKER_LINKS "")
  foreach(library ${STOKER_PLAIN_LIBRARIES} ${STOKER_TRAIN_LIBRARIES})
    get_target_property(links stoker_${library} INTERFACE_LINK_LIBRARIES)
    list(FILTER links EXCLUDE REGEX "stoker_own_flags")
    list(TRANSFORM links REPLACE "TARGET_OBJECTS:stoker_kinds" "TARGET_OBJECTS:stoker::kinds")
    list(TRANSFORM links REPLACE "^stoker_([a-z]+)$" "stoker::\\1")
    string(APPEND STOKER_LINKS "  set(links_${library} \"${links}\")\n")
    install(FILES $<TARGET_FILE:stoker_${library}> DESTINATION lib/stoker)
  endforeach()

  include(CMakePackageConfigHelpers)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stoker-config.cmake.in ${CMAKE_BINARY_DIR}/generated/stoker-config.cmake
    INSTALL_DESTINATION lib/cmake/stoker NO_SET_AND_CHECK_MACRO)
  # A minor version may change classes.
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/stoker-config-version.cmake COMPATIBILITY SameMinorVersion)
  # To copy from (docs/plugins.md).
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/own_kinds DESTINATION share/stoker/examples)
  install(FILES ${CMAKE_BINARY_DIR}/generated/stoker-config.cmake ${CMAKE_BINARY_DIR}/generated/stoker-config-version.cmake
    ${PROJECT_SOURCE_DIR}/cmake/StokerDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/StokerPrograms.cmake DESTINATION lib/cmake/stoker)
endfunction()

# The headers that are listed when the build has finished, so that the list is that of what was compiled.
function(stoker_install_headers)
  install(CODE "
    file(STRINGS \"${STOKER_PUBLIC_HEADERS}\" headers)
    foreach(header IN LISTS headers)
      cmake_path(GET header PARENT_PATH folder)
      file(INSTALL \"${PROJECT_SOURCE_DIR}/\${header}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/include/\${folder}\")
    endforeach()")
  install(FILES ${STOKER_GENERATED_INCLUDE}/stoker/base/header_hash.gen.h DESTINATION include/stoker/base)
endfunction()
