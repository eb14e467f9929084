# stoker_embed(TARGET target FILE file NAME variable)
#
# Puts the text FILE of the source tree into TARGET, as `extern const std::string_view NAME` of the namespace stoker. The text must not
# hold `)stoker_text"`. It is made while building, so that an edit of the file has it made again.
function(stoker_embed)
  cmake_parse_arguments(ARG "" "TARGET;FILE;NAME" "" ${ARGN})
  cmake_path(ABSOLUTE_PATH ARG_FILE)
  set(made ${CMAKE_BINARY_DIR}/generated/embedded/${ARG_NAME}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake)
  add_custom_command(OUTPUT ${made} COMMAND ${CMAKE_COMMAND} -DFROM=${ARG_FILE} -DNAME=${ARG_NAME} -DTO=${made} -P ${script}
    DEPENDS ${ARG_FILE} ${script} COMMENT "Embedding ${ARG_NAME}" VERBATIM)
  target_sources(${ARG_TARGET} PRIVATE ${made})
endfunction()
