# stoker_use_gloo(TARGET): TARGET may include stoker/cluster/gloo_internal.h. The PyTorch package has no headers of Gloo, so empty ones
# stand in their place.
foreach(header algorithm common/error config context rendezvous/store transport/device)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/gloo_headers/gloo/${header}.h CONTENT "#pragma once\n")
endforeach()

function(stoker_use_gloo TARGET)
  target_include_directories(${TARGET} SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/generated/gloo_headers)
endfunction()
