# Fails where README does not contain PROGRAM, word for word.
file(READ ${README} readme)
file(READ ${PROGRAM} program)
string(FIND "${readme}" "${program}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "README.md does not show ${PROGRAM} as it is; copy it in again")
endif()
