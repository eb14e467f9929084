# What programs and plug-ins need that use Stoker, in its own build and, installed, in that of others.

# stoker_loads_plugins(TARGET)
#
# Makes TARGET, an executable that links libraries of Stoker, a program that plug-ins of users can be loaded into: it holds all of
# those libraries, also what it does not use itself, and shows their symbols (docs/adr/0032-plug-ins-use-the-programs-own-code.md).
# A program that links stoker::data and no more loads plug-ins with operators.
function(stoker_loads_plugins TARGET)
  set(libraries base io formats image data)
  if(TARGET stoker::train OR TARGET stoker_train)
    list(APPEND libraries run device train) # nobody else defines the kinds that run names
  endif()
  set(whole "")
  foreach(library ${libraries})
    if(TARGET stoker::${library})
      list(APPEND whole stoker::${library})
    elseif(TARGET stoker_${library})
      list(APPEND whole stoker_${library})
    endif()
  endforeach()
  list(JOIN whole "," whole)
  set_target_properties(${TARGET} PROPERTIES ENABLE_EXPORTS ON LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,${whole})
endfunction()

# stoker_compiles_plugins(TARGET [TORCH target VERSION version])
#
# A library that links TARGET, an interface library, is compiled as a plug-in of users: with the headers of what Stoker's headers
# include, and nothing to link, because the program has all code. VERSION is that of TORCH, by which programs judge plug-ins.
function(stoker_compiles_plugins TARGET)
  cmake_parse_arguments(ARG "" "TORCH;VERSION" "" ${ARGN})
  foreach(library ${ARG_TORCH} fmt::fmt nlohmann_json::nlohmann_json) # torch's headers of fmt stand first
    # Read here, since a project that takes Stoker in does not see its imported targets.
    get_target_property(folders ${library} INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(${TARGET} SYSTEM INTERFACE ${folders})
    get_target_property(definitions ${library} INTERFACE_COMPILE_DEFINITIONS)
    if(definitions)
      target_compile_definitions(${TARGET} INTERFACE ${definitions})
    endif()
  endforeach()
  # GCC makes one object of static variables in inline functions and templates for the whole process, also of libraries that see
  # nothing of each other: two plug-ins with a kind `own::Net` each would share one table of its options.
  target_compile_options(${TARGET} INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  if(ARG_TORCH)
    target_compile_definitions(${TARGET} INTERFACE STOKER_PLUGIN_TORCH="${ARG_VERSION}")
  endif()
endfunction()

# stoker_finds_plugins(TARGET)
#
# Makes TARGET, an executable of another project, find the plug-ins of the installed Stoker, which read Parquet and Arrow and speak
# CUDA: programs look for them in the folder they stand in, so links to them are put there. Otherwise STOKER_PLUGINS in the
# environment of the program names the folder, which is ${stoker_PLUGIN_FOLDER} after find_package(stoker).
function(stoker_finds_plugins TARGET)
  file(GLOB plugins ${stoker_PLUGIN_FOLDER}/*.so)
  foreach(plugin ${plugins})
    get_filename_component(name ${plugin} NAME)
    add_custom_command(TARGET ${TARGET} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${plugin} $<TARGET_FILE_DIR:${TARGET}>/${name} VERBATIM)
  endforeach()
endfunction()
