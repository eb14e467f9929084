# cmake -DFROM=file -DNAME=variable -DTO=file.cc -P embed_file.cmake: what StokerEmbed.cmake runs.
file(READ ${FROM} text)
string(FIND "${text}" ")stoker_text\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${FROM}: holds )stoker_text\", which ends the literal that it becomes")
endif()
file(WRITE ${TO} "#include <string_view>\n\nnamespace stoker {\n\nextern const std::string_view ${NAME};\n"
  "const std::string_view ${NAME} = R\"stoker_text(${text})stoker_text\";\n\n}  // namespace stoker\n")
