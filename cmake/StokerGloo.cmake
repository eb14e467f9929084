# stoker_use_gloo(TARGET): TARGET may include stoker/cluster/gloo_internal.h. The PyTorch package has no headers of Gloo, so empty ones
# stand in their place.
function(stoker_use_gloo TARGET)
  set(folder ${CMAKE_BINARY_DIR}/generated/gloo_headers)
  foreach(header algorithm common/error config context rendezvous/store transport/device)
    file(GENERATE OUTPUT ${folder}/gloo/${header}.h CONTENT "#pragma once\n")
  endforeach()
  target_include_directories(${TARGET} SYSTEM PRIVATE ${folder})
endfunction()
